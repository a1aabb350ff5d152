// Package engine drives the workflow instances of one master: each has an ordered
// mailbox, one goroutine at a time steps it by the rules of dag, every transition is
// committed before anything follows from it, and many instances share one commit. It
// owns the instances in memory and the index of their live attempts. It never decides
// a rule, opens a connection or claims a command; intake and failover admit instances,
// link brings reports, the wheel brings timers, and the dispatcher brings workers.
package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// Store keeps instances. Commit answers each transition with nil, sql.ErrNotOwner
// (another master has the instance: forget it), or sql.ErrUnavailable (nothing of it
// is written: try the same again); any other error is the transition's own fault.
type Store interface {
	Commit(ctx context.Context, transitions []sql.Transition) []error
	// Controls returns the unapplied control rows of an instance in id order.
	Controls(ctx context.Context, instances ...int64) ([]sql.ControlRow, error)
	// ControlsOf returns the unapplied control rows of the owner's instances in id order.
	ControlsOf(ctx context.Context, owner string) ([]sql.ControlRow, error)
	// Quarantine makes an instance of this epoch final because it cannot be processed.
	Quarantine(ctx context.Context, instance, epoch int64, reason dag.Reason, message string) error
	// Instance returns an instance's row, or sql.ErrNotFound.
	Instance(ctx context.Context, id int64) (sql.InstanceRow, error)
	// Load reads those of the instances that the owner owns.
	Load(ctx context.Context, owner string, ids []int64) ([]sql.Claimed, error)
	// Retake is Load with an epoch and a crash count one higher.
	Retake(ctx context.Context, owner string, ids []int64) ([]sql.Claimed, error)
	// Standings returns how the owner's instances above after stand, by id.
	Standings(ctx context.Context, owner string, after int64, limit int) ([]sql.Standing, error)
	// Enter asks for a place for each instance under the limit of its workflow.
	Enter(ctx context.Context, entries []sql.Entry) (answers []sql.Admission, woke bool, err error)
	// EnterGroups asks for places of task groups for ready tasks.
	EnterGroups(ctx context.Context, now dag.Millis, entries []sql.TaskEntry) (sql.Entered, error)
	// PaceGroups lets tasks go that the rates of their groups held back, and returns when to ask again, by group.
	PaceGroups(ctx context.Context, now dag.Millis, groups []int64) (next map[int64]dag.Millis, err error)
	// Given returns the places that were given to tasks of the owner since the last call.
	Given(ctx context.Context, owner string) ([]sql.TaskPlace, error)
	// ExtendAttempts gives running attempts of the owner more time.
	ExtendAttempts(ctx context.Context, owner string, now dag.Millis, keys []sql.AttemptKey) error
	Definitions
	Runs
	Secrets
	Cache
	// Children returns those of the instances that there are, as children of their parents.
	Children(ctx context.Context, ids []int64) ([]sql.ChildRow, error)
	// NextIDs returns the first of n ids that are nobody else's.
	NextIDs(ctx context.Context, n int) (int64, error)
}

// Definitions find what a child instance is to run; each returns sql.ErrNotFound where there is nothing.
type Definitions interface {
	Project(ctx context.Context, name string) (sql.Project, error)
	Workflow(ctx context.Context, projectID int64, name string) (sql.Workflow, error)
	Version(ctx context.Context, workflowID int64, n int) (sql.Version, error)
}

// Work is a ready task that is offered to the dispatcher.
type Work struct {
	Instance         int64
	Task             int
	Group            string
	Labels           dag.Labels // that the worker must have beside its group
	InstancePriority dag.Priority
	TaskPriority     dag.Priority
	ReadyAt          dag.Millis
	AvoidWorker      string // the node that it goes to only where no other may have it; empty for none
	Instant          bool   // it ends as it begins, and takes no slot of its worker
}

// Dispatcher matches ready tasks with asking workers. A task that Offer does not place
// at once comes back later through Engine.Assign.
type Dispatcher interface {
	Offer(work Work) (rpc.Process, bool)
	Withdraw(work Work)
	Refuse(worker rpc.Process, instant bool)
}

// Links carries messages to workers; without a link a message is dropped, and the
// engine sends it again until it is answered. Dispatch uses an ask of the worker, Again none.
type Links interface {
	Dispatch(worker rpc.Process, message *rpc.Dispatch)
	Again(worker rpc.Process, message *rpc.Dispatch)
	Kill(node string, message *rpc.Kill)
}

// Alarms holds absolute moments; they come back through Engine.Fire.
type Alarms interface {
	Arm(key Alarm, at int64)
	Disarm(key Alarm)
}

// Alarm is a timer of an instance.
type Alarm struct {
	Instance int64
	Timer    dag.Timer
}

// Config is what an Engine needs; every field without a default is required.
type Config struct {
	// Owner is written to the rows of the instances driven here: "<node>:<incarnation>".
	Owner      string
	Store      Store
	Dispatcher Dispatcher
	Links      Links
	Alarms     Alarms
	// Keys opens the secrets of tasks; nil is none, and tasks that name one fail.
	Keys Keys
	// Publish is told of each committed change; it must not block.
	Publish func(*rpc.Change)
	// Hint is told of rows that were written for other instances and their masters, this one among them; it
	// must not block. Nil is nobody.
	Hint   func(*rpc.Hint)
	Logger hclog.Logger
	// LostWorker is told of attempts that ended with their worker; nil is nobody. It must not block.
	LostWorker func(LostWorker)
	// Woken is told that commands were written which any master may take; nil is nobody. It must not block.
	Woken func()
	// Sure says whether this master knows itself to be registered: only then may it call the
	// attempts of an absent worker lost. Nil is always.
	Sure func(now time.Time) bool
	// Limit bounds the instances in memory; Room tells what is left. Zero is 10,000.
	Limit int
	// Committers is how many commits may be on their way at once. Zero is one.
	Committers int
	// KillGrace is the time between TERM and KILL of a killed task. Zero is 10 s.
	KillGrace time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Token returns a name for one attempt that nobody can guess; nil is rand.Text.
	Token func() string
}

const (
	defaultLimit     = 10_000
	defaultKillGrace = 10 * time.Second
	// maxMail bounds an instance's mailbox. A report that finds it full is not
	// acknowledged, so its worker sends it again.
	maxMail = 100_000
)

// Engine drives instances; see the package. All methods may be called by any goroutine.
type Engine struct {
	Config
	log   hclog.Logger
	plans *plans
	nodes *nodes

	mu      sync.Mutex // guards what follows
	actors  map[int64]*actor
	evicted map[int64]struct{} // owned, passive, and not in memory
	crashes map[int64]int      // panics over an instance, while this master has it
	leaving bool               // mail is refused
	closed  bool

	runnable   *runQueue
	commits    *commitQueue
	controls   *idQueue
	wakes      *idQueue    // evicted instances that something came for
	retakes    *idQueue    // instances that made the engine panic
	entries    *entryQueue // instances that ask for a place under a limit
	groups     *groupQueue // ready tasks that ask for places of a task group
	children   *children
	dependents *dependents
	openings   *openingQueue // attempts that wait for their secrets
	recalls    *recallQueue  // ready tasks that ask for what is kept
	away       atomic.Bool   // the store did not answer since the last Verify
	written    atomic.Int64  // turns
	refused    atomic.Int64  // turns of instances that another master had taken over
}

// New returns an engine without instances.
func New(c Config) *Engine {
	if c.Limit == 0 {
		c.Limit = defaultLimit
	}
	if c.KillGrace == 0 {
		c.KillGrace = defaultKillGrace
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.LostWorker == nil {
		c.LostWorker = func(LostWorker) {}
	}
	if c.Woken == nil {
		c.Woken = func() {}
	}
	if c.Sure == nil {
		c.Sure = func(time.Time) bool { return true }
	}
	if c.Hint == nil {
		c.Hint = func(*rpc.Hint) {}
	}
	if c.Token == nil {
		c.Token = rand.Text
	}
	return &Engine{
		Config:     c,
		log:        c.Logger.Named("engine"),
		plans:      newPlans(),
		nodes:      newNodes(c.Now),
		actors:     make(map[int64]*actor),
		evicted:    make(map[int64]struct{}),
		crashes:    make(map[int64]int),
		runnable:   newRunQueue(),
		commits:    newCommitQueue(),
		controls:   newIDQueue(),
		wakes:      newIDQueue(),
		retakes:    newIDQueue(),
		entries:    newEntryQueue(),
		groups:     newGroupQueue(),
		children:   newChildren(),
		dependents: newDependents(),
		openings:   newOpeningQueue(),
		recalls:    newRecallQueue(),
	}
}

// Run steps instances until ctx ends. What is then in memory is dropped: the rows hold
// all of it, and the next owner goes on from them. Its goroutines only call StepOne, CommitOnce,
// ControlOnce, ControlAll, WakeOnce, EnterOnce, GroupOnce, AskGroups, Sweep, Evict, ChildrenOnce, PollChildren, DependentsOnce, OpenOnce and
// RecallOnce, which one goroutine may call itself instead of Run, in any order.
func (e *Engine) Run(ctx context.Context) error {
	var group errgroup.Group
	steppers := max(2, runtime.GOMAXPROCS(0))
	for range steppers {
		group.Go(guard.Loop(ctx, e.log, "stepper", e.stepper))
	}
	for range max(1, e.Committers) {
		group.Go(guard.Loop(ctx, e.log, "committer", e.committer))
	}
	for name, loop := range map[string]func(context.Context) error{
		"controller": e.controller, "waker": e.waker, "sweeper": e.sweeper, "enterer": e.enterer, "grouper": e.grouper,
		"children": e.childLoop, "dependents": e.dependentLoop, "opener": e.opener,
		"recaller": e.recaller,
	} {
		group.Go(guard.Loop(ctx, e.log, name, loop))
	}
	<-ctx.Done()
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.runnable.close()
	e.commits.close()
	return group.Wait()
}

// Running returns how many instances are in memory.
func (e *Engine) Running() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.actors)
}

// Held returns how many instances this engine has, in memory or evicted from it.
func (e *Engine) Held() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.actors) + len(e.evicted)
}

// Turns returns how many turns of instances this engine has written, and how many the store refused since another
// master had taken the instance over: what would have been done twice.
func (e *Engine) Turns() (written, refused int64) { return e.written.Load(), e.refused.Load() }

// Room returns how many more instances may be admitted.
func (e *Engine) Room() int { return max(0, e.Limit-e.Running()) }

// Assign brings a worker for a task that had been queued. If the task is not ready any
// more, the dispatcher gets the worker back.
func (e *Engine) Assign(instance int64, task int, worker rpc.Process, instant bool) {
	given := e.post(instance, mail{
		input:    dag.Assign{Task: task, Worker: worker.Node, Incarnation: worker.Incarnation, Token: e.Token()},
		assigned: true, instant: instant,
	})
	if !given {
		e.Dispatcher.Refuse(worker, instant)
	}
}

// Fire brings a timer whose moment has come. That of an evicted instance brings the instance back,
// which then arms and gets it again.
func (e *Engine) Fire(alarm Alarm) {
	_ = failpoint.Hit("timer.fire.before")
	if !e.post(alarm.Instance, mail{input: alarm.Timer}) {
		e.wake(alarm.Instance)
	}
}

// Verdicts on a report or a heartbeat.
const (
	VerdictOK       = "ok"
	VerdictStale    = "stale"
	VerdictNotOwner = "not_owner"
)

// Report brings what a worker says of an attempt. answer is called once the report can
// leave the worker's outbox, or is for another master (with its owner text); it is not called
// at all where the worker had better send it again.
func (e *Engine) Report(ctx context.Context, r *rpc.Report, answer func(verdict, owner string)) {
	id := r.GetAttempt()
	state, err := dag.ParseAttemptState(r.GetState())
	if err != nil {
		e.log.Warn("report with an unknown state dropped", "instance", id.GetInstanceId(), "state", r.GetState())
		answer(VerdictStale, "")
		return
	}
	if state == dag.AttemptRunning && failpoint.Hit("dispatch.reply.before") != nil {
		return // as if it had not come: it will be sent again
	}
	var input dag.Input = dag.Report{
		Task: int(id.GetTask()), Number: int(id.GetNumber()), Token: id.GetToken(), State: state,
		Reason: dag.Reason(r.GetReason()), Message: r.GetMessage(),
		StartedAt: dag.Millis(r.GetStartedAt()), FinishedAt: dag.Millis(r.GetFinishedAt()),
		ExitCode: int(r.GetExitCode()), Outputs: r.GetOutputs(), Tail: r.GetTail(), LogBytes: r.GetLogBytes(),
	}
	if state == dag.AttemptLost { // the worker ended it, because nobody had counted on it for too long
		input = dag.Lost{Task: int(id.GetTask()), Number: int(id.GetNumber()), Token: id.GetToken(), Message: r.GetMessage()}
	}
	e.nodes.confirm(refKey{id.GetInstanceId(), int(id.GetTask()), int(id.GetNumber())}, id.GetToken())
	if e.post(id.GetInstanceId(), mail{input: input, answer: answer}) {
		return
	}
	if e.wake(id.GetInstanceId()) || e.inMemory(id.GetInstanceId()) {
		return // not in memory yet, or its mailbox is full: no answer, it will be sent again
	}
	e.answerForeign(ctx, id.GetInstanceId(), answer)
}

// answerForeign tells a worker whose instance this is: another master's, or nobody's
// any more.
func (e *Engine) answerForeign(ctx context.Context, instance int64, answer func(verdict, owner string)) {
	row, err := e.Store.Instance(ctx, instance)
	switch {
	case errors.Is(err, sql.ErrNotFound), err == nil && row.State.Final():
		answer(VerdictStale, "")
	case err != nil:
		e.log.Debug("owner of a reported instance is unknown for now", "instance", instance, "error", err)
	case row.Owner == e.Owner:
		// Claimed, but not in memory yet: the next try finds it.
	default:
		answer(VerdictNotOwner, row.Owner)
	}
}

// Has says whether this engine has an instance, in memory or evicted from it.
func (e *Engine) Has(instance int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, evicted := e.evicted[instance]
	return evicted || e.actors[instance] != nil
}

func (e *Engine) inMemory(instance int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.actors[instance] != nil
}
