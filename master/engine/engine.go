// Package engine drives the workflow instances of one master: each has an ordered
// mailbox, one goroutine at a time steps it by the rules of dag, every transition is
// committed before anything follows from it, and many instances share one commit. It
// owns the instances in memory and the index of their live attempts. It never decides
// a rule, opens a connection or claims a command; intake and failover admit instances,
// link brings reports, the wheel brings timers, and the dispatcher brings workers.
package engine

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// Store keeps instances. Commit answers each transition with nil, sql.ErrNotOwner
// (another master has the instance: forget it), or sql.ErrUnavailable (nothing of it
// is written: try the same again); any other error is the transition's own fault.
type Store interface {
	Commit(ctx context.Context, transitions []sql.Transition) []error
	// Controls returns the unapplied control rows of an instance in id order.
	Controls(ctx context.Context, instance int64) ([]sql.ControlRow, error)
	// ControlsOf returns the unapplied control rows of the owner's instances in id order.
	ControlsOf(ctx context.Context, owner string) ([]sql.ControlRow, error)
	// Quarantine makes an instance of this epoch final because it cannot be processed.
	Quarantine(ctx context.Context, instance, epoch int64, reason dag.Reason, message string) error
	// Instance returns an instance's row, or sql.ErrNotFound.
	Instance(ctx context.Context, id int64) (sql.InstanceRow, error)
}

// Work is a ready task that is offered to the dispatcher.
type Work struct {
	Instance         int64
	Task             int
	Group            string
	InstancePriority dag.Priority
	TaskPriority     dag.Priority
	ReadyAt          dag.Millis
}

// Dispatcher matches ready tasks with asking workers. A task that Offer does not place
// at once comes back later through Engine.Assign.
type Dispatcher interface {
	Offer(work Work) (rpc.Process, bool)
	Withdraw(group string, instance int64, task int)
	Refuse(worker rpc.Process)
}

// Links carries messages to workers; without a link a message is dropped, and the
// engine sends it again until it is answered.
type Links interface {
	Dispatch(worker rpc.Process, message *rpc.Dispatch)
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

// Config is what an Engine needs; every field but Limit is required.
type Config struct {
	// Owner is written to the rows of the instances driven here: "<node>:<incarnation>".
	Owner      string
	Store      Store
	Dispatcher Dispatcher
	Links      Links
	Alarms     Alarms
	// Publish is told of each committed change; it must not block.
	Publish func(*rpc.Change)
	Logger  hclog.Logger
	// Limit bounds the instances in memory; Room tells what is left. Zero is 10,000.
	Limit int
	// KillGrace is the time between TERM and KILL of a killed task. Zero is 10 s.
	KillGrace time.Duration
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

	mu     sync.Mutex // guards actors and closed
	actors map[int64]*actor
	closed bool

	runnable *runQueue
	commits  *commitQueue
	controls *idQueue
}

// New returns an engine without instances.
func New(c Config) *Engine {
	if c.Limit == 0 {
		c.Limit = defaultLimit
	}
	if c.KillGrace == 0 {
		c.KillGrace = defaultKillGrace
	}
	return &Engine{
		Config:   c,
		log:      c.Logger.Named("engine"),
		plans:    newPlans(),
		nodes:    newNodes(),
		actors:   make(map[int64]*actor),
		runnable: newRunQueue(),
		commits:  newCommitQueue(),
		controls: newIDQueue(),
	}
}

// Run steps instances until ctx ends. What is then in memory is dropped: the rows hold
// all of it, and the next owner goes on from them.
func (e *Engine) Run(ctx context.Context) error {
	var group errgroup.Group
	steppers := max(2, runtime.GOMAXPROCS(0))
	for range steppers {
		group.Go(func() error { e.stepper(); return nil })
	}
	group.Go(func() error { e.committer(ctx); return nil })
	group.Go(func() error { e.controller(ctx); return nil })
	group.Go(func() error { e.sweeper(ctx); return nil })
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

// Room returns how many more instances may be admitted.
func (e *Engine) Room() int { return max(0, e.Limit-e.Running()) }

// Assign brings a worker for a task that had been queued. If the task is not ready any
// more, the dispatcher gets the ask back.
func (e *Engine) Assign(instance int64, task int, worker rpc.Process) {
	given := e.post(instance, mail{
		input:    dag.Assign{Task: task, Worker: worker.Node, Incarnation: worker.Incarnation, Token: newToken()},
		assigned: true,
	})
	if !given {
		e.Dispatcher.Refuse(worker)
	}
}

// Fire brings a timer whose moment has come.
func (e *Engine) Fire(alarm Alarm) { e.post(alarm.Instance, mail{input: alarm.Timer}) }

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
	report := dag.Report{
		Task: int(id.GetTask()), Number: int(id.GetNumber()), Token: id.GetToken(), State: state,
		Reason: dag.Reason(r.GetReason()), Message: r.GetMessage(),
		StartedAt: dag.Millis(r.GetStartedAt()), FinishedAt: dag.Millis(r.GetFinishedAt()),
		ExitCode: int(r.GetExitCode()), Outputs: r.GetOutputs(), Tail: r.GetTail(), LogBytes: r.GetLogBytes(),
	}
	if e.post(id.GetInstanceId(), mail{input: report, answer: answer}) {
		return
	}
	if e.Has(id.GetInstanceId()) {
		return // the mailbox is full: no answer, it will be sent again
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

// Has says whether an instance is in memory.
func (e *Engine) Has(instance int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.actors[instance] != nil
}
