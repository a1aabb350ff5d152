// Package watch serves the streams on which apiservers follow a master: hints of new rows come
// up, committed changes go down. Both only save waiting: the rows are in the store. It owns
// the open streams and, per stream, the changes that wait to be sent, one per instance.
package watch

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/internal/rpc"
)

const (
	// maxWaiting bounds the instances whose change waits for a slow apiserver. Beyond it changes
	// are dropped: the apiserver reads the rows when it next looks.
	maxWaiting = 50_000
	// maxChanges bounds one message.
	maxChanges = 5_000
	// figuresEvery is how often an apiserver hears how the master is doing: as often as people are shown it.
	figuresEvery = time.Second
)

// Hints hears of rows that were written.
type Hints interface {
	// Command says that a command is there to be taken.
	Command()
	// Control says that an instance has a new control row.
	Control(instance int64)
	// Finished says that an instance of a workflow has ended at another master.
	Finished(workflow int64)
}

// Watchers are the open streams. All methods may be called by any goroutine.
type Watchers struct {
	hints Hints
	log   hclog.Logger
	// Figures says how the master is doing; nil says nothing. It is set before the first Watch.
	Figures func() *rpc.MasterFigures

	mu   sync.Mutex
	open map[*watcher]struct{}
}

// New returns Watchers without streams.
func New(hints Hints, log hclog.Logger) *Watchers {
	return &Watchers{hints: hints, log: log.Named("watch"), open: make(map[*watcher]struct{})}
}

type watcher struct {
	some chan struct{}

	mu      sync.Mutex
	waiting map[int64]*rpc.Change
	hint    *rpc.Hint // for the other masters; nil for none
}

// Publish tells every apiserver of a committed change. It never blocks; of several changes of an
// instance that wait, the last is enough.
func (w *Watchers) Publish(change *rpc.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for watcher := range w.open {
		watcher.put(change)
	}
}

// Hint asks the apiservers to tell the other masters of rows that were written: masters have no way to each
// other. It never blocks; what a slow apiserver has no room for is found by the masters' own polls.
func (w *Watchers) Hint(hint *rpc.Hint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for watcher := range w.open {
		watcher.putHint(hint)
	}
}

func (w *watcher) putHint(hint *rpc.Hint) {
	w.mu.Lock()
	if w.hint == nil {
		w.hint = &rpc.Hint{}
	}
	if len(w.hint.Commands)+len(w.hint.Controls)+len(w.hint.Finished) < maxWaiting {
		w.hint.Commands = append(w.hint.Commands, hint.GetCommands()...)
		w.hint.Controls = append(w.hint.Controls, hint.GetControls()...)
		w.hint.Finished = append(w.hint.Finished, hint.GetFinished()...)
	}
	w.mu.Unlock()
	w.wake()
}

func (w *watcher) wake() {
	select {
	case w.some <- struct{}{}:
	default:
	}
}

// takeHint returns what waits to be passed on; nil for nothing.
func (w *watcher) takeHint() *rpc.Hint {
	w.mu.Lock()
	defer w.mu.Unlock()
	hint := w.hint
	w.hint = nil
	return hint
}

func (w *watcher) put(change *rpc.Change) {
	w.mu.Lock()
	if _, known := w.waiting[change.GetInstanceId()]; known || len(w.waiting) < maxWaiting {
		w.waiting[change.GetInstanceId()] = change
	}
	w.mu.Unlock()
	w.wake()
}

func (w *watcher) take() []*rpc.Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := make([]*rpc.Change, 0, len(w.waiting))
	for _, id := range slices.Sorted(maps.Keys(w.waiting)) {
		changes = append(changes, w.waiting[id])
	}
	clear(w.waiting)
	return changes
}

// Watch serves one apiserver until its stream ends.
func (w *Watchers) Watch(stream rpc.Master_WatchServer) error {
	self := &watcher{some: make(chan struct{}, 1), waiting: make(map[int64]*rpc.Change)}
	w.mu.Lock()
	w.open[self] = struct{}{}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.open, self)
		w.mu.Unlock()
	}()
	ctx, cancel := context.WithCancelCause(stream.Context())
	defer cancel(nil)
	go func() { cancel(guard.Do(w.log, "hear", func() error { return w.hear(stream) })) }()
	tick := time.NewTicker(figuresEvery)
	defer tick.Stop()
	if err := w.tell(stream); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			if err := context.Cause(ctx); !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		case <-tick.C:
			if err := w.tell(stream); err != nil {
				return err
			}
			continue
		case <-self.some:
		}
		if hint := self.takeHint(); hint != nil {
			if err := stream.Send(&rpc.Committed{Hint: hint}); err != nil {
				return err
			}
		}
		changes := self.take()
		for len(changes) > 0 {
			n := min(len(changes), maxChanges)
			if err := stream.Send(&rpc.Committed{Changes: changes[:n]}); err != nil {
				return err
			}
			changes = changes[n:]
		}
	}
}

// tell sends the master's figures.
func (w *Watchers) tell(stream rpc.Master_WatchServer) error {
	if w.Figures == nil {
		return nil
	}
	return stream.Send(&rpc.Committed{Figures: w.Figures()})
}

// hear passes hints on until the stream ends, and returns why it did.
func (w *Watchers) hear(stream rpc.Master_WatchServer) error {
	for {
		hint, err := stream.Recv()
		if err != nil {
			return err
		}
		if len(hint.GetCommands()) > 0 {
			w.hints.Command()
		}
		for _, instance := range hint.GetControls() {
			w.hints.Control(instance)
		}
		for _, workflow := range hint.GetFinished() {
			w.hints.Finished(workflow)
		}
	}
}
