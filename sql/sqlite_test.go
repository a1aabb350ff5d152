package sql_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/sql"
	"github.com/porpoise/porpoise/sql/sqltest"
)

func TestSQLiteKeepsThePromises(t *testing.T) {
	t.Parallel()
	var files sync.Map
	sqltest.Run(t, func(t *testing.T, name string) *sql.Store {
		file, _ := files.LoadOrStore(name, sync.OnceValue(func() string { return sqltest.SQLite(t) }))
		return openStore(t, sql.Config{DSN: "sqlite:" + file.(func() string)()})
	})
}

func openStore(t *testing.T, cfg sql.Config) *sql.Store {
	t.Helper()
	s, err := sql.Open(context.Background(), cfg)
	if err != nil {
		t.Fatalf("open %s: %v", strings.SplitN(cfg.DSN, ":", 2)[0], err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if err := s.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}
