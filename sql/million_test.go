package sql

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/porpoise/porpoise/dag"
)

// million is how many instances the lists are tried on.
var million = int64(math.Pow10(fillDigits))

// fillMillion writes a million instances of ten projects, each with ten workflows: nearly all
// succeeded; of the other states there are a thousand each, the oldest.
func fillMillion(t *testing.T, s *Store) {
	t.Helper()
	ctx := context.Background()
	do := func(text string) {
		t.Helper()
		if _, err := s.db.ExecContext(ctx, text); err != nil {
			t.Fatalf("%.80s: %v", text, err)
		}
	}
	if !s.dial.mysql {
		do("PRAGMA synchronous = OFF")
		do("PRAGMA cache_size = -262144")
	}
	// Indexes are made after the rows, which takes a fifth of the time.
	indexes := map[string]string{
		"instance_trigger":  "UNIQUE INDEX instance_trigger ON workflow_instance (workflow_id, schedule_time, trigger_key)",
		"instance_state":    "INDEX instance_state ON workflow_instance (state, created_at, id)",
		"instance_project":  "INDEX instance_project ON workflow_instance (project_id, state, created_at, id)",
		"instance_workflow": "INDEX instance_workflow ON workflow_instance (workflow_id, state, created_at, id)",
	}
	for name := range indexes {
		if s.dial.mysql {
			do("DROP INDEX " + name + " ON workflow_instance")
		} else {
			do("DROP INDEX " + name)
		}
	}
	do("CREATE TABLE digit (n INTEGER)")
	do("INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
	var terms, tables []string
	for i := range fillDigits {
		terms = append(terms, fmt.Sprintf("%d * d%d.n", int64(math.Pow10(i)), i))
		tables = append(tables, fmt.Sprintf("digit d%d", i))
	}
	do(`INSERT INTO workflow_instance (` + strings.Join(instanceInsert.cols, ", ") + `)
		SELECT n + 1, n % 100 + 1, n % 10 + 1, 1, CASE WHEN n >= 9000 THEN 'success' WHEN n % 9 = 0 THEN 'running' WHEN n % 9 = 1 THEN 'failed'
		WHEN n % 9 = 2 THEN 'stopped' WHEN n % 9 = 3 THEN 'paused' WHEN n % 9 = 4 THEN 'submitted' ELSE 'quarantined' END,
		'', 1, CASE WHEN n < 9000 AND n % 9 = 0 THEN 'm1:a' ELSE '' END, 1, 0, 5, 0, n, 's1', '', '', 'only', 0, '', 2, 'continue', 0, 'ann',
		1000 + n, 0, 0, 0, 0, '', 0, 0, '' FROM (SELECT ` + strings.Join(terms, " + ") + ` AS n FROM ` + strings.Join(tables, ", ") + `) AS r`)
	few := min(4, fillDigits)
	do(`INSERT INTO command (id, kind, instance_id, project_id, slot, priority, created_at)
		SELECT n + 1, 'start', n + 1, n % 10 + 1, n % 16, 2, 1000 + n FROM (SELECT ` + strings.Join(terms[:few], " + ") + ` AS n FROM ` + strings.Join(tables[:few], ", ") + `) AS r`)
	for _, text := range indexes {
		do("CREATE " + text)
	}
	if s.dial.mysql {
		do("ANALYZE TABLE workflow_instance")
	}
}

// millionLists are the lists that a page shows, on filters that are hard in their own way.
func millionLists(t *testing.T, s *Store) map[string]func() int {
	t.Helper()
	ctx := context.Background()
	instances := func(f InstanceFilter, page Page) func() int {
		return func() int {
			rows, _, err := s.Instances(ctx, f, page)
			if err != nil {
				t.Error(err)
			}
			return len(rows)
		}
	}
	middle, err := encodeCursor("instances", listCursor{At: dag.Millis(1000 + million/2), ID: million / 2})
	if err != nil {
		t.Fatal(err)
	}
	counts := func(f InstanceFilter) func() int {
		return func() int {
			n, err := s.InstanceCounts(ctx, f)
			if err != nil {
				t.Error(err)
			}
			return len(n)
		}
	}
	live := func(f LiveTaskFilter) func() int {
		return func() int {
			rows, _, err := s.LiveTasks(ctx, f, Page{Limit: 50})
			if err != nil {
				t.Error(err)
			}
			return len(rows)
		}
	}
	histogram := func(f InstanceFilter) func() int {
		return func() int {
			h, err := s.InstanceHistogram(ctx, f, 60)
			if err != nil {
				t.Error(err)
			}
			return len(h.Bars)
		}
	}
	next := func(slots []bool) func() int {
		return func() int {
			rows, _, err := s.Commands(ctx, slots, 200, CommandCursor{})
			if err != nil {
				t.Error(err)
			}
			return len(rows)
		}
	}
	return map[string]func() int{
		"next commands":           next(nil),
		"next commands, of slots": next([]bool{true, false, false, true, false, false, false, false}),
		"all":                     instances(InstanceFilter{}, Page{Limit: 50}),
		"all, from the middle":    instances(InstanceFilter{}, Page{Limit: 50, Cursor: middle}),
		"a rare state":            instances(InstanceFilter{States: []dag.InstanceState{dag.InstanceFailed}}, Page{Limit: 50}),
		"two projects":            instances(InstanceFilter{ProjectIDs: []int64{3, 4}}, Page{Limit: 50}),
		"a project's rare states": instances(InstanceFilter{ProjectIDs: []int64{3}, States: []dag.InstanceState{dag.InstanceFailed, dag.InstancePaused}}, Page{Limit: 50}),
		"a workflow":              instances(InstanceFilter{WorkflowID: 42}, Page{Limit: 50, Cursor: middle}),
		"a workflow's rare state": instances(InstanceFilter{WorkflowID: 42, States: []dag.InstanceState{dag.InstanceRunning}}, Page{Limit: 50}),
		"a window long ago":       instances(InstanceFilter{From: 1500, To: 1600}, Page{Limit: 50}),
		"a window with no page":   instances(InstanceFilter{From: 1 << 40}, Page{Limit: 50}),
		"a state that nobody has": instances(InstanceFilter{States: []dag.InstanceState{dag.InstancePausing}}, Page{Limit: 50}),
		"a param, sifted":         instances(InstanceFilter{Param: "day=7"}, Page{Limit: 50}),
		"a version of a workflow": instances(InstanceFilter{WorkflowID: 42, Version: 1}, Page{Limit: 50}),
		"what is late":            instances(InstanceFilter{States: []dag.InstanceState{dag.InstanceRunning}, Late: true}, Page{Limit: 50}),
		"outlines of a page": func() int {
			rows, _, err := s.Instances(ctx, InstanceFilter{States: []dag.InstanceState{dag.InstanceFailed, dag.InstanceSuccess}}, Page{Limit: 50})
			if err != nil {
				t.Error(err)
			}
			outlines, err := s.Outlines(ctx, rows)
			if err != nil {
				t.Error(err)
			}
			return len(outlines)
		},
		"histogram of all":       histogram(InstanceFilter{}),
		"histogram of a project": histogram(InstanceFilter{ProjectIDs: []int64{3}, From: 1500}),
		"what is beside one": func() int {
			n, err := s.Neighbours(ctx, InstanceRow{ID: 4242, WorkflowID: 42, CreatedAt: 5241})
			if err != nil {
				t.Error(err)
			}
			return len(n.Took)
		},
		"failures that nobody acknowledged": instances(InstanceFilter{States: []dag.InstanceState{dag.InstanceFailed, dag.InstanceQuarantined}, Acknowledged: new(bool)}, Page{Limit: 20}),
		"tasks that wait unusually long":    live(LiveTaskFilter{States: []dag.TaskState{dag.TaskReady, dag.TaskRetryWait}, BeyondUsual: true}),
		"usual waits of a workflow": func() int {
			u := usual{s: s, instances: map[int64][]int64{}, waits: map[taskOf]UsualWait{}}
			if _, err := u.of(ctx, InstanceRow{WorkflowID: 42}, TaskRow{Index: 1, Name: "load"}); err != nil {
				t.Error(err)
			}
			return len(u.instances[42])
		},
		"tasks that run":         live(LiveTaskFilter{States: []dag.TaskState{dag.TaskRunning}}),
		"a project's live tasks": live(LiveTaskFilter{ProjectIDs: []int64{3, 4}, States: []dag.TaskState{dag.TaskReady, dag.TaskRetryWait}}),
		"a grid's cells": func() int {
			cells, err := s.Cells(ctx, 4242)
			if err != nil {
				t.Error(err)
			}
			return len(cells)
		},
		"a task of many instances": func() int {
			rows, err := s.TasksAt(ctx, 1, []int64{42, 142, 242, 342, 4242, million + 1})
			if err != nil {
				t.Error(err)
			}
			return len(rows)
		},
		"counts of rare states":  counts(InstanceFilter{States: []dag.InstanceState{dag.InstanceRunning, dag.InstanceFailed}}),
		"counts of a project":    counts(InstanceFilter{ProjectIDs: []int64{3}}),
		"instances of one owner": func() int { ids, _ := s.Owned(ctx, "m1:a", 0, 50); return len(ids) },
		"the pulse": func() int {
			p, err := s.Pulse(ctx, 1<<40)
			if err != nil {
				t.Error(err)
			}
			return p.Commands
		},
		"tasks of workers":         func() int { tasks, _ := s.RunningTasks(ctx, "", 50); return len(tasks) },
		"work of a slot":           func() int { _, in, _ := s.SlotWork(ctx, 7, 256, 50); return len(in) },
		"busy groups":              func() int { g, _ := s.BusyTaskGroups(ctx); return len(g) },
		"last takeovers":           func() int { f, _, _ := s.Failovers(ctx, "", Page{Limit: 5}); return len(f) },
		"owners of running things": func() int { o, _ := s.Owners(ctx); return len(o) },
	}
}

// ofWhatIsOpen are the steps of plans that go through all of a table or an index, where that has only what waits or is
// under way, or ends with the first rows: history does not make them longer. One letter is a part of the same statement.
var ofWhatIsOpen = map[string][]string{
	"the pulse":      {"SCAN command USING COVERING INDEX command_order", "SCAN command", "SCAN c", "SCAN a", "SCAN r", "USE TEMP B-TREE FOR DISTINCT"},
	"work of a slot": {"SCAN command", "SCAN o"},
	"busy groups":    {"SCAN task_place USING COVERING INDEX task_place_order", "SCAN b", "USE TEMP B-TREE FOR ORDER BY"},
	"last takeovers": {"SCAN failover USING INDEX failover_detected"},
}

func TestListsOfAMillionInstancesWalkAnIndexOnSQLite(t *testing.T) {
	t.Parallel()
	s := millionStore(t, "sqlite:"+filepath.Join(t.TempDir(), "porpoise.db"))
	for name, list := range millionLists(t, s) {
		var plans []string
		s.trace = func(query string, args []any) { plans = append(plans, queryPlan(t, s, query, args)...) }
		list() // warms the cache
		s.trace = nil
		start := time.Now()
		n := list()
		t.Logf("%-26s %3d rows in %v", name, n, time.Since(start).Round(10*time.Microsecond))
		if len(plans) == 0 && n > 0 {
			t.Errorf("%s: no plan seen", name)
		}
		for _, p := range plans {
			t.Logf("    %s", p)
			// A histogram groups the entries that it has bounded before.
			grouping := strings.HasPrefix(name, "histogram") && p == "USE TEMP B-TREE FOR GROUP BY"
			if slices.Contains(ofWhatIsOpen[name], p) {
				continue
			}
			if strings.Contains(p, "TEMP B-TREE") && !grouping || strings.HasPrefix(p, "SCAN ") && p != "SCAN h" && p != "SCAN c" &&
				p != "SCAN workflow_instance USING COVERING INDEX instance_owner" && p != "SCAN command USING INDEX command_order" {
				t.Errorf("%s: plan has %q", name, p)
			}
		}
	}
}

func queryPlan(t *testing.T, s *Store, query string, args []any) []string {
	rows, err := s.read.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+steady(query), args...)
	if err != nil {
		t.Errorf("explain %s: %v", query, err)
		return nil
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Error(err)
		}
		out = append(out, detail)
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
	return out
}

func TestListsOfAMillionInstancesExamineFewRowsOnMySQL(t *testing.T) {
	t.Parallel()
	dsn := os.Getenv("PORPOISE_TEST_MYSQL")
	if dsn == "" && os.Getenv("CI") == "true" {
		t.Fatal("PORPOISE_TEST_MYSQL is not set, and CI must not skip")
	}
	if dsn == "" {
		t.Skip("PORPOISE_TEST_MYSQL is not set; to run this: PORPOISE_TEST_MYSQL=$(scripts/mariadb start) go test ./sql/...")
	}
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	// A statement that writes a million rows may take longer than any of the store's own.
	cfg.ReadTimeout = 5 * time.Minute
	cfg.DBName = "mysql"
	admin, err := Open(t.Context(), Config{DSN: "mysql:" + cfg.FormatDSN()})
	if err != nil {
		t.Fatal(err)
	}
	cfg.DBName = fmt.Sprintf("porpoise_million_%d", os.Getpid())
	do := func(text string) {
		if _, err := admin.db.ExecContext(context.Background(), text+cfg.DBName); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	do("CREATE DATABASE ")
	t.Cleanup(func() {
		do("DROP DATABASE ")
		_ = admin.Close()
	})
	s := millionStore(t, "mysql:"+cfg.FormatDSN())
	for name, list := range millionLists(t, s) {
		list()
		before := handlerReads(t, s)
		start := time.Now()
		n := list()
		took := time.Since(start)
		examined := handlerReads(t, s) - before
		t.Logf("%-26s %3d rows in %v, %d examined", name, n, took.Round(10*time.Microsecond), examined)
		// A page of 50 merges up to 10 states of 2 projects, each row read once from its index and
		// once from the merge, and joins two names to each of its rows; a count stops at MaxCount.
		bound := int64(2*51*20 + 4*51)
		switch {
		case strings.HasPrefix(name, "counts"), strings.HasPrefix(name, "owners"):
			bound = 2*MaxCount + 20000
		case name == "the pulse":
			bound += 2 * MaxPulse // the commands that wait are counted up to that
		case strings.HasPrefix(name, "tasks"), strings.HasSuffix(name, "live tasks"):
			// As many steps of instances as one page may look into, each merged of four states of two projects.
			bound = MaxLiveInstances / liveStep * 2 * (liveStep + 1) * 8
		case strings.HasSuffix(name, "sifted"):
			// As many pages of siftStep as one answer may look at.
			bound = MaxSifted / siftStep * (2*(siftStep+1)*20 + 4*siftStep)
		case strings.HasPrefix(name, "outlines"):
			bound += 50 * 2 * (maxTook + 1) // the last successes of each row's workflow, once from the index and once for the answer
		case name == "what is late":
			bound = MaxSifted/siftStep*(2*(siftStep+1)*20+4*siftStep) + MaxSifted*2*(maxTook+1) // the same, of all rows that are looked at
		case strings.HasPrefix(name, "histogram"):
			// Each state's stream is read up to its limit, once from the index and once for its buckets.
			bound = 2*int64(len(instanceStates))*MaxCounted + 20000
		}
		if examined > bound {
			t.Errorf("%s examined %d rows, want at most %d", name, examined, bound)
		}
	}
}

// handlerReads is how many rows this session has read so far; its store has one connection.
func handlerReads(t *testing.T, s *Store) int64 {
	t.Helper()
	rows, err := s.db.QueryContext(context.Background(), "SHOW SESSION STATUS LIKE 'Handler_read%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var sum int64
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return sum
}

func millionStore(t *testing.T, dsn string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{DSN: dsn, MaxOpen: 1, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	fillMillion(t, s)
	t.Logf("%d instances written in %v", million, time.Since(start).Round(time.Millisecond))
	return s
}
