package worker

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/runner"
)

// runnerRetry is the wait before a runner that could not be started is tried again.
const runnerRetry = time.Second

// keepRunner holds a connection to the runner, which it starts where none answers.
func (c *core) keepRunner(ctx context.Context) {
	var launched *os.Process
	for ctx.Err() == nil {
		client, err := runner.Dial(ctx, c.cfg.DataDir, c.cfg.Incarnation)
		if err != nil {
			if launched != nil { // it was ours and has ended: take its status
				_, _ = unix.Wait4(launched.Pid, nil, unix.WNOHANG, nil)
			}
			client, launched, err = c.launch(ctx)
		}
		if err != nil {
			c.log.Error("no runner", "error", err)
			wait(ctx, runnerRetry)
			continue
		}
		err = client.Run(ctx, func(n *runner.News) {
			c.post(ctx, func(c *core) { c.handleNews(client, n) })
		})
		if err != nil {
			c.log.Error("runner lost", "error", err)
		}
		c.post(ctx, func(c *core) {
			if c.runner == client {
				c.runner = nil
			}
		})
	}
}

func (c *core) launch(ctx context.Context) (*runner.Client, *os.Process, error) {
	process, err := runner.Launch(c.cfg.DataDir, c.cfg.Runner, c.cfg.RunnerEnv)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	client, err := runner.Await(ctx, c.cfg.DataDir, c.cfg.Incarnation, process)
	return client, process, err
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// handleNews takes what the runner said.
func (c *core) handleNews(client *runner.Client, n *runner.News) {
	if n.Attached != nil {
		c.attach(client, n.Attached)
	}
	for _, s := range n.Started {
		c.started(s)
	}
	for _, e := range n.Exits {
		c.ended(e)
	}
	for _, s := range n.Stuck {
		if a := c.attempts[s.Mark]; a != nil {
			c.log.Error("kill not confirmed", "instance", a.id.GetInstanceId(), "task", a.id.GetTask(), "pids", s.Pids)
			c.report(a.mark, &rpc.Report{
				Attempt: a.id, State: "running", StartedAt: a.startedAt, Reason: "unkillable",
				Message: "processes of this attempt do not end by KILL",
			}, a.owner)
		}
	}
}

// attach makes what the runner says of its tasks the truth: what is alive is adopted,
// what has ended is reported, and what it never took is sent to it again.
func (c *core) attach(client *runner.Client, attached *runner.Attached) {
	c.runner = client
	select {
	case <-c.ready:
	default:
		close(c.ready)
	}
	for _, s := range attached.Running {
		c.adopt(s)
	}
	for _, e := range attached.Exits {
		c.ended(e)
	}
	// Orders that were lost with the last connection are made again; each is idempotent.
	c.toRun.Starts, c.toRun.Stops = nil, nil
	alive := make(map[string]bool, len(attached.Running))
	for _, s := range attached.Running {
		alive[s.Mark] = true
	}
	for _, a := range c.attempts {
		if a.call != nil {
			continue
		}
		if !alive[a.mark] && a.start != nil {
			c.toRun.Starts = append(c.toRun.Starts, a.start)
		}
		if a.kill != nil {
			c.toRun.Stops = append(c.toRun.Stops, a.kill)
		}
	}
	if len(c.attempts) > 0 {
		c.log.Info("attempts adopted", "running", len(attached.Running), "ended", len(attached.Exits))
	}
}

// adopt takes over an attempt that the runner has kept alive.
func (c *core) adopt(s *runner.Started) {
	if a := c.attempts[s.Mark]; a != nil {
		c.started(s)
		return
	}
	epoch := s.GetAttempt().GetOwnerEpoch()
	a := &attempt{
		mark: s.Mark, id: fromRunner(s.Attempt), epoch: epoch, startedAt: s.StartedAt, grace: killGrace.Milliseconds(),
	}
	c.attempts[s.Mark] = a
	if seen, _ := c.epochs.get(a.id.GetInstanceId()); epoch > seen {
		c.epochs.put(a.id.GetInstanceId(), epoch)
	}
	if a.startedAt != 0 {
		c.report(a.mark, &rpc.Report{Attempt: a.id, State: "running", StartedAt: a.startedAt}, "")
	}
}

func (c *core) started(s *runner.Started) {
	a := c.attempts[s.Mark]
	if a == nil || s.StartedAt == 0 || a.startedAt == s.StartedAt {
		return
	}
	a.startedAt = s.StartedAt
	c.report(a.mark, &rpc.Report{Attempt: a.id, State: "running", StartedAt: a.startedAt}, a.owner)
}

// ended takes the end of a process. The runner may forget it once the outbox has it.
func (c *core) ended(e *runner.Exit) {
	c.forget = append(c.forget, e.Mark)
	a := c.attempts[e.Mark]
	if a == nil {
		if _, ok := c.finished.get(e.Mark); ok {
			return
		}
		a = &attempt{mark: e.Mark, id: fromRunner(e.Attempt)}
	}
	c.finish(a, &rpc.Report{
		State: e.State, Reason: e.Reason, Message: e.Message, StartedAt: e.StartedAt, FinishedAt: e.FinishedAt,
		ExitCode: e.ExitCode, Outputs: e.Outputs, Tail: e.Tail, LogBytes: e.LogBytes,
	})
}
