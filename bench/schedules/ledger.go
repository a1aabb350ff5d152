package main

import (
	"cmp"
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// maxTold bounds the mistakes of a ledger that are told: the first ones show the fault.
const maxTold = 10

// moment is one of those at which a schedule is to fire.
type moment struct {
	source int64
	at     dag.Millis
}

// entry is a row of the fires.
type entry struct {
	moment
	due, fired dag.Millis
	state      schedule.State
	reason     string
	instance   int64
}

// ledger is what a database has of a stretch of moments: its fires, and what each instance says that it is about.
type ledger struct {
	fires  []entry
	starts map[int64]moment
}

// planned returns the moments of n schedules from one until before another, by their rules alone.
func planned(n int, one func(i int) sql.Schedule, from, until dag.Millis) (map[moment]bool, error) {
	all := map[moment]bool{}
	for i := range n {
		sch := one(i)
		plan, wrong := sch.Spec.Compile(sch.ID, nil, 0)
		if len(wrong) > 0 {
			return nil, fmt.Errorf("schedule %s: %w", sch.Name, wrong[0])
		}
		fires, _ := plan.Fires(from, until, int(until-from)/1000+1)
		for _, f := range fires {
			all[moment{sch.ID, f.At}] = true
		}
	}
	return all, nil
}

// open opens what a store has open beside it.
func open(dsn string) (*stdsql.DB, error) {
	driver, place, _ := strings.Cut(dsn, ":")
	if driver == "sqlite" {
		place = "file:" + place + "?_pragma=busy_timeout(10000)"
	}
	return stdsql.Open(driver, place)
}

// readLedger reads the ledger of the moments from one until before another.
func readLedger(ctx context.Context, db *stdsql.DB, from, until dag.Millis) (ledger, error) {
	l := ledger{starts: map[int64]moment{}}
	err := each(ctx, db, `SELECT source_id, planned_at, due_at, fired_at, state, reason, instance_id FROM fire WHERE planned_at >= ? AND planned_at < ?`,
		[]any{from, until}, func(scan func(...any) error) error {
			var e entry
			err := scan(&e.source, &e.at, &e.due, &e.fired, &e.state, &e.reason, &e.instance)
			l.fires = append(l.fires, e)
			return err
		})
	if err != nil {
		return l, fmt.Errorf("read fires: %w", err)
	}
	err = each(ctx, db, `SELECT id, trigger_key, schedule_time FROM workflow_instance WHERE schedule_time >= ? AND schedule_time < ?`,
		[]any{from, until}, func(scan func(...any) error) error {
			var id int64
			var key string
			var of moment
			err := scan(&id, &key, &of.at)
			of.source, _ = sql.ScheduleOf(key) // 0 is no schedule, and so none of them
			l.starts[id] = of
			return err
		})
	if err != nil {
		return l, fmt.Errorf("read instances: %w", err)
	}
	return l, nil
}

// each calls a function for each row of a query.
func each(ctx context.Context, db *stdsql.DB, query string, args []any, row func(scan func(...any) error) error) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// late is how late the fires were that fired.
func (l *ledger) late() (all []time.Duration) {
	for _, f := range l.fires {
		if f.state == schedule.Fired {
			all = append(all, f.fired.Sub(f.due))
		}
	}
	return all
}

// holds wants the ledger to be what was planned: each moment has fired once, into one instance of its own, and nothing
// else is there. It tells the first mistakes, and how many there are.
func (l *ledger) holds(planned map[moment]bool) error {
	var wrong []error
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	seen, by := map[moment]bool{}, map[int64]moment{}
	for _, f := range l.fires {
		seen[f.moment] = true
		if !planned[f.moment] {
			bad("schedule %d has a fire of %d, which no rule names", f.source, f.at)
		}
		if f.state != schedule.Fired {
			bad("schedule %d: the fire of %d is %s (%s)", f.source, f.at, f.state, f.reason)
			continue
		}
		if other, taken := by[f.instance]; taken {
			bad("schedule %d: the fire of %d has instance %d, as that of schedule %d of %d", f.source, f.at, f.instance, other.source, other.at)
		}
		by[f.instance] = f.moment
		if l.starts[f.instance] != f.moment {
			bad("schedule %d: the fire of %d has instance %d, which is not there or not about it", f.source, f.at, f.instance)
		}
	}
	for m := range planned {
		if !seen[m] {
			bad("schedule %d has no fire of %d", m.source, m.at)
		}
	}
	for id, of := range l.starts {
		if _, fired := by[id]; !fired {
			bad("instance %d of schedule %d at %d was started by no fire", id, of.source, of.at)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.SortFunc(wrong, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return fmt.Errorf("%d mistakes in a ledger of %d fires: %w", len(wrong), len(l.fires), errors.Join(wrong[:min(len(wrong), maxTold)]...))
}
