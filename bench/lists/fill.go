package main

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"strings"

	"github.com/porpoise/porpoise/sql"
)

const (
	projects  = 10
	workflows = 100 // of all projects
	// born is the first instance's time of creation; they come one second apart.
	born = 1_700_000_000_000
)

// place is where the lists look: a project and a workflow in the middle of the others.
type place struct{ project, workflow int64 }

// fill writes n finished instances, newest last, in turn over the workflows of all projects. Of
// a hundred, whatever their workflow, 97 succeeded, two failed and one was stopped.
func fill(ctx context.Context, s *sql.Store, d database, db *stdsql.DB, n int) (place, error) {
	at, err := define(ctx, s, db)
	if err != nil {
		return at, fmt.Errorf("define %d workflows: %w", workflows, err)
	}
	drop, again, err := d.indexes(ctx, db)
	if err != nil {
		return at, fmt.Errorf("read the indexes: %w", err)
	}
	if err := all(ctx, db, drop...); err != nil {
		return at, err
	}
	first, err := s.NextIDs(ctx, n)
	if err != nil {
		return at, err
	}
	if _, err := db.ExecContext(ctx, instances(n), first, born, born, born, n); err != nil {
		return at, fmt.Errorf("write %d instances: %w", n, err)
	}
	return at, all(ctx, db, again...)
}

// define makes the projects and workflows, and a table of the workflows by number.
func define(ctx context.Context, s *sql.Store, db *stdsql.DB) (at place, err error) {
	err = all(ctx, db, "CREATE TABLE bench_digit (d BIGINT)", "INSERT INTO bench_digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
		"CREATE TABLE bench_workflow (k BIGINT PRIMARY KEY, workflow_id BIGINT, project_id BIGINT)")
	if err != nil {
		return at, err
	}
	for k := range workflows {
		name := fmt.Sprintf("project-%d", k%projects)
		p, err := s.Project(ctx, name)
		if k < projects {
			p, err = s.CreateProject(ctx, sql.Project{Name: name})
		}
		if err != nil {
			return at, err
		}
		w, _, _, err := s.SaveVersion(ctx, sql.SaveVersion{
			ProjectID: p.ID, Name: fmt.Sprintf("workflow-%d", k), Text: "name: w", Format: "yaml", Publish: true,
		})
		if err != nil {
			return at, err
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO bench_workflow VALUES (?, ?, ?)", k, w.ID, p.ID); err != nil {
			return at, err
		}
		if k == workflows/2 {
			at = place{p.ID, w.ID}
		}
	}
	return at, nil
}

// instances is the statement that writes up to n instances. Its values: the first id, three
// times the time of the first, and n.
func instances(n int) string {
	var terms, tables []string
	for power := 1; power < n; power *= 10 {
		terms = append(terms, fmt.Sprintf("%d * d%d.d", power, power))
		tables = append(tables, fmt.Sprintf("bench_digit d%d", power))
	}
	return `INSERT INTO workflow_instance (id, workflow_id, project_id, version, state, reason, round, owner, owner_epoch, crash_count, seq,
		write_id, schedule_time, trigger_key, params, start_tasks, scope, dry_run, worker_group, priority, on_failure, rerun_of, created_by,
		created_at, started_at, finished_at, deadline)
		SELECT ? + n, b.workflow_id, b.project_id, 1,
		CASE WHEN luck < 97 THEN 'success' WHEN luck < 99 THEN 'failed' ELSE 'stopped' END, '', 1, '', 1, 0, 12, 0, n, 'lists', '', '', 'only', 0, '', 2, 'continue', 0, 'lists', ? + 1000 * n, ? + 1000 * n, ? + 1000 * n + 500, 0
		FROM (SELECT n, ((n - n % 100) / 100 + 7 * n) % 100 AS luck
			FROM (SELECT ` + strings.Join(terms, " + ") + ` AS n FROM ` + strings.Join(tables, ", ") + `) AS d) AS r
		JOIN bench_workflow b ON b.k = r.n % 100 WHERE n < ? ORDER BY n`
}

// all runs the statements in their order.
func all(ctx context.Context, db *stdsql.DB, texts ...string) error {
	for _, text := range texts {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%.60s: %w", text, err)
		}
	}
	return nil
}
