package worker

import (
	"context"
	"errors"
	"sync"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/task"
	"github.com/porpoise/porpoise/worker/tasklog"
)

var errKilled = errors.New("killed")

// callers runs the calls of this process, one goroutine each; slots bound them.
type callers struct {
	loop *loop
	all  sync.WaitGroup

	running map[string]context.CancelCauseFunc // the loop's
}

// Start runs a call.
func (c *callers) Start(mark string, attempt *rpc.AttemptID, d *rpc.Dispatch, call task.Call) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c.running[mark] = cancel
	if a := c.loop.attempts[mark]; a != nil && a.kill != nil {
		cancel(errKilled) // killed before it began
	}
	c.all.Go(func() {
		defer cancel(nil)
		out := &callOutput{loop: c.loop, attempt: attempt}
		result := call.Call(ctx, d, out)
		c.loop.post(context.Background(), func(l *loop) {
			delete(c.running, mark)
			l.CallDone(mark, result, out.total, out.tail)
		})
	})
}

// Cancel ends a call.
func (c *callers) Cancel(mark string) {
	if cancel := c.running[mark]; cancel != nil {
		cancel(errKilled)
	}
}

// callOutput sends what a call writes to the runner, which keeps all output.
type callOutput struct {
	loop    *loop
	attempt *rpc.AttemptID
	total   int64
	tail    []byte
}

// Write is for one goroutine at a time.
func (o *callOutput) Write(data []byte) (int, error) {
	if len(data) == 0 {
		return 0, nil
	}
	o.total += int64(len(data))
	o.tail = append(o.tail, data[max(0, len(data)-tasklog.TailBytes):]...)
	o.tail = o.tail[max(0, len(o.tail)-tasklog.TailBytes):]
	kept := append([]byte(nil), data...)
	o.loop.post(context.Background(), func(l *loop) { l.CallOutput(o.attempt, kept) })
	return len(data), nil
}
