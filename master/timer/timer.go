// Package timer fires timers: it plans their tasks ahead, reads what is due soon into memory, claims it, and calls.
//
// It owns the three levels from rows to memory, the calls, and what is written of them. Rows decide: a task is claimed
// before its call and finished after it, many at a time, each only where it still stands as it was read. So a
// second master that looks at the same slice costs work and no second call; and what a master had claimed when it died
// is called again by another, with the same key, once the claim has run out. What a timer is, dag/timer says.
package timer

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/dag"
	rules "github.com/porpoise/porpoise/dag/timer"
	"github.com/porpoise/porpoise/internal/egress"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/sql"
)

// How often, how much and how long.
const (
	// LoadEvery is how often a master reads what is due soon: a timer that was enabled just now fires late by no more.
	LoadEvery = 500 * time.Millisecond
	// horizon is how far ahead it reads. A database that is away for less delays nothing that has been read.
	horizon = 2 * time.Second
	// PlanEvery is how often a master looks for timers whose plan is to go on, SweepEvery how often old tasks are deleted.
	PlanEvery  = time.Second
	SweepEvery = 10 * time.Second
	// planFor bounds one round of planning; what is left waits for the next.
	planFor = 5 * time.Second
	// sweptTasks is deleted in one round at most: more than 2,000 timers of every second make meanwhile.
	sweptTasks = 25_000
	// maxBatch bounds the tasks of one claim, and of one write of results.
	maxBatch = 512
	// maxHeld bounds the tasks in memory: five seconds of 2,000 a second, twice. While half of it is held nothing is read:
	// each read goes through all that is due, and who is behind must not spend its time on that.
	maxHeld = 20_000
	// awayWait is the pause after the store did not answer.
	awayWait = 300 * time.Millisecond
	// storeWait bounds one use of the store.
	storeWait = 10 * time.Second
	// callGrace is how long calls may go on when the master stops.
	callGrace = 2 * time.Second
	// claimMargin is what a claim lasts beyond the call: the result is to be written within it, and clocks may differ.
	claimMargin = 5 * time.Second
	// alertAfter is how many tasks of a timer fail in a row before somebody should look.
	alertAfter = 3
)

// Store keeps timers and their tasks; see sql.Store.
type Store interface {
	// Clock is the database's, which all masters share.
	Clock(ctx context.Context) (dag.Millis, error)
	PlanTimers(ctx context.Context, owned []bool, now dag.Millis) (sql.Planned, error)
	DueTimerTasks(ctx context.Context, before dag.Millis, yield func(sql.DueTimerTask) bool) error
	MinuteBuckets(ctx context.Context, minute int64) (int, error)
	TimersByID(ctx context.Context, ids []int64) ([]sql.Timer, error)
	ClaimTimerTasks(ctx context.Context, owner string, claims []sql.TimerClaim, now dag.Millis) ([]sql.ClaimedTimer, error)
	FinishTimerTasks(ctx context.Context, owner string, results []sql.TimerResult) (dropped int, failing []sql.FailingTimer, err error)
	SweepTimerTasks(ctx context.Context, now dag.Millis, limit int) (int, error)
}

// Slots says which slots are this master's; see package intake.
type Slots interface {
	Begin() (owned []bool, epoch int64, ok bool)
	End()
}

// Moments hold absolute moments, in milliseconds since 1970; they come back through Ringer.Came, those of the past at once.
type Moments interface {
	Arm(key sql.TimerKey, at int64)
}

// Config is what a Ringer needs; every field is required.
type Config struct {
	// Owner names this master, and this run of it, in the tasks that it claims.
	Owner   string
	Store   Store
	Slots   Slots
	Moments Moments
	Egress  egress.Rule
	Logger  hclog.Logger
	// Now is a clock that nobody sets, until the database agrees with what it was set to.
	Now func() time.Time
}

// Ringer fires timers; see the package. Run drives it together with Plan, Load and Sweep, which whoever owns it calls
// every PlanEvery, LoadEvery and SweepEvery.
type Ringer struct {
	Config
	log    hclog.Logger
	client *http.Client
	calls  sync.WaitGroup

	claims, rings, results signal

	trusted atomic.Bool // the clock agrees with the database's
	clock   sync.Mutex  // guards compared
	// compared is when the clocks were compared last, by ours.
	compared dag.Millis

	mu       sync.Mutex // guards what follows
	held     map[sql.TimerKey]*task
	ready    ready             // tasks whose claim may begin
	moments  []*task           // claimed tasks whose moment has come
	finished []sql.TimerResult // results that are to be written
	specs    map[int64]*spec   // by timer
	buckets  map[int64]int     // by minute
	counts   Counts
}

// task is one that is in memory.
type task struct {
	key     sql.TimerKey
	due     dag.Millis
	slot    int
	spec    *spec // nil where the timer is gone: the claim will say so
	claimed bool
	begun   bool
	tries   int
	failing bool
}

// spec is a timer as its calls need it. It never changes.
type spec struct {
	rules.Spec
	project  int64
	receiver string
}

// signal says that there is something to do. It never blocks.
type signal chan struct{}

func (s signal) give() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// New returns a Ringer.
func New(c Config) *Ringer {
	return &Ringer{
		Config: c, log: c.Logger.Named("timer"), client: client(c.Egress),
		claims: make(signal, 1), rings: make(signal, 1), results: make(signal, 1),
		held: map[sql.TimerKey]*task{}, ready: newReady(), specs: map[int64]*spec{}, buckets: map[int64]int{},
	}
}

// Run claims and calls what comes due until ctx ends. It returns when the calls under way have ended, or were cut off
// after a while, and what came of them is written. What it had claimed and not called is others' then.
func (r *Ringer) Run(ctx context.Context) error {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	calling, cutOff := context.WithCancel(life)
	defer cutOff()
	saving, save := errgroup.WithContext(life)
	saving.Go(guard.Loop(save, r.log, "results", r.save))
	taking, take := errgroup.WithContext(ctx)
	taking.Go(guard.Loop(take, r.log, "claims", r.claim))
	taking.Go(guard.Loop(take, r.log, "calls", func(take context.Context) error { return r.ring(take, calling) }))
	err := taking.Wait()
	grace := time.AfterFunc(callGrace, cutOff)
	r.calls.Wait()
	grace.Stop()
	r.giveBack()
	stop()
	return errors.Join(err, saving.Wait())
}

func (r *Ringer) now() dag.Millis { return dag.MillisOf(r.Now()) }

// Came says that a moment has come: the claim of the task may begin, or, where it is claimed, its call. It does not block.
func (r *Ringer) Came(key sql.TimerKey) {
	r.mu.Lock()
	t := r.held[key]
	switch {
	case t == nil:
	case !t.claimed:
		r.ready.push(t)
		r.claims.give()
	default:
		r.moments = append(r.moments, t)
		r.rings.give()
	}
	r.mu.Unlock()
}
