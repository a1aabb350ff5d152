package sql

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/porpoise/porpoise/dag"
)

// emptyStores is an empty store of each database that is there.
func emptyStores(t *testing.T) map[string]*Store {
	t.Helper()
	dsns := map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "porpoise.db")}
	if address := os.Getenv("PORPOISE_TEST_MYSQL"); address != "" {
		cfg, err := mysql.ParseDSN(address)
		if err != nil {
			t.Fatal(err)
		}
		cfg.DBName = "mysql"
		admin, err := Open(t.Context(), Config{DSN: "mysql:" + cfg.FormatDSN()})
		if err != nil {
			t.Fatal(err)
		}
		cfg.DBName = "porpoise_empty_" + strings.ToLower(rand.Text())
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
		dsns["mysql"] = "mysql:" + cfg.FormatDSN()
	}
	stores := map[string]*Store{}
	for name, dsn := range dsns {
		s, err := Open(t.Context(), Config{DSN: dsn})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		if err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		stores[name] = s
	}
	return stores
}

func TestAnUpdateThatMissesItsRowUndoesTheTransaction(t *testing.T) {
	t.Parallel()
	for name, s := range emptyStores(t) {
		w := &writer{s: s}
		write := func(key string) error {
			tx, err := w.begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.rollback()
			if err := tx.exec(t.Context(), `INSERT INTO id_block (name, next_id) VALUES (?, 1)`, []any{key}, anyRows); err != nil {
				return err
			}
			if err := tx.exec(t.Context(), `UPDATE id_block SET next_id = 2 WHERE name = ?`, []any{"there"}, 1); err != nil {
				return err
			}
			return tx.commit(t.Context(), true)
		}
		if err := write("early"); err == nil {
			t.Errorf("%s: an update that met no row was committed", name)
		}
		if err := write("there"); err != nil {
			t.Errorf("%s: an update that met its row: %v", name, err)
		}
		// The transaction that failed left nothing: neither a row nor an open transaction.
		if err := write("late"); err != nil {
			t.Errorf("%s: after it: %v", name, err)
		}
		got, err := collect(t.Context(), s, func(scan func(...any) error) (n string, err error) { return n, scan(&n) },
			`SELECT name FROM id_block WHERE name IN ('early', 'late', 'there') ORDER BY name`)
		if err != nil || strings.Join(got, " ") != "late there" {
			t.Errorf("%s: rows %q, %v; want late and there", name, got, err)
		}
	}
}

func TestWhatIsTooMuchForOneTripGoesInSeveral(t *testing.T) {
	t.Parallel()
	for name, s := range emptyStores(t) {
		tx, err := (&writer{s: s}).begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const rows = 100
		for i := range rows {
			args := []any{i, strings.Repeat("x", maxTripBytes/8)}
			err := tx.exec(t.Context(), `INSERT INTO workflow_layout (workflow_id, layout, updated_at) VALUES (?, ?, 1)`, args, anyRows)
			if err != nil {
				t.Fatalf("%s: row %d: %v", name, i, err)
			}
		}
		if trip, ok := tx.(*tripTx); ok && trip.bytes > maxTripBytes {
			t.Errorf("%d bytes wait, want at most %d", trip.bytes, maxTripBytes)
		}
		if err := tx.commit(t.Context(), true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var n int
		if err := s.db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM workflow_layout`).Scan(&n); err != nil || n != rows {
			t.Errorf("%s: %d rows, %v; want %d", name, n, err, rows)
		}
	}
}

func TestWhatACallerGaveWhoHasLeftIsNotLookedAt(t *testing.T) {
	t.Parallel()
	s := emptyStores(t)["sqlite"]
	s.writer.close()
	// Nobody takes what is queued: the database hangs.
	s.writer = &writer{s: s, queue: make(chan *call, 1), stop: make(chan struct{}), finished: make(chan struct{})}
	defer s.writer.once.Do(func() { close(s.writer.finished) })
	ctx, leave := context.WithCancel(t.Context())
	transitions := []Transition{{Instance: &dag.Instance{ID: 7}}}
	left := make(chan []error, 1)
	go func() { left <- s.Commit(ctx, transitions) }()
	c := <-s.writer.queue
	leave()
	if errs := <-left; !errors.Is(errs[0], context.Canceled) {
		t.Fatalf("the caller left with %v", errs)
	}
	clear(transitions) // a caller uses its own again
	g := &gathering{seen: map[int64]bool{}}
	(&lane{writer: s.writer}).take(g, c)
	if len(g.ops) != 0 {
		t.Error("an operation was taken whose caller has left")
	}
}
