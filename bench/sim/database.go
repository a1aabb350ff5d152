package main

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/porpoise/porpoise/sql"
)

// template is a migrated database with all workflows, made once: a world gets a copy of its bytes.
type template struct {
	dir       string // of all databases: in memory where the machine has such a place
	bytes     []byte
	project   int64
	workflows []sql.Workflow
	plans     []workflow
	columns   map[string][]string
}

// scratch is where databases live; a write to a disk would be most of a world's time.
func scratch() (string, error) {
	for _, base := range []string{"/dev/shm", ""} {
		if dir, err := os.MkdirTemp(base, "porpoise-sim."); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no folder for databases in %s", os.TempDir())
}

// newTemplate makes the template; close removes its folder.
func newTemplate(ctx context.Context) (*template, error) {
	dir, err := scratch()
	if err != nil {
		return nil, err
	}
	t := &template{dir: dir, columns: map[string][]string{}}
	if err := t.fill(ctx); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *template) close() { _ = os.RemoveAll(t.dir) }

func (t *template) fill(ctx context.Context) error {
	path := filepath.Join(t.dir, "template.db")
	store, err := sql.Open(ctx, sql.Config{DSN: "sqlite:" + path, Slots: slotCount, Relaxed: true, Now: func() time.Time { return epoch }})
	if err != nil {
		return err
	}
	if err := t.define(ctx, store); err != nil {
		_ = store.Close()
		return err
	}
	if err := store.Close(); err != nil { // the last connection moves the log into the file
		return err
	}
	if err := t.describe(ctx, path); err != nil {
		return err
	}
	t.bytes, err = os.ReadFile(path)
	return err
}

func (t *template) define(ctx context.Context, store *sql.Store) error {
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	project, err := store.CreateProject(ctx, sql.Project{Name: "p"})
	if err != nil {
		return err
	}
	t.project = project.ID
	t.plans = workflows()
	for _, wf := range t.plans {
		create := sql.AnyVersion
		saved, _, _, err := store.SaveVersion(ctx, sql.SaveVersion{
			ProjectID: project.ID, Name: wf.name, Text: wf.text, Format: "yaml", IfMatch: &create, Publish: true, By: "sim",
		})
		if err != nil {
			return fmt.Errorf("save workflow %s: %w", wf.name, err)
		}
		t.workflows = append(t.workflows, saved)
	}
	return nil
}

// audited are the tables whose changes are watched.
var audited = []string{"command", "control", "workflow_instance", "task_instance", "task_attempt", "event"}

// describe reads the names of the columns, in their order.
func (t *template) describe(ctx context.Context, path string) error {
	db, err := stdsql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, table := range audited {
		if t.columns[table], err = columnsOf(ctx, db, table); err != nil {
			return err
		}
	}
	return nil
}

func columnsOf(ctx context.Context, db *stdsql.DB, table string) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// database is the store of one world, with a witness of every change that is independent of it.
type database struct {
	*sql.Store
	w    *world
	path string

	pending []change
	commits [][]change

	down, slow time.Duration // until then
}

// change is one row before and after.
type change struct {
	table    string
	old, new []any // nil: there was none, there is none
}

// open finds the database of a connection, since a hook is told nothing but its name.
var open = struct {
	sync.Mutex
	once   sync.Once
	byPath map[string]*database
}{byPath: map[string]*database{}}

func openDatabase(w *world) (*database, error) {
	open.once.Do(func() { sqlite.RegisterConnectionHook(hook) })
	t := w.opt.template
	dir, err := os.MkdirTemp(t.dir, "world.")
	if err != nil {
		return nil, err
	}
	db := &database{w: w, path: filepath.Join(dir, "porpoise.db")}
	if err := os.WriteFile(db.path, t.bytes, 0o600); err != nil {
		return nil, err
	}
	open.Lock()
	open.byPath[db.path] = db
	open.Unlock()
	db.Store, err = sql.Open(w.ctx, sql.Config{
		DSN: "sqlite:" + db.path, Relaxed: true, MaxOpen: 1, Alone: true, Now: w.clock,
	})
	return db, err
}

func (db *database) close() error {
	err := db.Store.Close()
	open.Lock()
	delete(open.byPath, db.path)
	open.Unlock()
	_ = os.RemoveAll(filepath.Dir(db.path))
	return err
}

// hook makes a new connection tell its changes.
func hook(conn sqlite.ExecQuerierContext, dsn string) error {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil //nolint:nilerr // not one of ours
	}
	open.Lock()
	db := open.byPath[u.Path]
	open.Unlock()
	registerer, ok := conn.(sqlite.HookRegisterer)
	if db == nil || !ok {
		return nil
	}
	registerer.RegisterPreUpdateHook(db.before)
	registerer.RegisterCommitHook(func() int32 {
		if len(db.pending) > 0 {
			db.commits = append(db.commits, db.pending)
			db.pending = nil
		}
		return 0
	})
	registerer.RegisterRollbackHook(func() { db.pending = nil })
	return nil
}

// before takes one change of the transaction under way.
func (db *database) before(d sqlite.SQLitePreUpdateData) {
	columns := db.w.opt.template.columns[d.TableName]
	if columns == nil {
		return
	}
	c := change{table: d.TableName}
	if d.Op != sqlite3.SQLITE_INSERT {
		c.old = make([]any, len(columns))
		_ = d.Old(c.old...)
	}
	if d.Op != sqlite3.SQLITE_DELETE {
		c.new = make([]any, len(columns))
		_ = d.New(c.new...)
	}
	db.pending = append(db.pending, c)
}
