package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

const (
	// callers bounds the starts and the reads that are under way at the same time.
	callers = 32
	// settle bounds the wait for the last starts to end.
	settle = 60 * time.Second
)

// load starts a workflow at a steady rate until it is stopped.
type load struct {
	c     *client.Client
	rate  int
	end   context.CancelFunc
	all   sync.WaitGroup
	began time.Time
	took  time.Duration

	mu     sync.Mutex
	ids    []string
	failed []error
}

func startLoad(ctx context.Context, c *client.Client, rate int) *load {
	ctx, end := context.WithCancel(ctx)
	l := &load{c: c, rate: rate, end: end, began: time.Now()}
	due := make(chan int, callers)
	l.all.Go(func() {
		defer close(due)
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			select {
			case <-ctx.Done():
				return
			case due <- n:
			}
		}
	})
	for range callers {
		l.all.Go(func() {
			for n := range due {
				// A start that was sent is waited for, also after the end.
				id, err := c.StartWorkflow(context.WithoutCancel(ctx), project, workflow, client.Start{IdempotencyKey: fmt.Sprintf("%d-%d", l.began.UnixNano(), n)})
				l.mu.Lock()
				if err != nil {
					l.failed = append(l.failed, err)
				} else {
					l.ids = append(l.ids, id)
				}
				l.mu.Unlock()
			}
		})
	}
	return l
}

// stop ends the load.
func (l *load) stop() error {
	l.end()
	l.all.Wait()
	l.took = time.Since(l.began)
	if len(l.failed) > 0 {
		return fmt.Errorf("%d starts were refused, the first: %w", len(l.failed), l.failed[0])
	}
	return nil
}

// report waits until all has run, and demands that each start ran once, in one attempt.
func (l *load) report(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 4*settle)
	defer cancel()
	wanted := make(map[string]bool, len(l.ids))
	for _, id := range l.ids {
		wanted[id] = true
	}
	deadline := time.Now().Add(settle)
	var items []client.Instance
	for {
		var err error
		if items, err = l.c.Instances(ctx, client.Filter{Project: project, Workflow: workflow}); err != nil {
			return fmt.Errorf("list what was started: %w", err)
		}
		open := 0
		for _, in := range items {
			if !in.State.Final() {
				open++
			}
		}
		if open == 0 || time.Now().After(deadline) {
			break
		}
		time.Sleep(5 * time.Second) // the whole list is read
	}
	var waits []time.Duration
	var wrong []error
	for _, in := range items {
		if !wanted[in.ID] {
			wrong = append(wrong, fmt.Errorf("instance %s was started by nobody", in.ID))
		}
		delete(wanted, in.ID)
		if in.State != "success" {
			wrong = append(wrong, fmt.Errorf("instance %s is %s", in.ID, in.State))
		}
		waits = append(waits, in.StartedAt.Sub(in.CreatedAt.Time))
	}
	for id := range wanted {
		wrong = append(wrong, fmt.Errorf("instance %s was accepted and is gone", id))
	}
	again := l.attempts(ctx, items)
	fmt.Print(figures.Spreads([]figures.Spread{{
		What: fmt.Sprintf("from the start to the first step of its instance (%.0f starts a second)", float64(len(l.ids))/l.took.Seconds()), Took: waits,
	}}))
	fmt.Printf("started %d, found %d, lost %d, tasks with more than one attempt %d\n", len(l.ids), len(items), len(wanted), again)
	if again > 0 {
		wrong = append(wrong, fmt.Errorf("%d tasks ran more than once, or their attempts were not read", again))
	}
	return errors.Join(wrong[:min(len(wrong), 10)]...)
}

// attempts counts the tasks that did not run exactly once.
func (l *load) attempts(ctx context.Context, items []client.Instance) int64 {
	var again atomic.Int64
	ids := make(chan string)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for id := range ids {
				tasks, err := l.c.Tasks(ctx, id)
				if err != nil || len(tasks) != 1 || tasks[0].Attempts != 1 {
					again.Add(1)
				}
			}
		})
	}
	for _, in := range items {
		ids <- in.ID
	}
	close(ids)
	all.Wait()
	return again.Load()
}
