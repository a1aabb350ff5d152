package sqltest

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

// SQLite returns the file of an empty database of the test's own, to be opened and migrated as any other: its schema
// is there already, which saves a test most of its time, and its cluster is not named yet.
func SQLite(t testing.TB) string {
	t.Helper()
	blank, err := blankSQLite()
	if err != nil {
		t.Fatalf("make the schema: %v", err)
	}
	file := filepath.Join(t.TempDir(), "porpoise.db")
	if err := os.WriteFile(file, blank, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// blankSQLite is the content of a database that has a schema and no cluster.
var blankSQLite = sync.OnceValues(func() (blank []byte, err error) {
	dir, err := os.MkdirTemp("", "porpoise-blank")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, file := context.Background(), filepath.Join(dir, "porpoise.db")
	s, err := sql.Open(ctx, sql.Config{DSN: "sqlite:" + file, Relaxed: true})
	if err != nil {
		return nil, err
	}
	err = s.Migrate(ctx)
	if closed := s.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	db, err := stdsql.Open("sqlite", file)
	if err != nil {
		return nil, err
	}
	_, err = db.ExecContext(ctx, `DELETE FROM cluster`)
	if closed := db.Close(); err == nil { // the last connection moves the log into the file
		err = closed
	}
	if err != nil {
		return nil, fmt.Errorf("forget the cluster: %w", err)
	}
	return os.ReadFile(file)
})
