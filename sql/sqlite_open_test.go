package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func openFile(t *testing.T, path string, change func(*Config)) (*Store, error) {
	t.Helper()
	cfg := Config{DSN: "sqlite:" + path}
	if change != nil {
		change(&cfg)
	}
	s, err := Open(t.Context(), cfg)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

// migrated opens a file that has the schema.
func migrated(t *testing.T, path string) *Store {
	t.Helper()
	s, err := openFile(t, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSQLiteFilesAreTheUsersAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "er", "porpoise db?mode=ro%20.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := migrated(t, path)
	if _, err := s.NextIDs(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm", path + ".migrate"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", filepath.Base(name), info.Mode().Perm())
		}
	}
}

func TestSQLiteIsOpenedAsAsked(t *testing.T) {
	t.Parallel()
	for relaxed, want := range map[bool]string{false: "2", true: "1"} {
		s, err := openFile(t, filepath.Join(t.TempDir(), "a.db"), func(c *Config) { c.Relaxed = relaxed })
		if err != nil {
			t.Fatal(err)
		}
		for pragma, want := range map[string]string{"synchronous": want, "journal_mode": "wal", "busy_timeout": "5000"} {
			var got string
			if err := s.db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
				t.Errorf("relaxed %v: %s is %q, %v; want %q", relaxed, pragma, got, err, want)
			}
		}
		if _, err := s.read.ExecContext(t.Context(), "CREATE TABLE x (a INTEGER)"); err == nil {
			t.Error("a reader wrote")
		}
	}
}

func TestNetworkFileSystemsAreRefused(t *testing.T) {
	t.Parallel()
	for _, magic := range []uint32{magicNFS, magicSMB, magicCIFS, magicSMB2} {
		if err := checkMagic(magic); err == nil || !strings.Contains(err.Error(), "network file system") {
			t.Errorf("magic %x: %v", magic, err)
		}
	}
	if err := checkMagic(0xef53); err != nil { // ext4
		t.Error(err)
	}
	for _, path := range []string{"", ":memory:", t.TempDir()} {
		if _, err := openFile(t, path, nil); err == nil {
			t.Errorf("%q was opened", path)
		}
	}
}

func TestADatabaseOfAnotherClusterIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := openFile(t, path, func(c *Config) { c.ClusterID, c.Slots = "ours", 16 })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	other, err := openFile(t, path, func(c *Config) { c.ClusterID = "theirs" })
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Migrate(t.Context()); !errors.Is(err, ErrForeignCluster) {
		t.Errorf("migrate: %v, want ErrForeignCluster", err)
	}
	if _, err := other.Cluster(t.Context()); !errors.Is(err, ErrForeignCluster) {
		t.Errorf("cluster: %v, want ErrForeignCluster", err)
	}
	same, err := openFile(t, path, func(c *Config) { c.Slots = 99 })
	if err != nil {
		t.Fatal(err)
	}
	if c, err := same.Cluster(t.Context()); err != nil || c.ID != "ours" || c.Slots != 16 {
		t.Errorf("cluster %+v, %v; its slots were fixed at birth", c, err)
	}
}

func TestASchemaThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	s, err := openFile(t, filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CheckSchema(t.Context()); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "porpoise migrate") {
		t.Errorf("an empty database: %v, want ErrSchema with the way out", err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckSchema(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := s.db.ExecContext(t.Context(), `INSERT INTO schema_version (version_id, is_applied) VALUES (9999, 1)`); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"check": s.CheckSchema(t.Context()), "migrate": s.Migrate(t.Context())} {
		if !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "newer") {
			t.Errorf("%s of a newer schema: %v, want ErrSchema", name, err)
		}
	}
}

func TestManyProcessesMayMigrateAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	var wg sync.WaitGroup
	ids := make([]string, 6)
	for i := range ids {
		s, err := openFile(t, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if err := s.Migrate(context.Background()); err != nil {
				t.Error(err)
				return
			}
			c, err := s.Cluster(context.Background())
			if err != nil {
				t.Error(err)
			}
			ids[i] = c.ID
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("clusters %v, want one", ids)
		}
	}
}

func TestAWriterWaitsForAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	s := migrated(t, path)
	other, err := stdsql.Open("sqlite", sqliteDSN(path, "immediate", "FULL", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.CreateProject(context.Background(), Project{Name: "p"})
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("wrote under another's lock: %v", err)
	default:
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAClosedStoreSaysSo(t *testing.T) {
	t.Parallel()
	s := migrated(t, filepath.Join(t.TempDir(), "a.db"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Start(t.Context(), Start{ID: 1, WorkflowID: 1}); !errors.Is(err, ErrClosed) {
		t.Errorf("start: %v, want ErrClosed", err)
	}
}
