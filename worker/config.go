package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

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
	Slots             int
	DataDir           string // flocked by the worker while it runs
	Version, Address  string // for people

	Masters    Peers
	Apiservers Peers // nil: nobody reads logs
	Dial       func(ctx context.Context, address string) (*grpc.ClientConn, error)

	// Runner is the command that runs the runner for DataDir; RunnerEnv is all of its environment.
	Runner    []string
	RunnerEnv []string

	// DrainFor is how long Run waits for running tasks when its ctx ends. Then KeepTasks
	// leaves them to the runner, for the next worker of this data folder to adopt;
	// without it they are ended and given back.
	DrainFor  time.Duration
	KeepTasks bool

	HTTP   http.Type // how calls go out
	Logger hclog.Logger
}

// killGrace is between TERM and KILL where nobody says otherwise.
const killGrace = 10 * time.Second

func (c *Config) check() error {
	switch {
	case c.Node == "" || c.Incarnation == "":
		return errors.New("worker: node and incarnation are needed")
	case c.Slots <= 0:
		return fmt.Errorf("worker: slots %d: at least 1 is needed", c.Slots)
	case c.DataDir == "":
		return errors.New("worker: a data folder is needed")
	case c.Masters == nil || c.Dial == nil:
		return errors.New("worker: masters and a way to dial them are needed")
	case len(c.Runner) == 0:
		return errors.New("worker: the runner's command is needed")
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if len(c.Groups) == 0 {
		c.Groups = []string{"default"}
	}
	return nil
}

// types holds what this worker can run, by name.
type types struct {
	processes map[string]task.Process
	calls     map[string]task.Call
	instants  map[string]task.Instant
}

func newTypes(c *Config) types {
	return types{
		processes: map[string]task.Process{"shell": shell.Type{}, "python": python.Type{}},
		calls:     map[string]task.Call{"http": c.HTTP},
		instants:  map[string]task.Instant{"noop": noop.Type{}},
	}
}

// typeNames is in order of name: it goes out in Hello.
func typeNames() []string { return []string{"http", "noop", "python", "shell"} }
