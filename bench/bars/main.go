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
	"syscall"

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
}

func main() {
	var o options
	flag.StringVar(&o.porpoise, "porpoise", "", "the porpoise binary; built when empty")
	flag.StringVar(&o.against, "against", "", "another porpoise binary: only the throughput of both is measured, in -runs pairs")
	flag.StringVar(&o.only, "only", "noop,shell,fan,echo", "with -against: what is measured, by commas")
	flag.IntVar(&o.runs, "runs", 3, "repeats of what is not repeated within itself; the median counts")
	flag.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	flag.BoolVar(&o.write, "write", false, "put the table into "+document+", too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
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
	report := report{Machine: figures.Machine(), LoadBefore: figures.Load()}
	if err := m.all(ctx); err != nil {
		return err
	}
	report.Rows, report.LoadAfter = m.rows, figures.Load()
	if o.json {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		err = out.Encode(report)
	} else {
		_, err = fmt.Print(report.markdown())
	}
	if err == nil && o.write {
		err = report.write()
	}
	if err != nil {
		return err
	}
	return report.missed()
}

// measure is a run: the site that is measured, and the rows so far.
type measure struct {
	options
	dir    string
	site   *site.Site
	limits limits
	rows   []row
}

// all measures in an order that keeps each limit near what it is the limit of.
func (m *measure) all(ctx context.Context) (err error) {
	steps := []func(context.Context) error{m.disk, m.cold, m.idle, m.trivial, m.noopChain, m.shellChain, m.fan, m.echoes, m.restart}
	defer func() {
		if m.site != nil {
			err = errors.Join(err, m.site.Stop())
		}
	}()
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// progress says on standard error what is being measured: the whole takes minutes.
func (m *measure) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bars: "+format+"\n", args...)
}
