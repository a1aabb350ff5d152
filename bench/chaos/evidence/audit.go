package evidence

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// audited are the tables whose writes are copied, and what of a row. A column that the
// schema lacks is left out; columns in key identify the row.
var audited = []struct {
	name    string
	key     string
	columns []string
}{
	{"command", "id", []string{"id", "kind", "instance_id", "workflow_id", "schedule_time", "trigger_key", "slot", "lent", "created_at"}},
	{"workflow_instance", "id", []string{
		"id", "workflow_id", "version", "state", "reason", "round", "owner", "owner_epoch", "layout_epoch", "crash_count", "seq", "schedule_time", "trigger_key",
		"started_at", "finished_at", "deadline",
	}},
	{"task_instance", "instance_id", []string{
		"instance_id", "task_index", "name", "state", "reason", "round", "attempts", "retries", "lost", "ready_at", "next_at", "started_at", "finished_at",
	}},
	{"task_attempt", "instance_id", []string{
		"instance_id", "task_index", "number", "round", "token", "worker", "incarnation", "state", "reason", "kill_reason", "dispatched_at", "started_at",
		"finished_at", "deadline", "exit_code", "complete_by",
	}},
	{"control", "instance_id", []string{"id", "instance_id", "verb", "tasks", "forced", "created_at", "applied_at", "result"}},
	{"schedule", "id", []string{"id", "workflow_id", "name", "revision", "enabled", "planned_until", "changed_at"}},
	{"fire", "source_id", []string{"source_id", "planned_at", "due_at", "revision", "open", "state", "reason", "instance_id", "fired_at", "after_id"}},
	{"cluster", "one", []string{"one", "id", "slots", "layout_floor", "generation"}},
}

// Audit is the copy of every write, made by triggers.
type Audit struct {
	DB     *stdsql.DB
	Schema string // of the product's tables on the server; "" for SQLite
}

func (a Audit) table(name string) string {
	if a.Schema == "" {
		return name
	}
	return a.Schema + "." + name
}

// Install makes the table and the triggers. A row has its place in the order of writes;
// writes to one row stand in the order of their commits, since the row is locked.
func (a Audit) Install(ctx context.Context) error {
	create := `CREATE TABLE %s (seq BIGINT AUTO_INCREMENT PRIMARY KEY, at BIGINT NOT NULL, who VARCHAR(64) NOT NULL, conn BIGINT NOT NULL,
		tbl VARCHAR(32) NOT NULL, op CHAR(1) NOT NULL, o MEDIUMTEXT, n MEDIUMTEXT) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`
	if a.Schema == "" {
		create = `CREATE TABLE %s (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, who TEXT NOT NULL, conn INTEGER NOT NULL,
		tbl TEXT NOT NULL, op TEXT NOT NULL, o TEXT, n TEXT)`
	}
	if _, err := a.DB.ExecContext(ctx, fmt.Sprintf(create, a.table("chaos_audit"))); err != nil {
		return fmt.Errorf("create the audit: %w", err)
	}
	for _, t := range audited {
		there, err := a.columns(ctx, t.name)
		if err != nil {
			return err
		}
		columns := slices.DeleteFunc(slices.Clone(t.columns), func(c string) bool { return !slices.Contains(there, c) })
		for _, op := range []string{"INSERT", "UPDATE", "DELETE"} {
			if _, err := a.DB.ExecContext(ctx, a.trigger(t.name, op, columns)); err != nil {
				return fmt.Errorf("audit %s of %s: %w", op, t.name, err)
			}
		}
	}
	return nil
}

// columns lists what a table has.
func (a Audit) columns(ctx context.Context, table string) ([]string, error) {
	rows, err := a.DB.QueryContext(ctx, "SELECT * FROM "+a.table(table)+" WHERE 1 = 0")
	if err != nil {
		return nil, fmt.Errorf("read columns of %s: %w", table, err)
	}
	defer func() { _ = rows.Close() }()
	list, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	return list, rows.Err()
}

// trigger writes one trigger in the words of the database.
func (a Audit) trigger(table, op string, columns []string) string {
	object := func(row string) string {
		var pairs []string
		for _, c := range columns {
			value := row + "." + c
			switch {
			case c == "trigger_key" && a.Schema == "": // it is binary, which JSON can't hold
				value = "CAST(" + value + " AS TEXT)"
			case c == "trigger_key":
				value = "CONVERT(" + value + " USING utf8mb4)"
			}
			pairs = append(pairs, "'"+c+"', "+value)
		}
		return "json_object(" + strings.Join(pairs, ", ") + ")"
	}
	before, after := object("OLD"), object("NEW")
	switch op {
	case "INSERT":
		before = "NULL"
	case "DELETE":
		after = "NULL"
	}
	name := fmt.Sprintf("chaos_%s_%s", table, strings.ToLower(op))
	if a.Schema == "" {
		return fmt.Sprintf(`CREATE TRIGGER %s AFTER %s ON %s BEGIN INSERT INTO chaos_audit (at, who, conn, tbl, op, o, n)
			VALUES (CAST(unixepoch('subsec') * 1000 AS INTEGER), '', 0, '%s', '%s', %s, %s); END`, name, op, table, table, op[:1], before, after)
	}
	return fmt.Sprintf(`CREATE TRIGGER %s AFTER %s ON %s FOR EACH ROW INSERT INTO %s (at, who, conn, tbl, op, o, n)
		VALUES (CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED), SUBSTRING_INDEX(USER(), '@', 1), CONNECTION_ID(), '%s', '%s', %s, %s)`,
		a.table(name), op, a.table(table), a.table("chaos_audit"), table, op[:1], before, after)
}

// dumped are the tables that the verdict wants as they stand at rest.
var dumped = map[string]string{
	"audit.jsonl": "SELECT seq, at, who, conn, tbl, op, o, n FROM %s ORDER BY seq",
	"instances.jsonl": `SELECT id, workflow_id, version, state, reason, round, owner, owner_epoch, seq, created_at, started_at, finished_at,
		parent_instance_id, parent_task, parent_attempt FROM %s`,
	"tasks.jsonl": "SELECT instance_id, task_index, name, state, reason, round, attempts, retries, lost, finished_at FROM %s",
	"attempts.jsonl": `SELECT instance_id, task_index, number, round, token, worker, incarnation, state, reason, kill_reason, dispatched_at, started_at,
		finished_at, deadline, exit_code, child_id FROM %s`,
	"events.jsonl":    "SELECT instance_id, seq, code, task_index, attempt, round, state, reason, created_at FROM %s",
	"commands.jsonl":  "SELECT id, kind, instance_id, created_at FROM %s",
	"workflows.jsonl": "SELECT id, name FROM %s",
	"schedules.jsonl": "SELECT id, workflow_id, name, revision, enabled, planned_until, created_at, changed_at FROM %s",
	"fires.jsonl":     "SELECT source_id, planned_at, due_at, revision, open, state, reason, instance_id, fired_at, after_id FROM %s",
}

var tableOf = map[string]string{
	"audit.jsonl": "chaos_audit", "instances.jsonl": "workflow_instance", "tasks.jsonl": "task_instance", "attempts.jsonl": "task_attempt",
	"events.jsonl": "event", "commands.jsonl": "command", "workflows.jsonl": "workflow",
	"schedules.jsonl": "schedule", "fires.jsonl": "fire",
}

// Dump writes the audit and the tables at rest into the folder.
func (a Audit) Dump(ctx context.Context, dir string) error {
	for name, query := range dumped {
		if err := a.dump(ctx, filepath.Join(dir, name), fmt.Sprintf(query, a.table(tableOf[name]))); err != nil {
			return fmt.Errorf("dump %s: %w", name, err)
		}
	}
	return nil
}

func (a Audit) dump(ctx context.Context, path, query string) (err error) {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if end := f.Close(); err == nil {
			err = end
		}
	}()
	rows, err := a.DB.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			return err
		}
		line := make(map[string]any, len(columns))
		for i, c := range columns {
			v := *values[i].(*any)
			if text, ok := v.([]byte); ok {
				v = string(text)
			}
			line[c] = v
		}
		f.Write(line)
	}
	return rows.Err()
}
