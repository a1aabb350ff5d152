package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/porpoise/porpoise/bench/chaos/rig"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

const (
	// lostMiddle and lostBar are from kill -9 of a worker, whose leases last 6 s, to a new attempt
	// of each of its tasks running on another one.
	lostMiddle = 8 * time.Second
	lostBar    = 10 * time.Second
	// farmWorkers share farmTasks, so that each has some.
	farmWorkers = 3
	farmTasks   = 12
	napping     = "name: nap\ntasks:\n  - {name: nap, type: shell, script: sleep 900}\n"
)

// farm is a cluster of some workers, of which one after the other is killed.
type farm struct {
	*rig.Rig
	client *client.Client
	db     *stdsql.DB
	mark   int64 // the instances of the trial have higher ids
	ids    []string
}

// lose measures, many times, how long the tasks of a killed worker are without a running attempt:
// where its control process is killed alone, so that its runner is left to end them at their
// deadline, and where its runner and the tasks die with it, as with their host.
func lose(ctx context.Context, o options) (measured []figures.Spread, err error) {
	dir, err := os.MkdirTemp("", "porpoise-cluster.")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary, err := site.Binary(ctx, o.porpoise, dir)
	if err != nil {
		return nil, err
	}
	r, err := rig.Start(ctx, filepath.Join(dir, "run"), rig.Options{
		Binary: binary, Masters: 3, Workers: farmWorkers, Apiservers: 1, Etcd: 3, Slots: farmTasks, LogLevel: "info",
	}, func(context.Context, *rig.Rig) error { return nil })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	f := &farm{Rig: r}
	if f.db, err = r.Database(); err != nil {
		return nil, fmt.Errorf("open the cluster's database: %w", err)
	}
	defer func() { err = errors.Join(err, f.db.Close()) }()
	if f.client, err = client.New(client.Config{Server: r.URLs[0], Token: r.Token, Agent: "porpoise-bench"}); err != nil {
		return nil, err
	}
	if _, err := f.client.PutProject(ctx, "p", ""); err != nil {
		return nil, err
	}
	if _, err := f.client.SaveWorkflow(ctx, client.Save{Project: "p", Workflow: "nap", Format: "yaml", Text: []byte(napping), Match: "*", Publish: true}); err != nil {
		return nil, err
	}
	return f.measure(ctx, o.kills)
}

// measure makes the trials of both kinds in turn.
func (f *farm) measure(ctx context.Context, kills int) ([]figures.Spread, error) {
	kinds := []figures.Spread{
		{What: "worker kill -9, control process alone -> its tasks running elsewhere", Middle: lostMiddle, Bar: lostBar},
		{What: "worker kill -9 with its runner and tasks -> these running elsewhere", Middle: lostMiddle, Bar: lostBar},
	}
	for trial := range kills * len(kinds) {
		kind := trial % len(kinds)
		victim := f.Role("worker")[trial%farmWorkers]
		took, tasks, err := f.kill(ctx, victim, kind == 1)
		if err != nil {
			return kinds, fmt.Errorf("kill %s: %w", victim, err)
		}
		kinds[kind].Took = append(kinds[kind].Took, took)
		progress("kill %d of %d: %s, %d tasks elsewhere after %s", trial+1, kills*len(kinds), victim, tasks, figures.Short(took))
	}
	return kinds, nil
}

// kill makes one trial: it returns how long it took until all tasks of the victim ran elsewhere,
// and how many those were. Then the victim is started again.
func (f *farm) kill(ctx context.Context, victim string, host bool) (time.Duration, int, error) {
	if err := f.db.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM `+f.Prefix+`.workflow_instance`).Scan(&f.mark); err != nil {
		return 0, 0, fmt.Errorf("read the last id: %w", err)
	}
	f.ids = make([]string, farmTasks)
	err := each(ctx, farmTasks, func(ctx context.Context, i int) (err error) {
		f.ids[i], err = f.client.StartWorkflow(ctx, "p", "nap", client.Start{})
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	if err := soon(ctx, "all tasks run", func() error { return f.running(ctx, farmTasks, `number = 1`) }); err != nil {
		return 0, 0, err
	}
	var tasks int
	if err := f.count(ctx, &tasks, `worker = ?`, victim); err != nil {
		return 0, 0, err
	}
	if tasks == 0 {
		return 0, 0, errors.New("it has no task")
	}
	began := time.Now()
	f.Kill(victim)
	if host {
		f.KillTree(victim)
	}
	err = soon(ctx, "its tasks run elsewhere", func() error { return f.running(ctx, tasks, `number = 2 AND worker <> ?`, victim) })
	took := time.Since(began)
	if err != nil {
		return took, tasks, err
	}
	return took, tasks, f.reset(ctx, victim)
}

// reset ends the trial's instances and brings the victim back.
func (f *farm) reset(ctx context.Context, victim string) error {
	err := each(ctx, farmTasks, func(ctx context.Context, i int) error {
		_, err := f.client.Control(ctx, f.ids[i], "stop", nil)
		return err
	})
	if err != nil {
		return err
	}
	if err := f.Revive(ctx, victim); err != nil {
		return err
	}
	return soon(ctx, "all workers are in and idle", func() error {
		nodes, err := f.client.Workers(ctx)
		if err == nil && len(nodes) != farmWorkers {
			err = fmt.Errorf("there are %d", len(nodes))
		}
		return errors.Join(err, f.running(ctx, 0, `number > 0`))
	})
}

// running says, unless as many attempts of the trial run as are wanted, how many do.
func (f *farm) running(ctx context.Context, want int, condition string, args ...any) error {
	var n int
	if err := f.count(ctx, &n, condition, args...); err != nil {
		return err
	}
	if n != want {
		return fmt.Errorf("%d of %d", n, want)
	}
	return nil
}

func (f *farm) count(ctx context.Context, n *int, condition string, args ...any) error {
	query := `SELECT COUNT(*) FROM ` + f.Prefix + `.task_attempt WHERE instance_id > ? AND state = 'running' AND ` + condition
	if err := f.db.QueryRowContext(ctx, query, append([]any{f.mark}, args...)...).Scan(n); err != nil {
		return fmt.Errorf("count attempts: %w", err)
	}
	return nil
}
