// Command real runs real workflows through the REST API, on a standalone node and on a
// cluster of processes, and says how close the product comes to the best that any
// scheduler could do.
//
// It owns the turning of a trace into a definition (a shell task sleeps its run time
// divided by a scale), the lower bound, and the proof, from a file that the tasks
// themselves append to, that every task ran once and after all it needs. It changes
// nothing outside of a temporary folder. `make demo-real` runs it; it ends with 1 when
// a ratio is missed or the proof fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/porpoise/porpoise/bench/site"
)

// options are the command line.
type options struct {
	porpoise, inputs, mode string
	slots                  int
	bound                  time.Duration
	scale, wanted          float64
}

func main() {
	var o options
	flag.StringVar(&o.porpoise, "porpoise", "", "the porpoise binary; built when empty")
	flag.StringVar(&o.inputs, "inputs", "", "folder of traces; bench/real/testdata when empty")
	flag.StringVar(&o.mode, "mode", "both", "standalone, cluster or both")
	flag.IntVar(&o.slots, "slots", 16, "slots in all; a cluster's two workers have half each")
	flag.DurationVar(&o.bound, "bound", 15*time.Second, "the lower bound to aim at, by choice of the scale; shorter is harder")
	flag.Float64Var(&o.scale, "scale", 0, "divide every run time by this; 0 chooses by -bound")
	flag.Float64Var(&o.wanted, "wanted", 1.10, "the largest ratio of makespan to lower bound that is good")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "real:", err)
		os.Exit(1)
	}
}

// run runs every trace in every mode and prints a line for each.
func run(ctx context.Context, o options) (err error) {
	modes := []string{"standalone", "cluster"}
	if o.mode != "both" {
		if !slices.Contains(modes, o.mode) {
			return fmt.Errorf("mode %q: want standalone, cluster or both", o.mode)
		}
		modes = []string{o.mode}
	}
	if o.slots < 2 || o.slots%2 != 0 {
		return fmt.Errorf("slots %d: want an even number, for a cluster's two workers", o.slots)
	}
	if o.inputs == "" {
		root, err := site.Root()
		if err != nil {
			return err
		}
		o.inputs = filepath.Join(root, "bench", "real", "testdata")
	}
	traces, err := readTraces(o.inputs)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "porpoise-real.")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.porpoise, err = site.Binary(ctx, o.porpoise, dir); err != nil {
		return err
	}
	fmt.Println("| mode | workflow | tasks | scale | mean task | lower bound | makespan | ratio | wanted | met | tasks once, in order |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	var wrong []error
	for _, mode := range modes {
		wrong = append(wrong, o.runMode(ctx, mode, traces, dir))
	}
	return errors.Join(wrong...)
}

// runMode brings a site up and runs every trace on it, one after another.
func (o options) runMode(ctx context.Context, mode string, traces []*trace, dir string) (err error) {
	start, settings := site.Standalone, site.Options{Binary: o.porpoise, Slots: o.slots}
	if mode == "cluster" {
		start = site.Cluster
		settings.Masters, settings.Workers, settings.Slots, settings.Database = 1, 2, o.slots/2, os.Getenv("PORPOISE_TEST_MYSQL")
	}
	s, err := start(ctx, settings)
	if err != nil {
		return fmt.Errorf("%s: %w", mode, err)
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	if _, err := s.Client.PutProject(ctx, project, "Real workflows"); err != nil {
		return fmt.Errorf("%s: make the project: %w", mode, err)
	}
	var wrong []error
	for _, t := range traces {
		r := &rehearsal{
			trace: t, client: s.Client, scale: t.scale(o.scale, o.bound, o.slots), slots: o.slots,
			evidence: filepath.Join(dir, mode+"-"+t.Name+".evidence"),
		}
		if err := r.run(ctx); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s: %w", mode, t.Name, err))
			continue
		}
		ratio, met := float64(r.makespan)/float64(r.bound), "yes"
		if ratio > o.wanted {
			met = "NO"
			wrong = append(wrong, fmt.Errorf("%s: %s: makespan is %.3f times the lower bound, wanted at most %.2f", mode, t.Name, ratio, o.wanted))
		}
		fmt.Printf("| %s | %s | %d | %.4g | %.0f ms | %.2f s | %.2f s | %.3f | %.2f | %s | proved |\n", mode, t.Name, len(t.Tasks), r.scale,
			(t.work()/time.Duration(len(t.Tasks))).Seconds()*1e3/r.scale, r.bound.Seconds(), r.makespan.Seconds(), ratio, o.wanted, met)
	}
	return errors.Join(wrong...)
}
