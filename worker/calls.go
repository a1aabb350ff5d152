package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/mask"
	"github.com/porpoise/porpoise/worker/task"
	"github.com/porpoise/porpoise/worker/tasklog"
)

// callLasts is after what time a call that is not over is told as running. One that ends sooner is told once, by its end: that saves
// a commit of its master.
const callLasts = 50 * time.Millisecond

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
		secrets := mask.New(d.GetSecrets().GetValues())
		out := &callOutput{loop: c.loop, attempt: attempt, mask: secrets.Stream()}
		lasts := time.AfterFunc(callLasts, func() { c.loop.post(ctx, func(l *loop) { l.CallLasts(mark) }) })
		result := hide(call.Call(ctx, d, out), secrets)
		lasts.Stop()
		out.keep(out.mask.End())
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
	mask    *mask.Stream
	total   int64
	tail    []byte
}

// Write is for one goroutine at a time.
func (o *callOutput) Write(data []byte) (int, error) {
	o.keep(o.mask.Write(data))
	return len(data), nil
}

// keep sends what may be seen.
func (o *callOutput) keep(data []byte) {
	if len(data) == 0 {
		return
	}
	o.total += int64(len(data))
	o.tail = append(o.tail, data[max(0, len(data)-tasklog.TailBytes):]...)
	o.tail = o.tail[max(0, len(o.tail)-tasklog.TailBytes):]
	kept := append([]byte(nil), data...)
	o.loop.post(context.Background(), func(l *loop) { l.CallOutput(o.attempt, kept) })
}
