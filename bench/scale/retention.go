package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql" // a driver that the product uses
	_ "modernc.org/sqlite"             // the other

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/history"
	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/sql"
)

const (
	retentionBar = 1.5
	// retirePatience bounds how long is waited until the deletion has begun: a master looks every ten minutes.
	retirePatience = 12 * time.Minute
)

// retention measures starts before and while a master deletes what is old, which it begins with ten minutes after its start.
func (m *measure) retention(ctx context.Context) error {
	return m.cluster(ctx, site.Options{Masters: 1, Workers: 1, Slots: 16}, func(s *site.Site) error {
		if err := place(s, "live").Save(ctx, crowd.Chain(1, "noop", ""), nil); err != nil {
			return err
		}
		db, err := beside(s.DSN)
		if err != nil {
			return err
		}
		if err := m.retire(ctx, s, db); err != nil {
			return errors.Join(err, db.Close())
		}
		return db.Close()
	})
}

// beside opens the site's database beside the product.
func beside(dsn string) (*stdsql.DB, error) {
	driver, name, _ := strings.Cut(dsn, ":")
	if driver == "sqlite" {
		name = "file:" + name + "?_pragma=busy_timeout(30000)"
	}
	return stdsql.Open(driver, name)
}

func (m *measure) retire(ctx context.Context, s *site.Site, db *stdsql.DB) error {
	progress("%d old instances", m.old)
	store, err := sql.Open(ctx, sql.Config{DSN: s.DSN})
	if err != nil {
		return err
	}
	_, first, err := history.Fill(ctx, store, db, m.old, true)
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	left := func() (n int, err error) {
		err = db.QueryRowContext(ctx, `SELECT COUNT(*) FROM workflow_instance WHERE id >= ? AND id < ?`, first, first+int64(m.old)).Scan(&n)
		return n, err
	}
	c := crowd.Crowd{Site: s, Project: project, Workflow: "live"}
	if _, err := c.Lives(ctx, warmLives, liveEvery); err != nil {
		return err
	}
	alone, err := m.series(ctx, c, "beside them")
	if err != nil {
		return err
	}
	begun, err := left()
	if err != nil {
		return err
	}
	if begun < m.old {
		return fmt.Errorf("of %d old instances %d were left before they should be deleted: give fewer -old", m.old, begun)
	}
	progress("until their deletion begins: some minutes")
	within, cancel := context.WithTimeout(ctx, retirePatience)
	defer cancel()
	for began := time.Now(); ; {
		if begun, err = left(); err != nil {
			return err
		}
		if begun < m.old {
			break
		}
		if err := crowd.Pause(within, time.Second); err != nil {
			return fmt.Errorf("nothing is deleted within %s: %w", time.Since(began).Round(time.Second), err)
		}
	}
	if _, err := c.Lives(ctx, warmLives, liveEvery); err != nil {
		return err
	}
	began := time.Now()
	if begun, err = left(); err != nil {
		return err
	}
	with, err := m.series(ctx, c, "while they are deleted")
	if err != nil {
		return err
	}
	now, err := left()
	if err != nil {
		return err
	}
	if now == 0 || now == begun {
		return fmt.Errorf("of %d old instances %d were left before and %d after the starts: they are not measured beside a deletion", m.old, begun, now)
	}
	m.add(fair(fmt.Sprintf("start to end of one noop, p50 / p99, one start each %s, while %d old instances are deleted (%.0f a second meanwhile)", liveEvery, m.old,
		float64(begun-now)/time.Since(began).Seconds()), alone, with, retentionBar),
		figures.Row{What: "old instances that were left after it", Ours: fmt.Sprint(now), Value: float64(now)})
	return nil
}
