package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/heartbeat"
	"github.com/porpoise/porpoise/worker/lease"
	"github.com/porpoise/porpoise/worker/task"
	"github.com/porpoise/porpoise/worker/task/http"
	"github.com/porpoise/porpoise/worker/task/noop"
	"github.com/porpoise/porpoise/worker/task/python"
	"github.com/porpoise/porpoise/worker/task/shell"
)

// Peer is one process that a worker dials.
type Peer struct{ Node, Incarnation, Address string }

// Peers tells who is there: the whole list first, then again at every change. The
// channel is closed when ctx ends.
type Peers interface {
	Watch(ctx context.Context) (<-chan []Peer, error)
}

// FixedPeers is a list that never changes.
type FixedPeers []Peer

// Watch gives the list once.
func (p FixedPeers) Watch(ctx context.Context) (<-chan []Peer, error) {
	ch := make(chan []Peer, 1)
	ch <- p
	context.AfterFunc(ctx, func() { close(ch) })
	return ch, nil
}

// Config is what a worker is told.
type Config struct {
	Node, Incarnation string
	Predecessor       string // incarnation whose data folder this process has taken over
	Groups            []string
	Labels            map[string]string // that tasks may ask for beside a group
	Slots             int
	DataDir           string // flocked by the worker while it runs
	Version, Address  string // for people

	Masters    Peers
	Apiservers Peers // nil: nobody reads logs
	Dial       func(ctx context.Context, address string) (rpc.Conn, error)

	// Runner is the command that runs the runner for DataDir; RunnerEnv is all of its environment.
	Runner    []string
	RunnerEnv []string

	// DrainFor is how long Run waits for running tasks when its ctx ends. Then KeepTasks
	// leaves them to the runner, for the next worker of this data folder to adopt;
	// without it they are ended and given back.
	DrainFor  time.Duration
	KeepTasks bool

	// Heartbeat paces the beats; what is zero in it is a default.
	Heartbeat heartbeat.Settings
	// Leases says that attempts end when nobody has counted on them for lease.Length. Without
	// it they may run for as long as their runner lives: right where nobody else could start them again.
	Leases bool
	// Membership is this worker's place in the registry; nil: its renewals are no evidence.
	Membership Membership

	HTTP   http.Type // how calls go out
	Logger hclog.Logger

	// What follows is nil but in tests and the simulator.

	Now      func() time.Time     // with a monotonic reading
	Boot     func() time.Duration // since boot, sleep counted
	Load     func() float64       // of the machine
	FreeDisk func() float64       // share of DataDir's disk
}

// Membership is what a worker needs to know of its place in the registry.
type Membership interface {
	// LastRenewed is when the newest answered renewal was sent; zero: never.
	LastRenewed() time.Time
	// Hold keeps the place for so long without a renewal, counted from when that was asked for, which it
	// returns: attempts stay with the runner while the control process is away. 0 asks for nothing
	// and only says that the place must run out by itself, because attempts may still be alive.
	Hold(ctx context.Context, length time.Duration) (sent time.Time, err error)
}

// killGrace is between TERM and KILL where nobody says otherwise.
const killGrace = 10 * time.Second

// check is for a whole worker.
func (c *Config) check() error {
	switch {
	case c.DataDir == "":
		return errors.New("worker: a data folder is needed")
	case c.Masters == nil || c.Dial == nil:
		return errors.New("worker: masters and a way to dial them are needed")
	case len(c.Runner) == 0:
		return errors.New("worker: the runner's command is needed")
	}
	return c.checkCore()
}

// checkCore is for what Core uses; it fills in what is not given.
func (c *Config) checkCore() error {
	switch {
	case c.Node == "" || c.Incarnation == "":
		return errors.New("worker: node and incarnation are needed")
	case c.Slots <= 0:
		return fmt.Errorf("worker: slots %d: at least 1 is needed", c.Slots)
	}
	c.Heartbeat = c.Heartbeat.WithDefaults()
	if err := c.Heartbeat.Err(c.Slots); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if len(c.Groups) == 0 {
		c.Groups = []string{"default"}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Boot == nil {
		c.Boot = lease.Now
	}
	if c.Load == nil {
		c.Load = loadAverage
	}
	if c.FreeDisk == nil {
		dir := c.DataDir
		c.FreeDisk = func() float64 { return freeDisk(dir) }
	}
	return nil
}

// types holds what this worker can run, by name.
type types struct {
	processes map[string]task.Process
	calls     map[string]task.Call
	instants  map[string]task.Instant
}

func newTypes(c *Config, calls Calls) types {
	t := types{
		processes: map[string]task.Process{"shell": shell.Type{}, "python": python.Type{}},
		calls:     map[string]task.Call{},
		instants:  map[string]task.Instant{"noop": noop.Type{}},
	}
	if calls != nil {
		t.calls["http"] = c.HTTP
	}
	return t
}

// typeNames is in order of name: it goes out in Hello.
func typeNames() []string { return []string{"http", "noop", "python", "shell"} }
