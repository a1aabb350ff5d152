// Command scale measures how the product does as the work grows: large graphs, more masters and workers, a thousand workers,
// one project's flood and its lists beside another project's work, what an overload is answered, and the deletion of a million old instances. It prints one table.
//
// It owns what is measured, how, and the bars' numbers. What it measures is a real binary in processes of its own
// (bench/site), with the load of bench/crowd; only the thousand workers are simulated, by streams that answer as a worker
// does. It is for a machine of few cores: what more processes gain there is judged by the processor time of a task. `make
// bench-scale`, `make bench-fairness` and `make bench-retention` run it; it ends with 1 when a bar is missed.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
)

const project = "scale"

// options are the command line.
type options struct {
	porpoise string
	only     string
	mariadb  string // a server of MySQL or MariaDB, as a DSN without a database; "" for none
	runs     int
	tasks    int // of the large graph
	wide     int // of the wide one
	fleet    int // simulated workers
	lives    int // of which a p99 is taken
	old      int // instances to delete
}

func main() {
	var o options
	flag.StringVar(&o.porpoise, "porpoise", "", "the porpoise binary; built when empty")
	flag.StringVar(&o.only, "only", "graph,wide,masters,workers,fleet", "what is measured, by commas: also burners, flood, group, backfill, priority, slow, lists, pressure, retention")
	flag.IntVar(&o.runs, "runs", 3, "repeats of graphs, of each number of masters and workers, and of each p99; the median counts")
	flag.IntVar(&o.tasks, "tasks", 10_000, "tasks of the large graph")
	flag.IntVar(&o.wide, "wide", 5_000, "tasks side by side of the wide one")
	flag.IntVar(&o.fleet, "fleet", 1_000, "simulated workers")
	flag.IntVar(&o.lives, "lives", 300, "starts of which a p99 is taken")
	flag.IntVar(&o.old, "old", 1_000_000, "old instances to delete")
	flag.Parse()
	o.mariadb = os.Getenv("PORPOISE_TEST_MYSQL")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// run measures what is wanted, prints it, and returns an error when a bar is missed.
func run(ctx context.Context, o options) (err error) {
	if o.runs < 1 || o.tasks < 2000 || o.wide < 1 || o.fleet < 1 || o.lives < 1 || o.old < 1 {
		return errors.New("want at least 2000 -tasks, and at least 1 of each other number")
	}
	dir, err := os.MkdirTemp("", "porpoise-scale.")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.porpoise, err = site.Binary(ctx, o.porpoise, dir); err != nil {
		return err
	}
	version, err := site.ServerVersion(ctx, o.mariadb)
	if err != nil {
		return err
	}
	m := &measure{options: o}
	report := figures.Report{Machine: figures.Machine() + version, LoadBefore: figures.Load()}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"graph", m.graph},
		{"wide", m.wideGraph},
		{"masters", m.masters},
		{"workers", m.workers},
		{"fleet", m.thousand},
		{"burners", m.besideBurners},
		{"flood", m.besideFlood},
		{"group", m.besideGroup},
		{"backfill", m.besideBackfill},
		{"priority", m.besidePriorities},
		{"slow", m.besideSlowly},
		{"lists", m.besideLists},
		{"pressure", m.pressure},
		{"retention", m.retention},
	} {
		if !slices.Contains(strings.Split(o.only, ","), step.name) {
			continue
		}
		// What one step has measured is shown even where a later one fails.
		if e := step.run(ctx); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", step.name, e))
		}
		if ctx.Err() != nil {
			break
		}
	}
	report.Rows, report.LoadAfter = m.rows, figures.Load()
	fmt.Print(report.Markdown())
	return errors.Join(err, report.Missed())
}

// measure is a run: the rows so far.
type measure struct {
	options
	rows []figures.Row
}

func (m *measure) add(rows ...figures.Row) { m.rows = append(m.rows, rows...) }

// cluster starts that many masters and workers, runs work on them and takes them down. Without a database server it is on SQLite.
func (m *measure) cluster(ctx context.Context, o site.Options, work func(*site.Site) error) error {
	o.Binary, o.Database = m.porpoise, cmp.Or(o.Database, m.mariadb, site.SQLite)
	s, err := site.Cluster(ctx, o)
	return on(ctx, s, err, work)
}

// standalone is the same for one process.
func (m *measure) standalone(ctx context.Context, work func(*site.Site) error) error {
	s, err := site.Standalone(ctx, site.Options{Binary: m.porpoise})
	return on(ctx, s, err, work)
}

func on(ctx context.Context, s *site.Site, err error, work func(*site.Site) error) error {
	if err != nil {
		return err
	}
	if _, err = s.Client.PutProject(ctx, project, "Measured"); err == nil {
		err = work(s)
	}
	return errors.Join(err, s.Stop())
}

func place(s *site.Site, workflow string) crowd.Place {
	return crowd.Place{Client: s.Client, Project: project, Workflow: workflow}
}

// progress says on standard error what is being measured: the whole takes minutes.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "scale: "+format+"\n", args...)
}
