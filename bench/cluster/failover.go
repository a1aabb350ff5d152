package main

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql" // the cluster's database
	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

const (
	// crashBar and crashBarMany are from kill -9 of a master to all of its instances progressing
	// elsewhere; its lease is 5 s. handoverBar is from SIGTERM to all of them with the other.
	crashBar        = 8 * time.Second
	crashBarMany    = 15 * time.Second
	handoverBar     = time.Second
	handoverBarMany = 3 * time.Second
	// manyFrom is where the second bars begin.
	manyFrom = 1_000
	// ticks is how many steps of one second an instance of the small round has: more than one trial
	// needs. Each trial has instances of its own.
	ticks = 60
	// lookEvery is how often the database is asked; it is part of what is measured.
	lookEvery = 20 * time.Millisecond
	// starters is how many callers start instances at once.
	starters = 16
)

// The two masters that take from each other.
var masterNames = [2]string{"master-1", "master-2"}

// pair is a cluster of two masters, one of which has all instances.
type pair struct {
	*site.Site
	db     *stdsql.DB
	n      int
	mark   int64 // the instances of the trial have higher ids
	ids    []string
	holder int  // index into masterNames
	moving bool // they take a step each second
}

// failover measures, with n instances on one master, how long it takes until they progress on the
// other: after kill -9 of the first, and then, back again, after a stop of the other.
func failover(ctx context.Context, o options, n int) (measured []figures.Spread, err error) {
	crash := figures.Spread{What: fmt.Sprintf("master kill -9 -> its %d instances progressing elsewhere", n), Bar: crashBar}
	stop := figures.Spread{What: fmt.Sprintf("master SIGTERM -> its %d instances with the other", n), Bar: handoverBar}
	if n >= manyFrom {
		crash.Bar, stop.Bar = crashBarMany, handoverBarMany
	}
	err = o.onPair(ctx, func(p *pair) error {
		p.n, p.moving = n, n < manyFrom
		if err := p.fill(ctx); err != nil {
			return err
		}
		for trial := range o.trials {
			took, err := p.lose(ctx, func(m *site.Part) { m.Kill() }, true)
			if err != nil {
				return err
			}
			crash.Took = append(crash.Took, took)
			progress("trial %d: crash %s", trial+1, figures.Short(took))
			if took, err = p.lose(ctx, func(m *site.Part) { m.Signal(syscall.SIGTERM) }, false); err != nil {
				return err
			}
			stop.Took = append(stop.Took, took)
			progress("trial %d: stop %s", trial+1, figures.Short(took))
		}
		return nil
	})
	return []figures.Spread{crash, stop}, err
}

// onPair does something with a cluster of two masters that has an empty project p.
func (o options) onPair(ctx context.Context, do func(p *pair) error) (err error) {
	dir, err := os.MkdirTemp("", "porpoise-cluster.")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary, err := site.Binary(ctx, o.porpoise, dir)
	if err != nil {
		return err
	}
	s, err := site.Cluster(ctx, site.Options{Binary: binary, Database: o.database, Masters: 2, Workers: 1, LogLevel: "info"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	db, err := stdsql.Open("mysql", strings.TrimPrefix(s.DSN, "mysql:"))
	if err != nil {
		return fmt.Errorf("open the cluster's database: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := s.Client.PutProject(ctx, "p", ""); err != nil {
		return err
	}
	return do(&pair{Site: s, db: db})
}

// fill saves the workflow, starts n instances and gives all of them to the first master.
func (p *pair) fill(ctx context.Context) error {
	type task map[string]any
	tasks := []task{{"name": "hold", "type": "wait", "for": "24h"}}
	if p.moving {
		tasks = tasks[:0]
		for i := range ticks {
			t := task{"name": fmt.Sprintf("t%d", i), "type": "wait", "for": "1s"}
			if i > 0 {
				t["needs"] = []string{fmt.Sprintf("t%d", i-1)}
			}
			tasks = append(tasks, t)
		}
	}
	text, err := json.Marshal(map[string]any{"name": "held", "tasks": tasks})
	if err != nil {
		return fmt.Errorf("write the workflow: %w", err)
	}
	if _, err := p.Client.SaveWorkflow(ctx, client.Save{Project: "p", Workflow: "held", Format: "json", Text: text, Match: "*", Publish: true}); err != nil {
		return err
	}
	if err := p.begin(ctx); err != nil {
		return err
	}
	p.holder = 1
	_, err = p.lose(ctx, func(m *site.Part) { m.Signal(syscall.SIGTERM) }, false)
	return err
}

// begin starts n more instances and waits until all run.
func (p *pair) begin(ctx context.Context) error {
	progress("starting %d instances", p.n)
	if err := p.db.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM workflow_instance`).Scan(&p.mark); err != nil {
		return fmt.Errorf("read the last id: %w", err)
	}
	p.ids = make([]string, p.n)
	err := each(ctx, p.n, func(ctx context.Context, i int) (err error) {
		p.ids[i], err = p.Client.StartWorkflow(ctx, "p", "held", client.Start{})
		return err
	})
	if err != nil {
		return err
	}
	return soon(ctx, "all run", func() error { return p.count(ctx, `owner <> '' AND crash_count = 0`) })
}

// each does something for each of n, a few at a time.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range starters {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := do(ctx, int(i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// lose ends the holder, and returns how long it took until the other progressed with all instances:
// each has its first step there committed, or, where they are many and it did not crash, the other
// owns them. Then the lost one is started again.
func (p *pair) lose(ctx context.Context, end func(*site.Part), crash bool) (time.Duration, error) {
	lost, other := p.Part(masterNames[p.holder]), masterNames[1-p.holder]
	there := `owner LIKE '` + other + `:%'`
	if crash {
		there += ` AND crash_count = 0` // a takeover raises it, the first commit there clears it
	}
	before := int64(0)
	if p.moving {
		if err := p.db.QueryRowContext(ctx, `SELECT MAX(seq) FROM workflow_instance WHERE id > ?`, p.mark).Scan(&before); err != nil {
			return 0, fmt.Errorf("read how far the instances are: %w", err)
		}
	}
	began := time.Now()
	end(lost)
	err := soon(ctx, "the other has all", func() error { return p.count(ctx, there) })
	took := time.Since(began)
	if err != nil {
		return took, err
	}
	if p.moving {
		if err := soon(ctx, "all move on", func() error { return p.count(ctx, there+fmt.Sprintf(` AND seq > %d`, before)) }); err != nil {
			return took, err
		}
		if crash {
			took = time.Since(began)
		}
	}
	if crash {
		p.account(ctx, began)
	}
	if err := lost.Wait(ctx); err != nil && !crash {
		return took, fmt.Errorf("%s: %w:\n%s", lost.Name, err, lost.Tail())
	}
	if p.moving && !crash {
		err := each(ctx, p.n, func(ctx context.Context, i int) error {
			_, err := p.Client.Control(ctx, p.ids[i], "stop", nil)
			return err
		})
		if err != nil {
			return took, err
		}
		if err := p.begin(ctx); err != nil { // with the other alone, so that it gets all
			return took, err
		}
	}
	if err := p.Restart(ctx, lost); err != nil {
		return took, err
	}
	p.holder = 1 - p.holder
	return took, p.Until(ctx, "both masters are in", func() error {
		nodes, err := p.Client.Masters(ctx)
		if err == nil && len(nodes) != 2 {
			err = fmt.Errorf("there are %d", len(nodes))
		}
		return err
	})
}

// account says how the takeover went by its own account.
func (p *pair) account(ctx context.Context, began time.Time) {
	rows, err := p.Client.Failovers(ctx, "master", 1)
	if err != nil || len(rows) == 0 {
		progress("no account of the takeover: %v", err)
		return
	}
	for _, step := range rows[0].Steps {
		progress("  %s after %s, %d instances", step.Name, figures.Short(step.At.Sub(began)), rows[0].Instances)
	}
}

// soon looks until a check passes.
func soon(ctx context.Context, what string, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w: %w", what, ctx.Err(), err)
		case <-time.After(lookEvery):
		}
	}
}

// count says, unless all instances meet a condition, how many do.
func (p *pair) count(ctx context.Context, condition string) error {
	var n int
	if err := p.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM workflow_instance WHERE id > ? AND `+condition, p.mark).Scan(&n); err != nil {
		return fmt.Errorf("count instances: %w", err)
	}
	if n != p.n {
		return fmt.Errorf("%d of %d", n, p.n)
	}
	return nil
}
