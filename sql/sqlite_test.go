package sql_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/sql"
	"github.com/porpoise/porpoise/sql/sqltest"
)

func TestSQLiteKeepsThePromises(t *testing.T) {
	t.Parallel()
	var dirs sync.Map
	sqltest.Run(t, func(t *testing.T, name string) *sql.Store {
		dir, _ := dirs.LoadOrStore(name, t.TempDir())
		return openStore(t, sql.Config{DSN: "sqlite:" + filepath.Join(dir.(string), "porpoise.db")})
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
