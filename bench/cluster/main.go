// Command cluster measures how a cluster of real processes goes on when a part of it ends, how soon its masters
// hear from each other, and what live starts suffer from a large backfill, in many trials, and prints each measure's p50, p99 and worst beside its bar.
//
// It owns what is measured, how, and the bars' numbers; the cluster is that of
// docker-compose.yml as processes (bench/site), killed by signals and watched through its
// database's published schema. It never judges correctness: the tests and the chaos run do.
// It ends with 1 when a bar is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/porpoise/porpoise/bench/figures"
)

// options are the command line.
type options struct {
	porpoise, database string
	trials             int
	instances          []int
	kills              int // of workers, of each kind
	waits              int // of tasks for instances of the other master, of each kind
	starts             int // beside a backfill, and without
}

func main() {
	var o options
	var few, many int
	flag.StringVar(&o.porpoise, "porpoise", "", "the porpoise binary; built when empty")
	flag.StringVar(&o.database, "database", os.Getenv("PORPOISE_TEST_MYSQL"), "a MySQL or MariaDB server as a DSN without a database; one is started when empty")
	flag.IntVar(&o.trials, "trials", 30, "trials of each measure")
	flag.IntVar(&few, "few", 100, "instances of the first round; 0 leaves it out")
	flag.IntVar(&many, "many", 5000, "instances of the second round; 0 leaves it out")
	flag.IntVar(&o.kills, "kills", 30, "kills of workers for good, with and without their runners; 0 leaves them out")
	flag.IntVar(&o.waits, "waits", 300, "waits for children and runs of the other master; 0 leaves them out")
	flag.IntVar(&o.starts, "starts", 300, "starts beside a backfill of 10,000 dates, and without; 0 leaves them out")
	flag.Parse()
	for _, n := range []int{few, many} {
		if n > 0 {
			o.instances = append(o.instances, n)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

var errMissed = errors.New("a bar is missed")

func run(ctx context.Context, o options) error {
	if o.trials < 1 {
		return fmt.Errorf("trials %d: want at least 1", o.trials)
	}
	var all []figures.Spread
	for _, n := range o.instances {
		measured, err := failover(ctx, o, n)
		all = append(all, measured...)
		if err != nil {
			return errors.Join(err, show(all))
		}
	}
	for _, part := range []struct {
		n       int
		measure func(context.Context, options) ([]figures.Spread, error)
	}{{o.kills, lose}, {o.waits, notice}, {o.starts, beside}} {
		if part.n == 0 {
			continue
		}
		measured, err := part.measure(ctx, o)
		all = append(all, measured...)
		if err != nil {
			return errors.Join(err, show(all))
		}
	}
	return show(all)
}

// show prints what was measured, and says whether a bar is missed.
func show(all []figures.Spread) error {
	fmt.Printf("%s Load average: %s.\nLeases of masters 5 s, of workers 6 s.\n\n%s", figures.Machine(), figures.Load(), figures.Spreads(all))
	for _, s := range all {
		if !s.Met() {
			return errMissed
		}
	}
	return nil
}

// progress says on standard error what is being measured: the whole takes minutes.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "cluster: "+format+"\n", args...)
}
