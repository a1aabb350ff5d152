package sql

import (
	"context"
	"crypto/rand"
	stdsql "database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/porpoise/porpoise/dag"
)

// startable returns what starts an instance of a new workflow.
func startable(t *testing.T, s *Store) Start {
	t.Helper()
	p, err := s.CreateProject(t.Context(), Project{Name: "p"})
	if err != nil {
		t.Fatal(err)
	}
	w, _, _, err := s.SaveVersion(t.Context(), SaveVersion{ProjectID: p.ID, Name: "w", Text: "name: w\n", Format: "yaml", By: "ann", Publish: true})
	if err != nil {
		t.Fatal(err)
	}
	return Start{WorkflowID: w.ID, ProjectID: p.ID, Version: 1, Priority: dag.PriorityMedium, By: "ann"}
}

// refusesWrites holds that a database that takes no writes refuses starts as being away, answers
// reads, is not pinged as well, and after cure takes all again.
func refusesWrites(t *testing.T, s *Store, st Start, cure func()) {
	t.Helper()
	var err error
	for range 2_000 { // it may have some room left
		if _, _, err = s.Start(t.Context(), st); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrUnavailable) {
		t.Fatalf("a start: %v, want ErrUnavailable", err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("ping: %v, want ErrUnavailable", err)
	}
	if _, err := s.Project(t.Context(), "p"); err != nil {
		t.Errorf("a read: %v", err)
	}
	cure()
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("ping when it takes writes again: %v", err)
	}
	if _, _, err := s.Start(t.Context(), st); err != nil {
		t.Errorf("a start when it takes writes again: %v", err)
	}
}

// TestAFullDiskRefusesWritesAndNothingElse has SQLite's own limit stand for the disk's: the error is the same.
func TestAFullDiskRefusesWritesAndNothingElse(t *testing.T) {
	t.Parallel()
	s := migrated(t, filepath.Join(t.TempDir(), "p.db"))
	st := startable(t, s)
	if _, err := s.NextIDs(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		if _, err := s.db.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count(%d)", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // SQLite takes as many as there are
	refusesWrites(t, s, st, func() { limit(1 << 30) })
}

// InnoDB keeps at least two rows in a page of 16 KiB; what is larger it keeps elsewhere, and a server that has
// no space for that ends itself. The bench with a full disk shows it, as root.
func TestTheProbeOfAFullDiskEndsNoServer(t *testing.T) {
	t.Parallel()
	const page = 16 << 10
	if probeBytes > page/3 || probeRows*probeBytes < 2*page {
		t.Errorf("the probe writes %d rows of %d bytes, want rows that fit into a page, and more of them than one page has", probeRows, probeBytes)
	}
}

// TestAStartDoesNotWaitForADatabaseThatHangs has another process hold SQLite's lock.
func TestAStartDoesNotWaitForADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "p.db")
	s := migrated(t, file)
	st := startable(t, s)
	other, err := stdsql.Open("sqlite", "file:"+file+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_, _, err = s.Start(t.Context(), st)
	if took := time.Since(begun); !errors.Is(err, ErrUnavailable) || took > 2*stalled {
		t.Errorf("after %s: %v, want ErrUnavailable well before the lock's own %d ms", took, err, sqliteBusyMillis)
	}
	// This one is behind the first in the queue and has nobody who waits for it when the writer comes to it.
	impatient, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, _, err := s.Start(impatient, st)
		left <- err
	}()
	for len(s.writer.queue) == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("a start that nobody waits for: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for s.writer.batches.Load() == 0 || len(s.writer.queue) > 0 {
		runtime.Gosched()
	}
	if _, _, err := s.Start(t.Context(), st); err != nil {
		t.Errorf("a start when the lock is free: %v", err)
	}
}

func TestAnExhaustedPoolIsUnavailableSoon(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{DSN: trialMySQL(t), MaxOpen: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	st := startable(t, s)
	for range 2 {
		conn, err := s.db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	begun := time.Now()
	_, err = s.Project(t.Context(), "p")
	if took := time.Since(begun); !errors.Is(err, ErrUnavailable) || took > 2*acquireWait {
		t.Errorf("a read without a connection: %v after %s, want ErrUnavailable after %s", err, took, acquireWait)
	}
	begun = time.Now()
	_, err = s.CreateProject(t.Context(), Project{Name: "q"})
	if took := time.Since(begun); !errors.Is(err, ErrUnavailable) || took > 2*acquireWait {
		t.Errorf("a write without one: %v after %s", err, took)
	}
	if _, _, err := s.Start(t.Context(), st); err != nil && !errors.Is(err, ErrUnavailable) {
		t.Errorf("a start, which has a connection of its own: %v", err)
	}
}

func TestAReadOnlyServerIsNotReady(t *testing.T) {
	// Not parallel: the server is read-only for all who may not write in spite of that.
	dsn := trialMySQL(t)
	admin, err := Open(t.Context(), Config{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close() })
	cfg, err := mysql.ParseDSN(dsn[len("mysql:"):])
	if err != nil {
		t.Fatal(err)
	}
	do := func(text string) {
		t.Helper()
		if _, err := admin.db.ExecContext(context.Background(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	user := "reader_" + strings.ToLower(rand.Text()[:8])
	do("CREATE USER " + user + "@'%' IDENTIFIED BY 'secret'")
	t.Cleanup(func() { do("DROP USER " + user + "@'%'") })
	do("GRANT ALL ON " + cfg.DBName + ".* TO " + user + "@'%'")
	cfg.User, cfg.Passwd = user, "secret"
	s, err := Open(t.Context(), Config{DSN: "mysql:" + cfg.FormatDSN()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	st := startable(t, s)
	do("SET GLOBAL read_only = 1")
	t.Cleanup(func() { do("SET GLOBAL read_only = 0") })
	refusesWrites(t, s, st, func() { do("SET GLOBAL read_only = 0") })
}

// trialMySQL makes a database of its own, or skips the test.
func trialMySQL(t *testing.T) string {
	t.Helper()
	address := os.Getenv("PORPOISE_TEST_MYSQL")
	if address == "" {
		t.Skip("PORPOISE_TEST_MYSQL is not set")
	}
	cfg, err := mysql.ParseDSN(address)
	if err != nil {
		t.Fatal(err)
	}
	db, err := stdsql.Open("mysql", address)
	if err != nil {
		t.Fatal(err)
	}
	cfg.DBName = "porpoise_trouble_" + strings.ToLower(rand.Text())
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+cfg.DBName); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.ExecContext(context.Background(), "DROP DATABASE "+cfg.DBName); err != nil {
			t.Error(err)
		}
		_ = db.Close()
	})
	return "mysql:" + cfg.FormatDSN()
}
