// Command outage takes the stores of a running cluster away, or its processors, and measures what
// that costs under a steady load: etcd away; the database dead, silent, slow, without connections,
// without space, read-only; or eight processes that burn each core.
//
// It owns the load of two kinds (short workflows at a rate, and long tasks that live through the
// outage), how each outage is made, the figures and their bars; the cluster is package rig's. It
// judges by bars that are the same for all: nothing acked is lost, no task is killed or doubled,
// nobody is declared dead, refusals say when to come again, and starts run again within seconds
// after the return. `make bench-outage` runs it; it ends with 1 when a bar is missed.
package main

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/porpoise/porpoise/bench/chaos/rig"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
)

// options are the command line.
type options struct {
	binary, dir string
	rate        float64
	outages     []outage
}

func main() {
	var o options
	flag.StringVar(&o.binary, "porpoise", "", "binary of the product; built when not given")
	flag.Float64Var(&o.rate, "rate", 2, "starts per second")
	flag.StringVar(&o.dir, "dir", "", "folder for the logs; a temporary one when not given")
	lengths := make([]*time.Duration, len(kinds))
	for i, k := range kinds {
		lengths[i] = flag.Duration(k.flag, k.usual, "for how long: "+k.What+"; 0 for not at all")
	}
	flag.Parse()
	for i, k := range kinds {
		if k.For = *lengths[i]; k.For > 0 {
			o.outages = append(o.outages, k)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "outage:", err)
		os.Exit(1)
	}
}

// bench is the cluster and what is known of it.
type bench struct {
	*rig.Rig
	load *load
	disk *disk    // what the database is on, where that is to be full
	fell []string // parts that ended by themselves in this outage, and were started again
}

func run(ctx context.Context, o options) (err error) {
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "porpoise-outage-"); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
	}
	binary, err := site.Binary(ctx, o.binary, o.dir)
	if err != nil {
		return err
	}
	b := &bench{}
	ro := rig.Options{Binary: binary, Masters: 3, Workers: 3, Apiservers: 1, Etcd: 3, Slots: 24, LogLevel: "info"}
	for _, k := range o.outages {
		if k.flag == "full" {
			if b.disk, err = mount(); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.disk.unmount()) }()
			ro.DatabaseIn = b.disk.path
		}
	}
	if b.Rig, err = rig.Start(ctx, filepath.Join(o.dir, "run"), ro, func(context.Context, *rig.Rig) error { return nil }); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Stop()) }()
	b.load = &load{url: b.URLs[0] + "/api/v1", token: b.Token}
	if err := b.load.save(ctx); err != nil {
		return err
	}
	var rows [][]string
	var wrong []error
	for _, out := range o.outages {
		f, err := b.measure(ctx, out, o.rate)
		if err != nil {
			return fmt.Errorf("%s: %w", out.What, err)
		}
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		fmt.Println(string(text))
		rows = append(rows, f.cells())
		wrong = append(wrong, f.missed(out)...)
	}
	fmt.Printf("\n%s Load average: %s.\nLeases of masters 5 s, of workers 6 s.\n\n%s", figures.Machine(), figures.Load(), figures.Table(header, rows))
	return errors.Join(wrong...)
}

const (
	// settleWait bounds the wait for all that was acked, calm is what lies before and behind an outage.
	settleWait = 90 * time.Second
	calm       = 5 * time.Second
	longTasks  = 10
)

// measure makes an outage under load, ends it, and waits until all is settled.
func (b *bench) measure(ctx context.Context, o outage, rate float64) (cost, error) {
	f := cost{What: o.What}
	b.load.reset(o.pad)
	before, err := b.standing(ctx)
	if err != nil {
		return f, err
	}
	long, err := b.load.startLong(ctx, longTasks, o.For+3*calm)
	if err != nil {
		return f, err
	}
	loading, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); b.load.run(loading, rate) }()
	defer func() { end(); <-done }()
	sleep(ctx, calm)
	logged, from := b.LogBytes(), time.Now()
	fmt.Fprintf(os.Stderr, "outage: %s, for %s\n", o.What, o.For)
	if f.Note, err = o.happen(ctx, b, o.For); err != nil {
		return f, err
	}
	to := time.Now()
	f.Down, f.LogPerSecond = to.Sub(from).Seconds(), loudest(logged, b.LogBytes(), to.Sub(from))
	f.NormalAfter, err = b.load.normal(ctx, to)
	if err != nil {
		return f, err
	}
	sleep(ctx, calm)
	end()
	<-done
	if err := b.load.judge(ctx, &f, long, from, to); err != nil {
		return f, err
	}
	after, err := b.standing(ctx)
	f.Failovers, f.LostAttempts, f.FailedInstances = after.failovers-before.failovers, after.lost-before.lost, after.failed-before.failed
	f.Ended, b.fell = b.fell, nil
	for _, node := range b.Nodes {
		if b.Dead(node) {
			f.Ended = append(f.Ended, node)
		}
	}
	return f, err
}

// standing is what the database has of attempts that were called lost, of instances that did not
// succeed, and of takeovers.
type standing struct{ lost, failed, failovers int }

func (b *bench) standing(ctx context.Context) (s standing, err error) {
	err = b.admin(func(db *stdsql.DB) error {
		for query, into := range map[string]*int{
			"task_attempt WHERE state <> 'success' AND state <> 'running'":          &s.lost,
			"workflow_instance WHERE state IN ('failed', 'stopped', 'quarantined')": &s.failed,
			"failover": &s.failovers,
		} {
			if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+b.Prefix+"."+query).Scan(into); err != nil {
				return fmt.Errorf("count %s: %w", query, err)
			}
		}
		return nil
	})
	return s, err
}

// admin is with a connection of the server's own user, who may do everything.
func (b *bench) admin(do func(*stdsql.DB) error) (err error) {
	db, err := b.Database()
	if err != nil {
		return fmt.Errorf("open the database server: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	return do(db)
}

// loudest is how many bytes a second the node logged that logged most.
func loudest(before, after map[string]int64, in time.Duration) float64 {
	var most int64
	for node, size := range after {
		most = max(most, size-before[node])
	}
	return float64(most) / in.Seconds()
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
