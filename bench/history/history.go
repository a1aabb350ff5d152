// Package history fills a store with finished instances, as years of work leave them behind.
//
// It owns what these are like: in turn over the workflows of some projects, nearly all succeeded. It measures nothing;
// the programs in bench that do so use it, with a connection beside the store's.
package history

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"strings"

	"github.com/porpoise/porpoise/sql"
)

const (
	projects = 10
	// Workflows are those of all projects.
	Workflows = 100
	// Born is the first instance's time of creation; they come one second apart.
	Born = 1_700_000_000_000
)

// Place is where lists look: a project and a workflow in the middle of the others.
type Place struct{ Project, Workflow int64 }

// Fill writes n finished instances, newest last, in turn over the workflows of all projects. Of a hundred, whatever their
// workflow, 97 succeeded, two failed and one was stopped. Each has one task, where tasks says so. It returns the place and
// the id of the first.
func Fill(ctx context.Context, s *sql.Store, db *stdsql.DB, n int, tasks bool) (at Place, first int64, err error) {
	if at, err = define(ctx, s, db); err != nil {
		return at, 0, fmt.Errorf("define %d workflows: %w", Workflows, err)
	}
	if first, err = s.NextIDs(ctx, n); err != nil {
		return at, 0, err
	}
	// In parts: a transaction of a million rows would keep everybody else waiting.
	for from := 0; from < n; from += part {
		if _, err := db.ExecContext(ctx, instances(min(n, part)), first+int64(from), from, Born+1000*from, Born+1000*from, Born+1000*from, min(part, n-from)); err != nil {
			return at, 0, fmt.Errorf("write %d instances: %w", n, err)
		}
		if !tasks {
			continue
		}
		if _, err := db.ExecContext(ctx, `INSERT INTO task_instance (instance_id, task_index, name, type, state, reason, round, attempts, retries, lost, ready_at, next_at,
			started_at, finished_at, outputs) SELECT id, 0, 'a', 'noop', 'success', '', 1, 1, 0, 0, created_at, 0, created_at, finished_at, '' FROM workflow_instance
			WHERE id >= ? AND id < ?`, first+int64(from), first+int64(min(from+part, n))); err != nil {
			return at, 0, fmt.Errorf("write tasks: %w", err)
		}
	}
	return at, first, nil
}

// part is how many instances are written at once.
const part = 100_000

// define makes the projects and workflows, and a table of the workflows by number.
func define(ctx context.Context, s *sql.Store, db *stdsql.DB) (at Place, err error) {
	err = All(ctx, db, "CREATE TABLE bench_digit (d BIGINT)", "INSERT INTO bench_digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
		"CREATE TABLE bench_workflow (k BIGINT PRIMARY KEY, workflow_id BIGINT, project_id BIGINT)")
	if err != nil {
		return at, err
	}
	for k := range Workflows {
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
		if k == Workflows/2 {
			at = Place{p.ID, w.ID}
		}
	}
	return at, nil
}

// instances is the statement that writes up to n instances. Its values: the first id, how many were written before, three
// times the time of the first, and how many.
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
		CASE WHEN luck < 97 THEN 'success' WHEN luck < 99 THEN 'failed' ELSE 'stopped' END, '', 1, '', 1, 0, 12, 0, ? + n, 'lists', '', '', 'only', 0, '', 2, 'continue', 0, 'lists', ? + 1000 * n, ? + 1000 * n, ? + 1000 * n + 500, 0
		FROM (SELECT n, ((n - n % 100) / 100 + 7 * n) % 100 AS luck
			FROM (SELECT ` + strings.Join(terms, " + ") + ` AS n FROM ` + strings.Join(tables, ", ") + `) AS d) AS r
		JOIN bench_workflow b ON b.k = r.n % 100 WHERE n < ? ORDER BY n`
}

// All runs the statements in their order.
func All(ctx context.Context, db *stdsql.DB, texts ...string) error {
	for _, text := range texts {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%.60s: %w", text, err)
		}
	}
	return nil
}
