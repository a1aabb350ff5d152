package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

const (
	project = "bench"
	idleBar = 20 * time.Millisecond
	// perSchedule is generous for what it takes to make one, and ahead for what it takes to plan them all.
	perSchedule = 10 * time.Millisecond
	ahead       = 30 * time.Second
	settled     = 2 * time.Minute
)

// bars are those of bursts, by how many schedules they have.
var bars = map[int]time.Duration{1000: 100 * time.Millisecond, 10_000: 600 * time.Millisecond}

// bed is a cluster with the store beside it: schedules are made in it, so that this takes no longer than it must.
type bed struct {
	*site.Site
	store *sql.Store
}

// begin starts a cluster with a project, and opens its store.
func begin(ctx context.Context, o site.Options) (*bed, error) {
	s, err := site.Cluster(ctx, o)
	if err != nil {
		return nil, err
	}
	b := &bed{Site: s}
	if b.store, err = sql.Open(ctx, sql.Config{DSN: s.DSN}); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	if _, err := s.Client.PutProject(ctx, project, ""); err != nil {
		return nil, errors.Join(err, b.end())
	}
	return b, nil
}

func (b *bed) end() error { return errors.Join(b.store.Close(), b.Stop()) }

func measure(ctx context.Context, o options, bursts []int, database string) (out []lateness, err error) {
	b, err := begin(ctx, site.Options{Binary: o.porpoise, Database: database, Masters: 1, Workers: 1})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.end()) }()
	for _, n := range bursts {
		l, err := b.burst(ctx, n)
		if err != nil {
			return out, fmt.Errorf("%d schedules of one second: %w", n, err)
		}
		out = append(out, l)
	}
	if o.idle > 0 {
		l, err := b.idle(ctx, o.idle)
		if err != nil {
			return out, fmt.Errorf("one schedule each second: %w", err)
		}
		out = append(out, l)
	}
	return out, nil
}

// workflow saves a workflow of one noop task.
func (b *bed) workflow(ctx context.Context, name string) (sql.Workflow, error) {
	text := []byte("name: " + name + "\ntasks:\n  - name: only\n    type: noop\n")
	if _, err := b.Client.SaveWorkflow(ctx, client.Save{Project: project, Workflow: name, Format: "yaml", Text: text, Match: "*", Publish: true}); err != nil {
		return sql.Workflow{}, fmt.Errorf("save workflow %s: %w", name, err)
	}
	p, err := b.store.Project(ctx, project)
	if err != nil {
		return sql.Workflow{}, err
	}
	return b.store.Workflow(ctx, p.ID, name)
}

// schedules makes n enabled schedules, as many as one workflow takes of each.
func (b *bed) schedules(ctx context.Context, name string, n int, spec func(i int) schedule.Spec) (made []sql.Schedule, err error) {
	var workflow sql.Workflow
	for i := range n {
		if i%sql.MaxSchedules == 0 {
			if workflow, err = b.workflow(ctx, fmt.Sprintf("%s-%d", name, i/sql.MaxSchedules)); err != nil {
				return nil, err
			}
		}
		sch, _, err := b.store.SaveSchedule(ctx, sql.Schedule{WorkflowID: workflow.ID, Name: fmt.Sprint("s", i), Enabled: true, Spec: spec(i), ChangedBy: "bench"}, 0)
		if err != nil {
			return nil, err
		}
		made = append(made, sch)
	}
	return made, nil
}

// burst has n schedules due at one moment.
func (b *bed) burst(ctx context.Context, n int) (lateness, error) {
	l := lateness{what: fmt.Sprintf("%d schedules due in the same second", n), bar: bars[n]}
	at := time.Now().Add(time.Duration(n)*perSchedule + ahead).Truncate(time.Second)
	spec := schedule.Spec{At: []string{at.UTC().Format(time.RFC3339)}}
	progress("%d schedules for %s", n, spec.At[0])
	made, err := b.schedules(ctx, fmt.Sprint("burst-", n), n, func(int) schedule.Spec { return spec })
	if err != nil {
		return l, err
	}
	if left := time.Until(at); left < ahead/2 {
		return l, fmt.Errorf("it took so long to make them that %s are left", left)
	}
	return l, b.collect(ctx, &l, made, at, 1)
}

// idle has one schedule that fires each second.
func (b *bed) idle(ctx context.Context, d time.Duration) (lateness, error) {
	l := lateness{what: fmt.Sprintf("one schedule each second for %s, nothing else", d), bar: idleBar}
	workflow, err := b.workflow(ctx, "idle")
	if err != nil {
		return l, err
	}
	progress("one schedule for %s", d)
	sch, _, err := b.store.SaveSchedule(ctx, sql.Schedule{WorkflowID: workflow.ID, Name: "tick", Enabled: true, Spec: schedule.Spec{Cron: "* * * * * *"}, ChangedBy: "bench"}, 0)
	if err != nil {
		return l, err
	}
	// Those of the first seconds are planned when they are due already.
	if err := sleep(ctx, 5*time.Second); err != nil {
		return l, err
	}
	from := time.Now().Truncate(time.Second).Add(time.Second)
	if err := sleep(ctx, d); err != nil {
		return l, err
	}
	n := int(d / time.Second)
	return l, b.collect(ctx, &l, []sql.Schedule{sch}, from, n)
}

// collect waits until each schedule has fired n times from a moment on, second by second, and takes how late that was.
func (b *bed) collect(ctx context.Context, l *lateness, of []sql.Schedule, from time.Time, n int) error {
	if err := sleep(ctx, time.Until(from)); err != nil {
		return err
	}
	if err := b.closed(ctx, from, from.Add(time.Duration(n)*time.Second), len(of)*n); err != nil {
		return err
	}
	for _, sch := range of {
		for cursor, i := "", 0; i < n; {
			fires, next, err := b.store.Fires(ctx, sch.ID, dag.MillisOf(from), math.MaxInt64, "", sql.Page{Cursor: cursor, Limit: 200})
			if err != nil {
				return err
			}
			for _, f := range fires[:min(len(fires), n-i)] {
				if want := dag.MillisOf(from) + dag.Millis(i*1000); f.At != want || f.State != schedule.Fired {
					return fmt.Errorf("schedule %s: the fire of %d is %s (%s), want one of %d that fired", sch.Name, f.At, f.State, f.Reason, want)
				}
				l.late = append(l.late, f.FiredAt.Sub(f.Due))
				i++
			}
			if cursor = next; next == "" && i < n {
				return fmt.Errorf("schedule %s has %d fires, want %d", sch.Name, i, n)
			}
		}
	}
	return nil
}

// closed waits until no fire that is due from one moment until before another is open.
func (b *bed) closed(ctx context.Context, from, until time.Time, most int) error {
	for limit := time.Now().Add(settled); ; {
		open, err := b.store.DueFires(ctx, dag.MillisOf(from), dag.MillisOf(until), most)
		if err != nil || len(open) == 0 {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%d fires are open after %s", len(open), settled)
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// progress says on standard error what is done.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "schedules: "+format+"\n", args...)
}
