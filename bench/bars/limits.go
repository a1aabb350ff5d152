package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // the driver that the product uses

	"github.com/porpoise/porpoise/bench/figures"
)

const (
	samples   = 300                    // of each lone operation: enough for a p99 of three
	block     = 4096                   // bytes of one synced write
	rateFor   = 700 * time.Millisecond // of each bare rate
	rowsBatch = 100                    // rows per commit of the bare rows
)

// limits are what the machine does without the product.
type limits struct {
	commit time.Duration // p50 of one durable SQLite commit of one row
}

// lone repeats one operation and returns how long each took.
func lone(ctx context.Context, n int, op func() error) ([]time.Duration, error) {
	took := make([]time.Duration, 0, n)
	for range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := op(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

// disk measures what every durable step waits for. The rows have no bar: they are the
// limits that other rows name.
func (m *measure) disk(ctx context.Context) error {
	m.progress("the disk and the database alone")
	synced, err := m.syncedWrites(ctx)
	if err != nil {
		return fmt.Errorf("measure the disk: %w", err)
	}
	commits, err := m.loneCommits(ctx)
	if err != nil {
		return fmt.Errorf("measure lone commits: %w", err)
	}
	m.limits.commit = figures.Median(commits)
	m.rows = append(m.rows,
		row{What: "the disk: append 4 KiB and fdatasync, p50 / p99", Ours: figures.Milliseconds(figures.Median(synced)) + " / " + figures.Milliseconds(figures.Quantile(synced, 0.99)), Value: figures.InMilliseconds(figures.Median(synced))},
		row{What: "SQLite alone (WAL, synchronous=FULL): one row, one commit, p50 / p99", Ours: figures.Milliseconds(figures.Median(commits)) + " / " + figures.Milliseconds(figures.Quantile(commits, 0.99)), Value: figures.InMilliseconds(figures.Median(commits))})
	return nil
}

func (m *measure) syncedWrites(ctx context.Context) (took []time.Duration, err error) {
	f, err := os.Create(filepath.Join(m.dir, "synced"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data := make([]byte, block)
	return lone(ctx, samples, func() error {
		if _, err := f.Write(data); err != nil {
			return err
		}
		return unix.Fdatasync(int(f.Fd()))
	})
}

// database opens an empty SQLite file with one table, as durable as the product's.
func (m *measure) database(ctx context.Context, name string) (*stdsql.DB, error) {
	db, err := stdsql.Open("sqlite", "file:"+filepath.Join(m.dir, name)+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE fact (id INTEGER PRIMARY KEY, state TEXT NOT NULL, at INTEGER NOT NULL)"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (m *measure) loneCommits(ctx context.Context) (took []time.Duration, err error) {
	db, err := m.database(ctx, "commits.db")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	insert, err := db.PrepareContext(ctx, "INSERT INTO fact (state, at) VALUES ('running', ?)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	return lone(ctx, samples, func() error {
		_, err := insert.ExecContext(ctx, time.Now().UnixMilli())
		return err
	})
}

// bareRows is how long SQLite alone takes to keep the life of n tasks: one row each,
// inserted and changed twice, rowsBatch per durable commit.
func (m *measure) bareRows(ctx context.Context, n, run int) (took time.Duration, err error) {
	db, err := m.database(ctx, fmt.Sprintf("rows-%d.db", run))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	began := time.Now()
	for _, statement := range []string{
		"INSERT INTO fact (id, state, at) VALUES (?1, 'ready', ?2)",
		"UPDATE fact SET state = 'running', at = ?2 WHERE id = ?1",
		"UPDATE fact SET state = 'success', at = ?2 WHERE id = ?1",
	} {
		for first := 1; first <= n; first += rowsBatch {
			if err := batch(ctx, db, statement, first, min(first+rowsBatch, n+1)); err != nil {
				return 0, err
			}
		}
	}
	return time.Since(began), nil
}

// batch runs a statement for the ids from first up to before end, in one transaction.
func batch(ctx context.Context, db *stdsql.DB, statement string, first, end int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for id := first; id < end; id++ {
		if _, err := tx.ExecContext(ctx, statement, id, time.Now().UnixMilli()); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// spawns is how long `sh -c true` takes alone, one after another.
func spawns(ctx context.Context) ([]time.Duration, error) {
	return lone(ctx, samples, func() error { return exec.Command("sh", "-c", "true").Run() })
}

// pipeRate is how many `sh -c 'echo x'` per second this machine runs and reads through
// a pipe: the best of several widths, since one per core leaves cores idle while a
// process starts.
func pipeRate(ctx context.Context) (float64, error) {
	best := 0.0
	for _, width := range []int{runtime.NumCPU(), 2 * runtime.NumCPU(), 4 * runtime.NumCPU()} {
		rate, err := pipeRateOf(ctx, width)
		if err != nil {
			return 0, fmt.Errorf("measure sh through a pipe: %w", err)
		}
		best = max(best, rate)
	}
	return best, nil
}

func pipeRateOf(ctx context.Context, width int) (float64, error) {
	var done atomic.Int64
	var wrong error
	var once sync.Once
	var wait sync.WaitGroup
	began := time.Now()
	for range width {
		wait.Go(func() {
			for time.Since(began) < rateFor && ctx.Err() == nil {
				if out, err := exec.Command("sh", "-c", "echo x").Output(); err != nil || string(out) != "x\n" {
					once.Do(func() { wrong = errors.Join(err, fmt.Errorf("it printed %q", out)) })
					return
				}
				done.Add(1)
			}
		})
	}
	wait.Wait()
	if err := errors.Join(wrong, ctx.Err()); err != nil {
		return 0, err
	}
	return float64(done.Load()) / time.Since(began).Seconds(), nil
}
