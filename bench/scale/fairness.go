package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const (
	// liveEvery is the time between two starts of the project whose p99 counts.
	liveEvery = 20 * time.Millisecond
	// fairBar is how much the p99 may grow beside what another project does.
	fairBar = 2
	// loud is that project; noise is its workflow.
	loud, noise  = "loud", "noise"
	loudCallers  = 64
	warmLives    = 50
	groupWaiting = 5000
	// backfills of backfillDays days each are a hundred years.
	backfillYears, backfillParallel = 100, 100
	yearsPerBackfill                = 25 // one of more would have too many dates
)

// noises are what another project does: prepare comes before anything is measured, settle before what is measured beside it, and
// meanwhile then goes on until its context ends. Each may be nil.
type noises struct {
	what              string
	prepare           func(*site.Site) error
	settle, meanwhile func(context.Context, *site.Site) error
	bar               float64 // of the p99's ratio; 0: fairBar, infinite: none

	options site.Options  // of the cluster; zero is one master and two workers
	late    time.Duration // by how much each message to and from the database server is late
	live    crowd.Crowd   // what is started; zero is a noop of the project that is measured
	then    func(context.Context, *site.Site) (figures.Row, error)
}

// beside measures starts of one project, first alone and then beside another's noises.
func (m *measure) beside(ctx context.Context, n noises) error {
	if n.options.Masters == 0 {
		n.options = site.Options{Masters: 1, Workers: 2, Slots: 16}
	}
	return m.lateCluster(ctx, n.late, n.options, func(s *site.Site) error { return m.besideOn(ctx, s, n) })
}

func (m *measure) besideOn(ctx context.Context, s *site.Site, n noises) error {
	if err := place(s, "live").Save(ctx, crowd.Chain(1, "noop", ""), nil); err != nil {
		return err
	}
	if _, err := s.Client.PutProject(ctx, loud, "Loud"); err != nil {
		return err
	}
	if n.prepare != nil {
		if err := n.prepare(s); err != nil {
			return err
		}
	}
	c := n.live
	c.Site, c.Project, c.Workflow = s, cmp.Or(c.Project, project), cmp.Or(c.Workflow, "live")
	if _, err := c.Lives(ctx, warmLives, liveEvery); err != nil {
		return err
	}
	alone, err := m.series(ctx, c, "alone")
	if err != nil {
		return err
	}
	if n.settle != nil {
		if err := n.settle(ctx, s); err != nil {
			return err
		}
	}
	within, stop := context.WithCancel(ctx)
	var going errgroup.Group
	if n.meanwhile != nil {
		going.Go(func() error { return n.meanwhile(within, s) })
	}
	with, err := m.series(ctx, c, "beside "+n.what)
	stop()
	if e := going.Wait(); err == nil && !errors.Is(e, context.Canceled) {
		err = e
	}
	if err != nil {
		return err
	}
	m.add(fair("start to end of one noop, p50 / p99, one start each "+liveEvery.String()+", beside "+n.what, alone, with, cmp.Or(n.bar, fairBar)))
	if n.then == nil {
		return nil
	}
	row, err := n.then(ctx, s)
	if err == nil {
		m.add(row)
	}
	return err
}

// series measures the starts some times, one after the other.
func (m *measure) series(ctx context.Context, c crowd.Crowd, where string) ([][]time.Duration, error) {
	var all [][]time.Duration
	for range m.runs {
		progress("%d starts %s", m.lives, where)
		took, err := c.Lives(ctx, m.lives, liveEvery)
		if err != nil {
			return nil, err
		}
		all = append(all, took)
	}
	return all, nil
}

// fair is the row of what was measured alone and with something beside it: of each run a p99, of which the median counts, since
// one of a few hundred is that of a few.
func fair(what string, alone, with [][]time.Duration, bar float64) figures.Row {
	quantiles := func(runs [][]time.Duration) (middle, late time.Duration, words string) {
		var lates []time.Duration
		for _, r := range runs {
			lates = append(lates, figures.Quantile(r, 0.99))
		}
		middle, late = figures.Median(slices.Concat(runs...)), figures.Median(lates)
		return middle, late, figures.Milliseconds(middle) + " / " + figures.Milliseconds(late)
	}
	_, before, aloneWords := quantiles(alone)
	_, after, withWords := quantiles(with)
	ratio := figures.Per(after, before)
	told := fmt.Sprintf("p99 ratio <= %.1f", bar)
	if math.IsInf(bar, 1) {
		told = ""
	}
	return figures.Row{
		What: what, Limit: aloneWords + " (alone)", Ours: withWords, N: len(slices.Concat(with...)), Ratio: ratio,
		Bar: told, Missed: ratio > bar, Value: ratio,
	}
}

func loudly(s *site.Site) crowd.Place {
	return crowd.Place{Client: s.Client, Project: loud, Workflow: noise}
}

// besideFlood lets another project start as fast as it can.
func (m *measure) besideFlood(ctx context.Context) error { return m.beside(ctx, m.flood(ctx)) }

func (m *measure) flood(ctx context.Context) noises {
	var had int64
	var took time.Duration
	return noises{
		what:    fmt.Sprintf("another project's flood of starts by %d callers", loudCallers),
		prepare: func(s *site.Site) error { return loudly(s).Save(ctx, crowd.Chain(1, "noop", ""), nil) },
		meanwhile: func(ctx context.Context, s *site.Site) error {
			began := time.Now()
			n, err := crowd.Calls(ctx, loudCallers, func() *crowd.Caller { return crowd.NewStarter(s, loud, noise) }, func(int64) bool { return ctx.Err() == nil })
			had, took = n, time.Since(began)
			return err
		},
		then: func(context.Context, *site.Site) (figures.Row, error) {
			rate := float64(had) / took.Seconds()
			return figures.Row{What: "the same: starts of the flood meanwhile", Ours: fmt.Sprintf("%.0f/s", rate), N: int(had), Value: rate}, nil
		},
	}
}

// besideBurners has processes that only burn the cores, one for each: what beside them is slower is so by the lack of processors alone, and
// is what a noise that keeps all cores busy can't fall below.
func (m *measure) besideBurners(ctx context.Context) error {
	return m.beside(ctx, noises{
		what: fmt.Sprintf("%d busy loops, which want nothing of the product", runtime.NumCPU()),
		bar:  math.Inf(1),
		meanwhile: func(ctx context.Context, _ *site.Site) error {
			var all errgroup.Group
			for range runtime.NumCPU() {
				all.Go(func() error {
					_ = exec.CommandContext(ctx, "sh", "-c", "while :; do :; done").Run() // it is killed in the end
					return ctx.Err()
				})
			}
			return all.Wait()
		},
	})
}

// besideGroup lets another project's tasks wait for a task group of one place.
func (m *measure) besideGroup(ctx context.Context) error {
	return m.beside(ctx, noises{
		what: fmt.Sprintf("another project's %d instances that wait for a full task group", groupWaiting),
		prepare: func(s *site.Site) error {
			if _, err := s.Client.PutTaskGroup(ctx, loud, "narrow", client.TaskGroupWish{Size: 1}); err != nil {
				return err
			}
			return loudly(s).Save(ctx, []crowd.Task{{Name: "a", Type: "shell", Script: "sleep 0.05", TaskGroup: "narrow"}}, nil)
		},
		settle: func(ctx context.Context, s *site.Site) error {
			c := crowd.Crowd{Site: s, Project: loud, Workflow: noise, Callers: loudCallers}
			if _, err := c.Call(ctx, 0, groupWaiting); err != nil {
				return err
			}
			return begun(ctx, s)
		},
	})
}

// begun waits until every start of the other project has been taken by a master.
func begun(ctx context.Context, s *site.Site) error {
	for {
		left, err := s.Client.Instances(ctx, client.Filter{Project: loud, States: []string{string(dag.InstanceSubmitted)}, Limit: 1})
		if err != nil || len(left) == 0 {
			return err
		}
		if err := crowd.Pause(ctx, time.Second/10); err != nil {
			return err
		}
	}
}

// besideBackfill lets another project run each day of a hundred years.
func (m *measure) besideBackfill(ctx context.Context) error {
	return m.beside(ctx, noises{
		what:    fmt.Sprintf("another project's backfill of the days of %d years, %d at once", backfillYears, backfillParallel),
		prepare: func(s *site.Site) error { return loudly(s).Save(ctx, crowd.Chain(1, "noop", ""), nil) },
		meanwhile: func(ctx context.Context, s *site.Site) error {
			for year := 0; year < backfillYears; year += yearsPerBackfill {
				from := time.Date(1971+year, 1, 1, 0, 0, 0, 0, time.UTC)
				wanted := client.BackfillRequest{
					From: from.Format(time.DateOnly), To: from.AddDate(yearsPerBackfill, 0, -1).Format(time.DateOnly), Every: "1d", Parallel: backfillParallel / (backfillYears / yearsPerBackfill),
				}
				plan, err := s.Client.CreateBackfill(ctx, loud, noise, wanted, true)
				if err != nil {
					return err
				}
				wanted.Preview = plan.Token
				if _, err := s.Client.CreateBackfill(ctx, loud, noise, wanted, false); err != nil {
					return err
				}
			}
			return nil
		},
		then: func(ctx context.Context, s *site.Site) (figures.Row, error) {
			by, err := tally(ctx, s, noise)
			all := int(time.Date(1971+backfillYears, 1, 1, 0, 0, 0, 0, time.UTC).Sub(time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour))
			left := all - by[dag.InstanceSuccess]
			return figures.Row{
				What: "the same: dates of the backfill that are left when all of these are over", Ours: fmt.Sprint(left), Bar: "some", Missed: left <= 0, Value: float64(left),
			}, err
		},
	})
}
