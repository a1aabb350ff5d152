package worker

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/porpoise/porpoise/worker/runner"
)

// runnerRetry is the wait before a runner that could not be started is tried again.
const runnerRetry = time.Second

// keepRunner holds a connection to the runner, which it starts where none answers.
func (c *loop) keepRunner(ctx context.Context) {
	var launched *os.Process
	for ctx.Err() == nil {
		client, err := runner.Dial(ctx, c.cfg.DataDir, c.attachment())
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
			c.post(ctx, func(c *loop) {
				c.News(client, n)
				if n.Attached != nil {
					c.client = client
					c.isReady()
				}
			})
		})
		if err != nil {
			c.log.Error("runner lost", "error", err)
		}
		c.post(ctx, func(c *loop) {
			c.RunnerGone(client)
			if c.client == client {
				c.client = nil
			}
		})
		if err == nil {
			return // it was told to quit, or this process ends: no other one is wanted
		}
	}
}

func (c *loop) launch(ctx context.Context) (*runner.Client, *os.Process, error) {
	process, err := runner.Launch(c.cfg.DataDir, c.cfg.Runner, c.cfg.RunnerEnv)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	client, err := runner.Await(ctx, c.cfg.DataDir, c.attachment(), process)
	return client, process, err
}

// attachment is how this process shows itself to a runner.
func (c *loop) attachment() runner.Attachment {
	return runner.Attachment{Incarnation: c.cfg.Incarnation, Until: c.AttachUntil()}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
