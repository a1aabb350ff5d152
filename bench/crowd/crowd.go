package crowd

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
)

// drainFor is how long is waited for the ends of what was started.
const drainFor = 3 * time.Minute

// Crowd starts one workflow again and again from many callers; each starts the next when it was answered.
type Crowd struct {
	Site              *site.Site
	Project, Workflow string
	Callers           int
	Body              string // of each start; "" is an empty object
}

func (c Crowd) starter() *Caller {
	return StarterWith(c.Site, c.Project, c.Workflow, cmp.Or(c.Body, "{}"))
}

// Flow is what came of it. The processor times are those of the whole run: of the product with the tasks' own, of the
// server of its database, and of this program, which is in neither.
type Flow struct {
	Ended                     int64
	Took                      time.Duration
	Product, Database, Client time.Duration
}

// Rate is how many workflows ended per second.
func (f Flow) Rate() float64 { return float64(f.Ended) / f.Took.Seconds() }

// Each is the milliseconds of processor time of product and database for each workflow, and of the calling.
func (f Flow) Each() (product, database, client float64) {
	n := float64(max(f.Ended, 1))
	return figures.InMilliseconds(f.Product) / n, figures.InMilliseconds(f.Database) / n, figures.InMilliseconds(f.Client) / n
}

// Place is the workflow.
func (c Crowd) Place() Place {
	return Place{Client: c.Site.Client, Project: c.Project, Workflow: c.Workflow}
}

// Run starts for a while, or, where count is not 0, that many. It returns when all have succeeded, which is until when it counts.
func (c Crowd) Run(ctx context.Context, lasts time.Duration, count int64) (Flow, error) {
	ctx, cancel := context.WithTimeout(ctx, lasts+drainFor)
	defer cancel()
	meter, err := newMeter(ctx, c.Site)
	if err != nil {
		return Flow{}, err
	}
	started, err := c.Call(ctx, lasts, count)
	if err != nil {
		return Flow{}, err
	}
	if err := c.Place().Over(ctx); err != nil {
		return Flow{}, err
	}
	return meter.read(ctx, started)
}

// Call is Run without the wait for the ends; it returns how many were started.
func (c Crowd) Call(ctx context.Context, lasts time.Duration, count int64) (int64, error) {
	first := time.Now()
	return Calls(ctx, c.Callers, c.starter, func(begun int64) bool {
		return count == 0 && time.Since(first) < lasts || count > 0 && begun <= count
	})
}

// Calls lets that many callers call while more says so, which is asked before each call with its number from 1. It returns
// how many were accepted: any other answer is an error.
func Calls(ctx context.Context, callers int, caller func() *Caller, more func(begun int64) bool) (int64, error) {
	var begun, accepted atomic.Int64
	all, within := errgroup.WithContext(ctx)
	for range callers {
		all.Go(func() error {
			c := caller()
			defer c.Close()
			for within.Err() == nil && more(begun.Add(1)) {
				a, err := c.Call(within)
				if err != nil {
					return err
				}
				if a.Status != http.StatusAccepted {
					return fmt.Errorf("status %d: %s", a.Status, a.Body)
				}
				accepted.Add(1)
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return accepted.Load(), fmt.Errorf("call, after %d that were accepted: %w", accepted.Load(), err)
	}
	return accepted.Load(), nil
}

// meter is the processor time before a run.
type meter struct {
	site              *site.Site
	began             time.Time
	product, database site.Cost
	client            time.Duration
}

func newMeter(ctx context.Context, s *site.Site) (m meter, err error) {
	m.site = s
	if m.product, err = s.Cost(); err != nil {
		return m, err
	}
	if m.database, err = s.DatabaseCost(ctx); err != nil {
		return m, err
	}
	m.client, m.began = ownTime(), time.Now()
	return m, nil
}

// read is what was spent since.
func (m meter) read(ctx context.Context, ended int64) (Flow, error) {
	f := Flow{Ended: ended, Took: time.Since(m.began)}
	after, err := newMeter(ctx, m.site)
	f.Product, f.Database, f.Client = after.product.CPU-m.product.CPU, after.database.CPU-m.database.CPU, after.client-m.client
	return f, err
}

// Measured runs work and returns what was spent meanwhile on n pieces of it.
func Measured(ctx context.Context, s *site.Site, n int64, work func() error) (Flow, error) {
	m, err := newMeter(ctx, s)
	if err != nil {
		return Flow{}, err
	}
	if err := work(); err != nil {
		return Flow{}, err
	}
	return m.read(ctx, n)
}

// ownTime is the processor time of this process so far.
func ownTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
