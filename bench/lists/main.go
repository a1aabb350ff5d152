// Command lists measures the lists of instances on a store that holds a million of them,
// beside the same lists on a thousand: a list that walks an index does not know the difference.
//
// It owns the instances that it fills in and the table that it prints; the lists are the
// store's own, asked as the API asks. It never measures a server: the network and JSON are
// not in its times (bench/bars has those). It runs on SQLite, and on MySQL or MariaDB where
// PORPOISE_TEST_MYSQL names a server that nobody else uses. `make bench-scale` runs it; it ends with 1 where a list of the
// many costs more than one of the few.
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
	"github.com/porpoise/porpoise/bench/history"
)

// options are the command line.
type options struct {
	few, many int // instances of the two stores
	repeats   int
}

func main() {
	var o options
	flag.IntVar(&o.few, "few", 1_000, "instances in the small store, at least 100")
	flag.IntVar(&o.many, "many", 1_000_000, "instances in the large store, at least 100")
	flag.IntVar(&o.repeats, "repeats", 200, "how often each list is asked for")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Getenv("PORPOISE_TEST_MYSQL"))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lists:", err)
		os.Exit(1)
	}
}

// run prints one table for SQLite and, where address is its DSN, one for MySQL.
func run(ctx context.Context, o options, address string) (err error) {
	if o.few < history.Workflows || o.many < history.Workflows || o.repeats < 1 {
		return fmt.Errorf("few %d, many %d, repeats %d: want at least %d, %d and 1", o.few, o.many, o.repeats, history.Workflows, history.Workflows)
	}
	dir, err := os.MkdirTemp("", "porpoise-lists.")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	makers := []func(int) database{func(n int) database { return newFile(dir, n) }}
	if address != "" {
		makers = append(makers, func(n int) database { return newServer(address, n) })
	}
	var wrong []error
	for _, empty := range makers {
		few, err := measure(ctx, empty(o.few), o.few, o.repeats)
		if err != nil {
			return err
		}
		many, err := measure(ctx, empty(o.many), o.many, o.repeats)
		if err != nil {
			return err
		}
		fmt.Print(figures.Machine(), "\n", markdown(few, many))
		wrong = append(wrong, judge(few, many))
	}
	return errors.Join(wrong...)
}

// progress says on standard error what is done: a million rows take a while.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "lists: "+format+"\n", args...)
}

// ms writes a duration in milliseconds.
func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }
