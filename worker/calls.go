package worker

import (
	"context"
	"sync"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/runner"
	"github.com/porpoise/porpoise/worker/task"
	"github.com/porpoise/porpoise/worker/tasklog"
)

// callers runs the calls of this process, one goroutine each; slots bound them. A call
// goes out after its beginning is on disk.
type callers struct {
	all   sync.WaitGroup
	ready []func()
}

// release starts what was held until the disk had it.
func (c *callers) release() {
	for _, start := range c.ready {
		c.all.Go(start)
	}
	c.ready = c.ready[:0]
}

// beginCall prepares the goroutine of a call.
func (c *core) beginCall(a *attempt, d *rpc.Dispatch, call task.Call) {
	ctx, cancel := context.WithCancelCause(context.Background())
	a.call = cancel
	mark := a.mark
	c.calls.ready = append(c.calls.ready, func() {
		defer cancel(nil)
		out := &callOutput{core: c, attempt: toRunner(a.id, 0)}
		result := call.Call(ctx, d, out)
		c.post(context.Background(), func(c *core) {
			if out.total > 0 {
				c.toRun.Outputs = append(c.toRun.Outputs, &runner.Output{Attempt: out.attempt, End: true})
			}
			c.callDone(mark, result, out.total, out.tail)
		})
	})
}

// callOutput sends what a call writes to the runner, which keeps all output.
type callOutput struct {
	core    *core
	attempt *runner.Attempt
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
	o.core.post(context.Background(), func(c *core) {
		c.toRun.Outputs = append(c.toRun.Outputs, &runner.Output{Attempt: o.attempt, Data: kept})
	})
	return len(data), nil
}
