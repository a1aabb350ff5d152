package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/site"
)

// answered counts answers; polite are those refusals that say when to come again.
type answered struct{ taken, refused, polite int }

// largest is the process that had most.
type largest struct {
	name  string
	bytes int64
}

// press calls from many callers, and samples the memory of each part meanwhile. A caller that is refused tries again at once,
// as one that doesn't listen would.
func press(ctx context.Context, s *site.Site) (sum answered, most largest, err error) {
	within, stop := context.WithTimeout(ctx, pressureFor)
	defer stop()
	var sampling errgroup.Group
	sampling.Go(func() error {
		for crowd.Pause(within, time.Second/5) == nil {
			for _, p := range s.Parts {
				if cost, err := p.Cost(); err == nil && cost.RSS > most.bytes && !strings.HasPrefix(p.Name, "etcd") {
					most = largest{p.Name, cost.RSS}
				}
			}
		}
		return nil
	})
	var mu sync.Mutex
	callers, _ := errgroup.WithContext(ctx)
	for range pressureCallers {
		callers.Go(func() error {
			c := crowd.NewStarter(s, project, "stuck")
			defer c.Close()
			var own answered
			for within.Err() == nil {
				a, err := c.Call(ctx)
				switch {
				case err != nil:
					return err
				case a.Status == http.StatusAccepted:
					own.taken++
				case a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable:
					own.refused++
					if a.RetryAfter != "" {
						own.polite++
					}
				default:
					return fmt.Errorf("status %d: %s", a.Status, a.Body)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			sum.taken, sum.refused, sum.polite = sum.taken+own.taken, sum.refused+own.refused, sum.polite+own.polite
			return nil
		})
	}
	err = callers.Wait()
	_ = sampling.Wait() // never an error
	return sum, most, err
}
