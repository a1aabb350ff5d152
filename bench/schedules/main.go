// Command schedules measures how late schedules fire: thousands that are due in the same second, and one that is due
// each second while nothing else happens.
//
// It owns the schedules that it makes and the tables that it prints. The product is a whole cluster of one master, on
// SQLite and on MariaDB; what is measured stands in the rows of the fires: from when one was due to the beginning of the
// transaction that started its instance. The last of a burst lacks the time of that transaction alone. "make
// bench-schedules" runs it; it ends with an error where a bar is missed, or where a fire did not start one instance.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
)

// options are the command line.
type options struct {
	porpoise string
	bursts   string
	idle     time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.porpoise, "porpoise", "", "the porpoise binary; built when empty")
	flag.StringVar(&o.bursts, "bursts", "1000,10000", "how many schedules are due in the same second, by commas")
	flag.DurationVar(&o.idle, "idle", 10*time.Minute, "how long one schedule fires each second; 0 leaves it out")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Getenv("PORPOISE_TEST_MYSQL"))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "schedules:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, mariadb string) (err error) {
	var bursts []int
	for text := range strings.SplitSeq(o.bursts, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("bursts %q: %q is no count of schedules", o.bursts, text)
		}
		bursts = append(bursts, n)
	}
	dir, err := os.MkdirTemp("", "porpoise-schedules.")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.porpoise, err = site.Binary(ctx, o.porpoise, dir); err != nil {
		return err
	}
	fmt.Printf("%s\n\nLoad average over 1, 5 and 15 minutes: %s before the run.\n\n", figures.Machine(), figures.Load())
	databases := []string{site.SQLite}
	if mariadb != "" {
		databases = append(databases, mariadb)
	}
	var rows [][]string
	var missed []error
	for _, database := range databases {
		of, err := measure(ctx, o, bursts, database)
		for _, l := range of {
			rows = append(rows, l.row(database))
			missed = append(missed, l.missed())
		}
		if err != nil {
			return err
		}
	}
	fmt.Print(figures.Table([]string{"what", "database", "p50", "p99", "latest", "bar of p99", "met"}, rows))
	return errors.Join(missed...)
}

// lateness is how late the fires of one measure were, in order.
type lateness struct {
	what string
	late []time.Duration
	bar  time.Duration // 0 is none
}

func (l *lateness) row(database string) []string {
	if database != site.SQLite {
		database = "MariaDB"
	}
	p99 := figures.Quantile(l.late, 0.99)
	row := []string{l.what, database, figures.Milliseconds(figures.Median(l.late)), figures.Milliseconds(p99), figures.Milliseconds(figures.Quantile(l.late, 1))}
	if l.bar == 0 {
		return append(row, "", "")
	}
	return append(row, figures.Milliseconds(l.bar), figures.Met(p99 <= l.bar))
}

func (l *lateness) missed() error {
	if p99 := figures.Quantile(l.late, 0.99); l.bar > 0 && p99 > l.bar {
		return fmt.Errorf("%s: p99 %s, the bar is %s", l.what, figures.Milliseconds(p99), figures.Milliseconds(l.bar))
	}
	return nil
}
