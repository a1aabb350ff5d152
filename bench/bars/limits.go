package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // the driver that the product uses

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
)

const (
	samples   = 300                    // of each lone operation: enough for a p99 of three
	block     = 4096                   // bytes of one synced write
	rateFor   = 700 * time.Millisecond // of each bare rate
	rowsBatch = 100                    // rows per commit of the bare rows
)

// limits are what the machine does without the product.
type limits struct {
	commit [2]time.Duration // p50 of one durable commit of one row, on SQLite and on MariaDB
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
	pings, err := pings(ctx)
	if err != nil {
		return fmt.Errorf("measure pings: %w", err)
	}
	m.limits.commit[0] = figures.Median(commits)
	m.alone("the disk: append 4 KiB and fdatasync, p50 / p99", synced)
	m.alone("TCP on loopback: 64 bytes there and back, p50 / p99", pings)
	m.alone("SQLite alone (WAL, synchronous=FULL): one row, one commit, p50 / p99", commits)
	return nil
}

// server measures a lone commit of the database server.
func (m *measure) server(ctx context.Context) (err error) {
	dsn, drop, err := site.Scratch(ctx, m.mariadb)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop(context.WithoutCancel(ctx))) }()
	db, err := stdsql.Open("mysql", dsn+"?interpolateParams=true")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "CREATE TABLE fact (id BIGINT AUTO_INCREMENT PRIMARY KEY, state VARCHAR(16) NOT NULL, at BIGINT NOT NULL)"); err != nil {
		return err
	}
	commits, err := lone(ctx, samples, func() error {
		_, err := db.ExecContext(ctx, "INSERT INTO fact (state, at) VALUES ('running', ?)", time.Now().UnixMilli())
		return err
	})
	if err != nil {
		return err
	}
	m.limits.commit[1] = figures.Median(commits)
	m.alone("the database server alone (flush at each commit, TCP): one row, one commit, p50 / p99", commits)
	return nil
}

// alone adds the row of a limit. It has no bar: other rows name it.
func (m *measure) alone(what string, took []time.Duration) {
	m.rows = append(m.rows, row{
		What: what, Ours: figures.Milliseconds(figures.Median(took)) + " / " + figures.Milliseconds(figures.Quantile(took, 0.99)), N: len(took), Value: figures.InMilliseconds(figures.Median(took)),
	})
}

// pings sends a few bytes over a loopback connection and waits until they are back.
func pings(ctx context.Context) (took []time.Duration, err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	go func() { // ends with the connection
		if conn, err := listener.Accept(); err == nil {
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}
	}()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	data := make([]byte, 64)
	return lone(ctx, 10*samples, func() error {
		if _, err := conn.Write(data); err != nil {
			return err
		}
		_, err := io.ReadFull(conn, data)
		return err
	})
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

// file opens an empty SQLite file with one table, as durable as the product's.
func (m *measure) file(ctx context.Context, name string) (*stdsql.DB, error) {
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
	db, err := m.file(ctx, "commits.db")
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
	db, err := m.file(ctx, fmt.Sprintf("rows-%d.db", run))
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
// a pipe: the best of several widths, the last of which is as many as a worker has slots.
func pipeRate(ctx context.Context) (float64, error) {
	best := 0.0
	for _, width := range []int{runtime.NumCPU(), 2 * runtime.NumCPU(), slots} {
		n, took, err := spawnMany(ctx, width, []string{"-c", "echo x"}, "x\n", func(_ int, so time.Duration) bool { return so < rateFor })
		if err != nil {
			return 0, fmt.Errorf("measure sh through a pipe: %w", err)
		}
		best = max(best, float64(n)/took.Seconds())
	}
	return best, nil
}

// bareSpawns is how long n `sh -c true` take, width at once.
func bareSpawns(ctx context.Context, n, width int) (time.Duration, error) {
	_, took, err := spawnMany(ctx, width, []string{"-c", "true"}, "", func(begun int, _ time.Duration) bool { return begun <= n })
	return took, err
}

// spawnMany runs sh again and again, width at once, while more says so, and returns how many have ended and when the last did.
func spawnMany(ctx context.Context, width int, args []string, want string, more func(begun int, so time.Duration) bool) (int64, time.Duration, error) {
	var begun, done atomic.Int64
	all, within := errgroup.WithContext(ctx)
	began := time.Now()
	for range width {
		all.Go(func() error {
			for within.Err() == nil && more(int(begun.Add(1)), time.Since(began)) {
				if out, err := exec.Command("sh", args...).Output(); err != nil || string(out) != want {
					return errors.Join(err, fmt.Errorf("it printed %q", out))
				}
				done.Add(1)
			}
			return within.Err()
		})
	}
	err := all.Wait()
	return done.Load(), time.Since(began), err
}
