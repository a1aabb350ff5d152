// Command sim runs whole clusters in one goroutine each, and lets everything go wrong that can.
//
// It owns the virtual clock, the network, the registry, the disks and the processes of a cluster, and the
// rules that must hold at every commit; the masters and the workers' control processes are the real ones,
// driven step by step, over a real SQLite store. A seed decides everything: what runs, which faults come
// when, and in which order things happen, so that a seed that fails once fails each time. It is shrunk, and its
// options are printed as a line for regressions.txt. `make sim` runs it; it prints a verdict as JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// arguments are the command line.
type arguments struct {
	seed     uint64
	count    int
	duration time.Duration
	jobs     int
	set      string
	trace    bool
	once     bool
	shrink   bool
	keepOn   bool
}

func main() {
	var a arguments
	flag.Uint64Var(&a.seed, "seed", 1, "the first seed")
	flag.IntVar(&a.count, "count", 300, "how many seeds; 0 is as many as -duration lets")
	flag.DurationVar(&a.duration, "duration", 0, "stop after so long; 0 is when all seeds are done")
	flag.IntVar(&a.jobs, "jobs", runtime.GOMAXPROCS(0), "worlds at the same time")
	flag.StringVar(&a.set, "set", "", "run one world with these options, as a failure prints them")
	flag.BoolVar(&a.trace, "trace", false, "with -set or one seed: print all that happens")
	flag.BoolVar(&a.once, "once", false, "run each seed once, not twice to compare")
	flag.BoolVar(&a.shrink, "shrink", true, "shrink what fails")
	flag.BoolVar(&a.keepOn, "keep-on", false, "go on after a failure")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := simulate(ctx, a)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sim:", err)
		os.Exit(1)
	}
}

// simulate does what the arguments ask for.
func simulate(ctx context.Context, a arguments) error {
	t, err := newTemplate(ctx)
	if err != nil {
		return err
	}
	defer t.close()
	if a.set != "" || a.trace {
		return show(ctx, t, a)
	}
	v := survey(ctx, t, plan{
		first: a.seed, count: a.count, until: a.duration, jobs: a.jobs, twice: !a.once, shrink: a.shrink, keepOn: a.keepOn,
	})
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	if len(v.Violations) > 0 {
		return fmt.Errorf("%d of %d seeds break a rule", len(v.Violations), v.Seeds)
	}
	return ctx.Err()
}

// show runs one world and tells what happened.
func show(ctx context.Context, t *template, a arguments) error {
	opt := draw(a.seed)
	if a.set != "" {
		var err error
		if opt, err = parseOptions(a.set); err != nil {
			return err
		}
	}
	opt.template = t
	o, err := live(ctx, opt, a.trace)
	if err != nil {
		return err
	}
	if a.trace {
		fmt.Print(o.trace)
	}
	fmt.Printf("%s\nhash %016x, %d events, %v of virtual time, %d attempts, faults %v\n",
		opt, o.hash, o.count.Events, o.count.Virtual, o.count.Attempts, o.count.Faults)
	if o.bad != nil {
		return fmt.Errorf("%s", strings.TrimSpace(o.bad.Error()))
	}
	return nil
}
