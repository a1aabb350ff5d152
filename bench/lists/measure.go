package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/history"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const (
	pageRows = 50   // of a page, as the console asks
	deepPage = 1000 // the page that a person never reaches, and a script does

	histogramBars, gridColumns = 60, 10
)

// What is counted ends at a bound of each state, of which three have instances here, so a small store is no measure for it:
// some microseconds for each row that counts. Each walk also reads the row at which it ends.
var (
	counted = bound{3*2*sql.MaxCount + spareRows, 10 * time.Millisecond}
	drawn   = bound{3*3*sql.MaxCounted + spareRows, 40 * time.Millisecond}
)

// list is one list and how it is asked for.
type list struct {
	what  string
	ask   func(context.Context) (shown int, err error)
	bound bound // of one that counts; zero: it may cost little more than in a small store
}

// result is what one list cost.
type result struct {
	what     string
	shown    int
	examined int64 // rows; -1 where the database does not count
	p50, p99 time.Duration
	bound    bound
}

// results are all lists of one store.
type results struct {
	database  string
	instances int
	lists     []result
}

// measure fills a database and asks for every list.
func measure(ctx context.Context, d database, n, repeats int) (out results, err error) {
	db, err := d.create(ctx)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, d.remove(context.WithoutCancel(ctx), db), db.Close()) }()
	out.instances = n
	if out.database, err = d.name(ctx, db); err != nil {
		return out, err
	}
	s, err := sql.Open(ctx, sql.Config{DSN: d.dsn()})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Migrate(ctx); err != nil {
		return out, err
	}
	began := time.Now()
	drop, again, err := d.indexes(ctx, db)
	if err != nil {
		return out, fmt.Errorf("read the indexes: %w", err)
	}
	if err := history.All(ctx, db, drop...); err != nil {
		return out, err
	}
	at, _, err := history.Fill(ctx, s, db, n, false)
	if err != nil {
		return out, err
	}
	if err := history.All(ctx, db, again...); err != nil {
		return out, err
	}
	progress("%s: %d instances written in %v", out.database, n, time.Since(began).Round(time.Millisecond))
	asked, err := lists(ctx, s, at, n)
	if err != nil {
		return out, err
	}
	for _, l := range asked {
		r, err := cost(ctx, d, db, l, repeats)
		if err != nil {
			return out, fmt.Errorf("%s: %w", l.what, err)
		}
		out.lists = append(out.lists, r)
	}
	return out, nil
}

// lists are those that the console and the API show.
func lists(ctx context.Context, s *sql.Store, at history.Place, n int) ([]list, error) {
	page := func(what string, f sql.InstanceFilter, cursor string) list {
		return list{what: what, ask: func(ctx context.Context) (int, error) {
			rows, _, err := s.Instances(ctx, f, sql.Page{Limit: pageRows, Cursor: cursor})
			return len(rows), err
		}}
	}
	counts := func(what string, f sql.InstanceFilter) list {
		return list{what: what, bound: counted, ask: func(ctx context.Context) (int, error) {
			by, err := s.InstanceCounts(ctx, f)
			return len(by), err
		}}
	}
	deep, number, err := turn(ctx, s, min(deepPage, n/pageRows))
	if err != nil {
		return nil, fmt.Errorf("turn to page %d: %w", deepPage, err)
	}
	failed, none := []dag.InstanceState{dag.InstanceFailed}, []dag.InstanceState{dag.InstanceRunning}
	middle := dag.Millis(history.Born + 500*n)
	return []list{
		page("newest first", sql.InstanceFilter{}, ""),
		page("of a project", sql.InstanceFilter{ProjectIDs: []int64{at.Project}}, ""),
		page("of a workflow", sql.InstanceFilter{WorkflowID: at.Workflow}, ""),
		page("failed", sql.InstanceFilter{States: failed}, ""),
		page("failed, of a project", sql.InstanceFilter{ProjectIDs: []int64{at.Project}, States: failed}, ""),
		page("running (there are none)", sql.InstanceFilter{States: none}, ""),
		page("created in the older half", sql.InstanceFilter{To: middle}, ""),
		page(fmt.Sprintf("page %d (the last of a smaller store)", deepPage), sql.InstanceFilter{}, deep),
		counts("counts by state", sql.InstanceFilter{}),
		counts("counts by state, of a project", sql.InstanceFilter{ProjectIDs: []int64{at.Project}}),
		counts("counts by state, of a workflow", sql.InstanceFilter{WorkflowID: at.Workflow}),
		{what: "histogram of a project", bound: drawn, ask: func(ctx context.Context) (int, error) {
			h, err := s.InstanceHistogram(ctx, sql.InstanceFilter{ProjectIDs: []int64{at.Project}}, histogramBars)
			return len(h.Bars), err
		}},
		{what: fmt.Sprintf("grid of a workflow: its newest %d and their cells", gridColumns), ask: func(ctx context.Context) (int, error) {
			rows, _, err := s.Instances(ctx, sql.InstanceFilter{WorkflowID: at.Workflow}, sql.Page{Limit: gridColumns})
			for i := 0; i < len(rows) && err == nil; i++ {
				_, err = s.Cells(ctx, rows[i].ID)
			}
			return len(rows), err
		}},
		{what: "tasks that run (there are none)", ask: func(ctx context.Context) (int, error) {
			rows, _, err := s.LiveTasks(ctx, sql.LiveTaskFilter{States: []dag.TaskState{dag.TaskRunning}}, sql.Page{Limit: pageRows})
			return len(rows), err
		}},
		{what: "a start, with its durable commit", ask: func(ctx context.Context) (int, error) {
			_, _, err := s.Start(ctx, sql.Start{WorkflowID: at.Workflow, ProjectID: at.Project, Version: 1})
			return 1, err
		}},
	}, checkTurn(number, n)
}

// turn follows the cursors to a page and returns the one that opens it.
func turn(ctx context.Context, s *sql.Store, to int) (cursor string, number int, err error) {
	for number = 1; number < to; number++ {
		_, next, err := s.Instances(ctx, sql.InstanceFilter{}, sql.Page{Limit: pageRows, Cursor: cursor})
		if err != nil || next == "" {
			return cursor, number, err
		}
		cursor = next
	}
	return cursor, number, nil
}

// checkTurn refuses a list whose cursors ended early: its last page would not be the one named.
func checkTurn(number, n int) error {
	if want := max(1, min(deepPage, n/pageRows)); number != want {
		return fmt.Errorf("the cursors ended at page %d of %d instances, want %d", number, n, want)
	}
	return nil
}

// cost asks for a list once to warm it, once to count, and then for its times.
func cost(ctx context.Context, d database, db *stdsql.DB, l list, repeats int) (r result, err error) {
	r = result{what: l.what, examined: -1, bound: l.bound}
	if r.shown, err = l.ask(ctx); err != nil {
		return r, err
	}
	// Reading the counters counts, too.
	var before [3]int64
	counted := false
	for i := range before {
		if i == 2 {
			if _, err = l.ask(ctx); err != nil {
				return r, err
			}
		}
		if before[i], counted, err = d.examined(ctx, db); err != nil {
			return r, fmt.Errorf("read the counters: %w", err)
		}
	}
	if counted {
		r.examined = before[2] - before[1] - (before[1] - before[0])
	}
	took := make([]time.Duration, repeats)
	for i := range took {
		began := time.Now()
		if _, err := l.ask(ctx); err != nil {
			return r, err
		}
		took[i] = time.Since(began)
	}
	r.p50, r.p99 = figures.Median(took), figures.Quantile(took, 0.99)
	return r, nil
}

// markdown is the table of one database: each list on few instances and on many.
func markdown(few, many results) string {
	var rows [][]string
	for i, m := range many.lists {
		f := few.lists[i]
		bar := fmt.Sprintf("%.1f times + %d rows, %s ms", slack, spareRows, ms(spareTime))
		if m.bound != (bound{}) {
			bar = fmt.Sprintf("%d rows, %s ms", m.bound.rows, ms(m.bound.time))
		}
		rows = append(rows, []string{
			m.what, fmt.Sprintf("%d, %s", f.shown, f.rows()), ms(f.p50) + " / " + ms(f.p99), fmt.Sprintf("%d, %s", m.shown, m.rows()), ms(m.p50) + " / " + ms(m.p99),
			bar, figures.Met(m.above(f) == ""),
		})
	}
	return fmt.Sprintf("\n%s, pages of %d. Rows: those shown, and those that the database read for it; times in ms, of which the median has the bar.\n\n", many.database, pageRows) +
		figures.Table([]string{"list", fmt.Sprintf("%d instances: rows", few.instances), "p50 / p99", fmt.Sprintf("%d instances: rows", many.instances), "p50 / p99", "bar", "met"}, rows)
}
