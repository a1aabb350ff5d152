package main

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

const (
	// period is how often one of very many schedules fires: 1 % of them each minute.
	period = 100 * time.Minute
	// perRow is generous for the filling and the first planning of one of them, beside which none is due.
	perRow = 600 * time.Microsecond
	// The bars of all masters together, while little is due of very much.
	coreBar   = 1.0
	memoryBar = 1 << 30
	// plannedIn bounds the first planning, and memoryEvery is how often memory is looked at.
	plannedIn   = 30 * time.Minute
	memoryEvery = 5 * time.Second
)

// cost is a figure that is no time: what, how much, and the most that it may be; a bar of 0 is none.
type cost struct {
	what, unit string
	measured   float64
	bar        float64
}

// report prints costs, and tells those above their bars.
func report(costs []cost) error {
	if len(costs) == 0 {
		return nil
	}
	var rows [][]string
	var missed []error
	for _, c := range costs {
		row := []string{c.what, fmt.Sprintf("%.2f %s", c.measured, c.unit), "", ""}
		if c.bar > 0 {
			row[2], row[3] = fmt.Sprintf("%.0f %s", c.bar, c.unit), figures.Met(c.measured <= c.bar)
			if c.measured > c.bar {
				missed = append(missed, fmt.Errorf("%s: %.2f %s, the bar is %.0f", c.what, c.measured, c.unit, c.bar))
			}
		}
		rows = append(rows, row)
	}
	fmt.Print("\n" + figures.Table([]string{"what", "measured", "bar", "met"}, rows))
	return errors.Join(missed...)
}

// many defines very many schedules, has them planned, and measures what they cost while 1 % of them is due each minute.
func many(ctx context.Context, o options, database string) (l lateness, costs []cost, err error) {
	l = lateness{what: fmt.Sprintf("%d schedules, of which 1 %% are due each minute, for %s", o.defined, o.steady), bar: survivedBar}
	b, err := begin(ctx, site.Options{Binary: o.porpoise, Database: database, Masters: masters, Workers: 1})
	if err != nil {
		return l, nil, err
	}
	defer func() { err = errors.Join(err, b.end()) }()
	// The first of them is due when all are planned: that is measured by itself.
	base := time.Now().Add(time.Duration(o.defined)*perRow + ahead).Truncate(time.Minute).Add(time.Minute)
	began := time.Now()
	one, err := b.fill(ctx, o.defined, base)
	if err != nil {
		return l, nil, fmt.Errorf("define %d schedules: %w", o.defined, err)
	}
	progress("%d schedules defined in %s", o.defined, time.Since(began).Round(time.Second))
	began = time.Now()
	before, err := b.masters()
	if err != nil {
		return l, nil, err
	}
	if err := b.allPlanned(ctx, began); err != nil {
		return l, nil, err
	}
	took := time.Since(began)
	after, err := b.masters()
	if err != nil {
		return l, nil, err
	}
	progress("all planned in %s", took.Round(time.Second))
	costs = []cost{
		{what: fmt.Sprintf("to plan %d schedules for the first time", o.defined), unit: "s", measured: took.Seconds()},
		{what: "cores of the masters meanwhile", unit: "cores", measured: (after.CPU - before.CPU).Seconds() / took.Seconds()},
	}
	from := time.Now()
	if from.Before(base) {
		from = base
	}
	from = from.Truncate(time.Minute).Add(time.Minute)
	until := from.Add(o.steady)
	of, err := b.watch(ctx, from, until)
	if costs = append(costs, of...); err != nil {
		return l, costs, err
	}
	if err := b.closed(ctx, time.UnixMilli(first), until, maxTold); err != nil {
		return l, costs, err
	}
	rules, err := planned(o.defined, one, dag.MillisOf(from), dag.MillisOf(until))
	if err != nil {
		return l, costs, err
	}
	return l, costs, b.prove(ctx, &l, rules, dag.MillisOf(from), dag.MillisOf(until))
}

// fill makes n schedules by statements of their own, since one call for each would take an hour. They stand as
// sql.Store.SaveSchedule makes them, and are due in turn, each second as many as any other, from base on. It returns what
// tells each of them: all together they would take more memory than what is measured.
func (b *bed) fill(ctx context.Context, n int, base time.Time) (one func(i int) sql.Schedule, err error) {
	db, err := open(b.DSN)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	id, err := b.store.NextIDs(ctx, n)
	if err != nil {
		return nil, err
	}
	one = func(i int) sql.Schedule {
		start := base.Add(time.Duration(i%int(period/time.Second)) * time.Second)
		return sql.Schedule{ID: id + int64(i), Name: fmt.Sprint("s", i), Spec: schedule.Spec{Cron: "@every " + period.String(), Start: start.UTC().Format(time.RFC3339)}}
	}
	for i := 0; i < n; i += sql.MaxSchedules {
		workflow, err := b.workflow(ctx, fmt.Sprint("many-", i/sql.MaxSchedules))
		if err != nil {
			return nil, err
		}
		if err := insert(ctx, db, workflow, i, min(i+sql.MaxSchedules, n), one); err != nil {
			return nil, err
		}
	}
	return one, nil
}

// insert makes the schedules from one number until before another, of one workflow.
func insert(ctx context.Context, db *stdsql.DB, workflow sql.Workflow, from, until int, one func(i int) sql.Schedule) error {
	now := dag.MillisOf(time.Now())
	var args []any
	for i := from; i < until; i++ {
		sch := one(i)
		spec, err := json.Marshal(sch.Spec)
		if err != nil {
			return err
		}
		args = append(args, sch.ID, workflow.ProjectID, workflow.ID, sch.Name, dag.FoldName(sch.Name), string(spec), now, now, now)
	}
	const row = `(?, ?, ?, ?, ?, ?, 1, 1, '', ?, 'bench', ?, 'bench', ?)`
	_, err := db.ExecContext(ctx, `INSERT INTO schedule (id, project_id, workflow_id, name, name_key, spec, revision, enabled, why, planned_until, created_by, created_at, changed_by, changed_at)
		VALUES `+strings.Repeat(row+", ", until-from-1)+row, args...)
	return err
}

// allPlanned waits until every schedule is planned beyond a moment from which on all of them were there.
func (b *bed) allPlanned(ctx context.Context, since time.Time) error {
	for limit := time.Now().Add(plannedIn); ; {
		left, _, err := b.store.UnplannedSchedules(ctx, dag.MillisOf(since)+1, 1, func(int64) bool { return true })
		if err != nil || len(left) == 0 {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("schedules are not planned after %s", plannedIn)
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// masters is what the masters use, together.
func (b *bed) masters() (sum site.Cost, err error) {
	for i := range masters {
		c, err := b.Part(fmt.Sprintf("master-%d", i+1)).Cost()
		if err != nil {
			return sum, err
		}
		sum.Processes++
		sum.RSS += c.RSS
		sum.CPU += c.CPU
	}
	return sum, nil
}

// watch measures what the masters use from one moment until another.
func (b *bed) watch(ctx context.Context, from, until time.Time) ([]cost, error) {
	progress("measured from %s until %s", from.Format(time.TimeOnly), until.Format(time.TimeOnly))
	if err := sleep(ctx, time.Until(from)); err != nil {
		return nil, err
	}
	before, err := b.masters()
	if err != nil {
		return nil, err
	}
	began, most := time.Now(), before.RSS
	for {
		if err := sleep(ctx, min(memoryEvery, time.Until(until))); err != nil {
			return nil, err
		}
		now, err := b.masters()
		if err != nil {
			return nil, err
		}
		most = max(most, now.RSS)
		if time.Now().Before(until) {
			continue
		}
		return []cost{
			{what: "cores of the masters, once all are planned", unit: "cores", measured: (now.CPU - before.CPU).Seconds() / time.Since(began).Seconds(), bar: coreBar},
			{what: "memory of the masters, at most", unit: "MiB", measured: float64(most) / (1 << 20), bar: memoryBar >> 20},
		}, nil
	}
}
