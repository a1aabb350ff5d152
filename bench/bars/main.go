// Command bars measures the product against its bars, and against what this machine can
// do at all, in one run, and prints one table.
//
// It owns what is measured, how, and the bars' numbers; the site that it measures is a
// real binary in processes of its own (bench/site), and what it asks of it goes through
// the REST API. It never judges a limit from another day or machine: each is measured
// beside the product's number. `make bench` runs it; it ends with 1 when a bar is missed.
package main

import (
	"context"
	"encoding/json"
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

// options are the command line.
type options struct {
	porpoise string
	against  string
	only     string
	runs     int
	json     bool
	write    bool
	profile  string
	mariadb  string // a server of MySQL or MariaDB, as a DSN without a database; "" for none
	running  int    // instances whose memory is measured
	waiting  int
}

func main() {
	var o options
	var s part
	flag.StringVar(&s.role, "skeleton", "", "be that part of the skeleton: hub or hand; for this program itself")
	flag.StringVar(&s.hub, "skeleton-hub", "", "where its hub listens, for the hand")
	flag.StringVar(&s.database, "skeleton-database", "", "its database, for the hub")
	flag.StringVar(&o.porpoise, "porpoise", "", "the porpoise binary; built when empty")
	flag.StringVar(&o.against, "against", "", "another porpoise binary: only the throughput of both is measured, in -runs pairs")
	flag.StringVar(&o.only, "only", "", "what is measured, by commas; empty is all")
	flag.IntVar(&o.runs, "runs", 5, "repeats of what is not repeated within itself; the median counts")
	flag.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	flag.BoolVar(&o.write, "write", false, "put the table into "+document+", too")
	flag.StringVar(&o.profile, "profile", "", "a folder for the profiles of each process: processor time of each flood, then allocations, mutexes, blocking; and for the statements of the database server")
	flag.IntVar(&o.running, "running", 10_000, "running instances whose memory is measured")
	flag.IntVar(&o.waiting, "waiting", 100_000, "waiting instances whose memory is measured")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	o.mariadb = os.Getenv("PORPOISE_TEST_MYSQL")
	work := func() error { return run(ctx, o) }
	if s.role != "" {
		work = func() error { return s.run(ctx) }
	}
	err := work()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bars:", err)
		os.Exit(1)
	}
}

// run measures everything, prints it, and returns an error when a bar is missed.
func run(ctx context.Context, o options) (err error) {
	if o.runs < 1 {
		return fmt.Errorf("runs %d: want at least 1", o.runs)
	}
	dir, err := os.MkdirTemp("", "porpoise-bars.")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.porpoise, err = site.Binary(ctx, o.porpoise, dir); err != nil {
		return err
	}
	if o.against != "" {
		if o.against, err = site.Binary(ctx, o.against, dir); err != nil {
			return err
		}
		return compare(ctx, o, dir)
	}
	m := &measure{options: o, dir: dir}
	report := report{figures.Report{Machine: figures.Machine(), LoadBefore: figures.Load()}}
	version, err := site.ServerVersion(ctx, o.mariadb)
	if err != nil {
		return err
	}
	report.Machine += version
	wrong := m.all(ctx) // what could be measured is shown all the same
	report.Rows, report.LoadAfter = m.rows, figures.Load()
	if o.json {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		err = out.Encode(report.Report)
	} else {
		_, err = fmt.Print(report.Markdown())
	}
	if err == nil && wrong == nil && o.write {
		err = report.write()
	}
	return errors.Join(wrong, err, report.Missed())
}

const (
	project = "bars"
	// slots are those of every worker that is measured, and how many processes the bare rate runs at most.
	slots = 16
)

// measure is a run: the site that is measured, and the rows so far.
type measure struct {
	options
	dir      string
	site     *site.Site
	database int    // 0 is SQLite, 1 a server
	where    string // the same in words
	limits   limits
	rows     []row
	pprof    map[string]string // addresses of the site's profiles by role; none where they are not wanted
}

// step is one thing that is measured; what must is a limit of others, or makes the site.
type step struct {
	name string
	run  func(context.Context) error
	must bool
}

// all measures in an order that keeps each limit near what it is the limit of.
func (m *measure) all(ctx context.Context) error {
	m.database, m.where = 0, "standalone, SQLite"
	err := m.each(ctx, []step{
		{"disk", m.disk, true},
		{"cold", m.cold, true},
		{"idle", m.idle, false},
		{"trivial", m.trivial, false},
		{"noop", m.noopChain, false},
		{"shell", m.shellChain, false},
		{"fan", m.fan, false},
		{"echo", m.echoes, false},
		{"begin", m.begin, false},
		{"flood", m.floods, false},
		{"restart", m.restart, false},
	})
	if m.mariadb == "" {
		m.progress("PORPOISE_TEST_MYSQL names no server: nothing is measured on MariaDB")
	} else {
		m.database, m.where = 1, "a process for each role, MariaDB"
		err = errors.Join(err, m.each(ctx, []step{
			{"server", m.server, true},
			{"cluster", m.cluster, true},
			{"idle", m.idleWorker, false},
			{"noop", m.noopChain, false},
			{"begin", m.begin, false},
			{"flood", m.floods, false},
			{"statements", m.statements, true},
		}))
	}
	return errors.Join(err, m.each(ctx, []step{{"memory", m.memory, false}}))
}

// each makes those of the steps that are wanted, and takes the site down that they have left.
func (m *measure) each(ctx context.Context, steps []step) (err error) {
	defer func() {
		if m.site != nil {
			err = errors.Join(err, m.site.Stop())
			m.site = nil
		}
	}()
	wanted := func(s step) bool { return m.only == "" || slices.Contains(strings.Split(m.only, ","), s.name) }
	if !slices.ContainsFunc(steps, wanted) {
		return nil
	}
	for _, s := range steps {
		if !s.must && !wanted(s) {
			continue
		}
		if e := s.run(ctx); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", s.name, e))
			why, _, _ := strings.Cut(e.Error(), "\n")
			m.rows = append(m.rows, row{What: s.name + ": not measured to its end; " + m.where, Ours: why, Bar: "measured", Missed: true})
			if s.must || ctx.Err() != nil {
				return err
			}
		}
	}
	return err
}

// cluster starts a process for each role.
func (m *measure) cluster(ctx context.Context) error {
	flags, err := m.profiled(ctx, "master", "worker", "apiserver")
	if err != nil {
		return err
	}
	m.site, err = site.Cluster(ctx, site.Options{Binary: m.porpoise, Database: m.mariadb, Masters: 1, Workers: 1, Slots: slots, Flags: flags})
	if err != nil {
		return err
	}
	_, err = m.site.Client.PutProject(ctx, project, "Measured")
	return err
}

// place is a workflow of the site.
func (m *measure) place(workflow string) crowd.Place {
	return crowd.Place{Client: m.site.Client, Project: project, Workflow: workflow}
}

// progress says on standard error what is being measured: the whole takes minutes.
func (m *measure) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bars: "+format+"\n", args...)
}
