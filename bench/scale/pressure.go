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
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/dag"
)

const (
	// pressureFor is how long starts come in that nothing runs, and pressureBar what one process may have in memory meanwhile.
	pressureFor     = 20 * time.Second
	pressureCallers = 500
	pressureBar     = 512 << 20
	// fatFor is how long starts come in with fatBytes of parameters each, while each message to and from the database is fatLate:
	// those of all callers are several times of what an apiserver lets one project hold.
	fatFor   = 10 * time.Second
	fatLate  = 50 * time.Millisecond
	fatBytes = 2 * fatValue
	fatValue = 96 << 10
	// endsWithin bounds the wait for their ends.
	endsWithin = 3 * time.Minute
)

// pressure starts what nothing runs, as fast as it is taken, and what is too much to wait for a slow database; it looks at what is
// answered and at the memory of the product.
func (m *measure) pressure(ctx context.Context) error {
	err := m.cluster(ctx, site.Options{Masters: 1, Workers: 1}, func(s *site.Site) error {
		if err := place(s, "stuck").Save(ctx, []crowd.Task{{Name: "a", Type: "noop", Group: "nobody"}}, nil); err != nil {
			return err
		}
		progress("starts that nothing runs, by %d callers for %s", pressureCallers, pressureFor)
		answers, most, err := press(ctx, s, pressureFor, func() *crowd.Caller { return crowd.NewStarter(s, project, "stuck") })
		if err != nil {
			return err
		}
		m.add(answers.row(fmt.Sprintf("%d callers start what no worker takes, for %s", pressureCallers, pressureFor), 0), most.row())
		return nil
	})
	if err != nil {
		return err
	}
	return m.lateCluster(ctx, fatLate, site.Options{Masters: 1, Workers: 1}, func(s *site.Site) error {
		if err := place(s, "fat").Save(ctx, crowd.Chain(1, "noop", ""), map[string]any{"params": map[string]string{"a": "", "b": ""}}); err != nil {
			return err
		}
		value := strings.Repeat("p", fatValue)
		body := `{"params":{"a":"` + value + `","b":"` + value + `"}}`
		progress("starts of %d KiB each, by %d callers for %s", fatBytes>>10, pressureCallers, fatFor)
		answers, most, err := press(ctx, s, fatFor, func() *crowd.Caller { return crowd.StarterWith(s, project, "fat", body) })
		if err != nil {
			return err
		}
		by, err := ends(ctx, s, "fat")
		if err != nil {
			return err
		}
		m.add(answers.row(fmt.Sprintf("%d callers start a noop with %d KiB of parameters each, for %s, each statement %s late", pressureCallers, fatBytes>>10, fatFor, 2*fatLate), 1), most.row(), figures.Row{
			What: "of the starts that were taken: instances that succeeded in the end", Ours: fmt.Sprint(by[dag.InstanceSuccess]), Bar: fmt.Sprintf(">= %d, and none ended otherwise", answers.taken),
			Missed: by[dag.InstanceSuccess] < answers.taken || len(by) != 1, Value: float64(by[dag.InstanceSuccess]),
		})
		return nil
	})
}

// ends waits until no instance of a workflow is under way, and counts them by their states. It asks the database, since an
// overloaded product may well refuse to.
func ends(ctx context.Context, s *site.Site, workflow string) (map[dag.InstanceState]int, error) {
	ctx, cancel := context.WithTimeout(ctx, endsWithin)
	defer cancel()
	for {
		by, err := tally(ctx, s, workflow)
		if err != nil || by[dag.InstanceSubmitted]+by[dag.InstanceRunning] == 0 {
			return by, err
		}
		if err := crowd.Pause(ctx, time.Second/4); err != nil {
			return nil, fmt.Errorf("wait for the ends of %s, of which there are %v: %w", workflow, by, err)
		}
	}
}

// answered counts answers; polite are those refusals that say when to come again.
type answered struct{ taken, refused, polite int }

// row holds that no refusal came without Retry-After, and at least so many with it.
func (a answered) row(what string, least int) figures.Row {
	bare, bar := a.refused-a.polite, "0 without"
	if least > 0 {
		bar = "some with, 0 without"
	}
	return figures.Row{
		What: what + ": taken / refused with Retry-After / refused without", Ours: fmt.Sprintf("%d / %d / %d", a.taken, a.polite, bare),
		Bar: bar, Missed: bare > 0 || a.polite < least, Value: float64(a.taken),
	}
}

// largest is the process that had most.
type largest struct {
	name  string
	bytes int64
}

func (l largest) row() figures.Row {
	return figures.Row{
		What: "the most that one process of the product had in resident memory meanwhile", Ours: fmt.Sprintf("%d MiB (%s)", l.bytes>>20, l.name),
		Bar: fmt.Sprintf("<= %d MiB", pressureBar>>20), Missed: l.bytes > pressureBar, Value: float64(l.bytes >> 20),
	}
}

// press calls from many callers, and samples the memory of each part meanwhile. A caller that is refused tries again at once,
// as one that doesn't listen would.
func press(ctx context.Context, s *site.Site, lasts time.Duration, caller func() *crowd.Caller) (sum answered, most largest, err error) {
	within, stop := context.WithTimeout(ctx, lasts)
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
			c := caller()
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
