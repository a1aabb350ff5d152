package crowd

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// paceCallers share the starts of a steady pace, so that one that is answered late does not hold the next one back.
const paceCallers = 32

// Pace starts that many workflows a second, evenly, until ctx ends.
func (c Crowd) Pace(ctx context.Context, rate float64) error {
	var all errgroup.Group
	first := time.Now()
	for i := range paceCallers {
		all.Go(func() error {
			caller := c.starter()
			defer caller.Close()
			for n := i; ; n += paceCallers {
				due := first.Add(time.Duration(float64(n) / rate * float64(time.Second)))
				if Pause(ctx, time.Until(due)) != nil {
					return nil
				}
				if _, err := caller.Start(context.WithoutCancel(ctx)); err != nil {
					return err
				}
			}
		})
	}
	return all.Wait()
}

// Lives starts n workflows, one each so often, and returns how long each took from when it was due to be called to its end
// by its row. A caller that is kept waiting counts: the start that it could not make in time is late from its own moment on.
func (c Crowd) Lives(ctx context.Context, n int, every time.Duration) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(n)*every+drainFor)
	defer cancel()
	type one struct {
		id  string
		due time.Time
	}
	var mu sync.Mutex
	var all []one
	callers, within := errgroup.WithContext(ctx)
	first := time.Now()
	for i := range min(paceCallers, n) {
		callers.Go(func() error {
			caller := c.starter()
			defer caller.Close()
			for k := i; k < n; k += paceCallers {
				due := first.Add(time.Duration(k) * every)
				if err := Pause(within, time.Until(due)); err != nil {
					return err
				}
				id, err := caller.Start(within)
				if err != nil {
					return err
				}
				mu.Lock()
				all = append(all, one{id, due})
				mu.Unlock()
			}
			return nil
		})
	}
	if err := callers.Wait(); err != nil {
		return nil, err
	}
	took := make([]time.Duration, len(all))
	for i, o := range all {
		for {
			in, err := c.Site.Client.Instance(ctx, o.id)
			if err != nil {
				return nil, fmt.Errorf("read the end of %s: %w", o.id, err)
			}
			if in.Over() {
				if err := Succeeded(in); err != nil {
					return nil, err
				}
				took[i] = max(in.FinishedAt.Sub(o.due.Truncate(time.Millisecond)), 0)
				break
			}
			if err := Pause(ctx, watchEvery); err != nil {
				return nil, err
			}
		}
	}
	return took, nil
}
