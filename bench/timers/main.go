// Command timers fires timers of every second at a receiver of its own, and says what it heard: which firings never came, which came
// twice, and how late.
//
// It owns what is measured and the bars' numbers; the site that it measures is a real binary in processes of its own
// (bench/site), and its timers are made through the API. With -kill the node is killed and started again: then firings may
// come twice, with the same key, and none may be missing. It ends with 1 when a bar is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
)

const (
	// lateBar is the bar of the p99 of lateness.
	lateBar = 250 * time.Millisecond
	// settle is the wait before firings count, after all timers are enabled.
	settle = 5 * time.Second
	// after bounds the wait for what is still to come at the end: the claims of a dead node, and retries.
	after = 25 * time.Second
	app   = "timers"
)

// options are the command line.
type options struct {
	porpoise, database string
	timers, callers    int
	lasts, kill        time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.porpoise, "porpoise", "", "the porpoise binary; built when empty")
	flag.StringVar(&o.database, "database", "", "a MySQL or MariaDB server as a DSN without a database, for a cluster on it; standalone on SQLite when empty")
	flag.IntVar(&o.timers, "timers", 2000, "timers of every second")
	flag.IntVar(&o.callers, "callers", 8, "who make them, at a time")
	flag.DurationVar(&o.lasts, "for", 5*time.Minute, "how long firings count")
	flag.DurationVar(&o.kill, "kill", 0, "kill -9 a master every so often, and start it again; 0 is never")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "timers:", err)
		os.Exit(1)
	}
}

var errMissed = errors.New("a bar is missed")

// run measures and prints; errMissed says that a bar is missed.
func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "porpoise-timers.")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.porpoise, err = site.Binary(ctx, o.porpoise, dir); err != nil {
		return err
	}
	r, err := listen(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	s, master, err := start(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	if err := enable(ctx, s.Client, o, r.url); err != nil {
		return err
	}
	from := time.Now().Add(settle).Truncate(time.Second)
	until := from.Add(o.lasts)
	progress("%d timers of every second, firings count from %s until %s", o.timers, from.Format(time.TimeOnly), until.Format(time.TimeOnly))
	before, err := s.Cost()
	if err != nil {
		return err
	}
	if err := wait(ctx, s, master, until, o.kill); err != nil {
		return err
	}
	spent, err := s.Cost()
	if err != nil {
		return err
	}
	expected := o.timers * int(o.lasts/time.Second)
	for last := time.Now().Add(after); r.between(from, until).heard < expected && time.Now().Before(last); {
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
	got := r.between(from, until)
	processor := figures.Milliseconds(time.Duration(float64(spent.CPU-before.CPU) / o.lasts.Seconds()))
	if o.kill > 0 {
		processor = "" // what a killed process has spent is gone with it
	}
	fmt.Printf("%s Load average: %s.\n\n%s\n", figures.Machine(), figures.Load(), figures.Table([]string{"firings", "lost", "doubled", "p50", "p99", "worst", "processor time a second", "bar", "met"}, [][]string{{
		fmt.Sprint(expected), fmt.Sprint(expected - got.heard), fmt.Sprint(got.doubled),
		figures.Milliseconds(figures.Median(got.late)), figures.Milliseconds(figures.Quantile(got.late, 0.99)), figures.Milliseconds(figures.Quantile(got.late, 1)),
		processor, "0 lost, 0 doubled, p99 <= " + lateBar.String(), figures.Met(got.met(expected, o.kill > 0)),
	}}))
	if !got.met(expected, o.kill > 0) {
		return errMissed
	}
	return nil
}

// start starts what is measured, and names the part that has the master.
func start(ctx context.Context, o options) (*site.Site, string, error) {
	here := []string{"--listeners-reach", "any"}
	options := site.Options{Binary: o.porpoise, Flags: map[string][]string{"standalone": here, "master": here, "apiserver": here}}
	if o.database != "" {
		options.Database, options.Masters, options.Workers = o.database, 2, 1
		s, err := site.Cluster(ctx, options)
		return s, "master-1", err
	}
	s, err := site.Standalone(ctx, options)
	return s, "standalone", err
}

// wait waits until a moment; a master is killed every so often, and started again.
func wait(ctx context.Context, s *site.Site, master string, until time.Time, kill time.Duration) error {
	for {
		left := time.Until(until)
		if kill == 0 || left <= kill {
			return pause(ctx, left)
		}
		if err := pause(ctx, kill); err != nil {
			return err
		}
		progress("kill -9 of %s", master)
		part := s.Part(master)
		part.Kill()
		if err := s.Restart(ctx, part); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// progress says on standard error what is being done: the whole takes minutes.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "timers: "+format+"\n", args...)
}
