// Command schedules measures how late schedules fire: thousands that are due in the same second, and one that is due
// each second while nothing else happens. Where it is asked to, it also kills the masters that are about to fire, and
// sees what a very large number of schedules costs, of which few are due.
//
// It owns the schedules that it makes and the tables that it prints. The product is a whole cluster: of one master, on
// SQLite and on MariaDB, or of three masters for the runs that are asked for. What is measured stands in the rows of the
// fires: from when one was due to the beginning of the transaction that started its instance. The last of a burst lacks
// the time of that transaction alone. "make bench-schedules" and "make bench-schedules-long" run it; it ends with an error
// where a bar is missed, or where a fire did not start one instance.
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

	minutely    int
	lasts, kill time.Duration
	seed        uint64

	defined int
	steady  time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.porpoise, "porpoise", "", "the porpoise binary; built when empty")
	flag.StringVar(&o.bursts, "bursts", "1000,10000", "how many schedules are due in the same second, by commas; empty leaves them out")
	flag.DurationVar(&o.idle, "idle", 10*time.Minute, "how long one schedule fires each second; 0 leaves it out")
	flag.IntVar(&o.minutely, "minutely", 0, "schedules of each minute, on three masters of which the one that fires next is killed; 0 leaves them out")
	flag.DurationVar(&o.lasts, "for", 30*time.Minute, "how long those of each minute fire")
	flag.DurationVar(&o.kill, "kill", time.Minute, "how often a master is killed meanwhile")
	flag.Uint64Var(&o.seed, "seed", 1, "of the moments at which masters are killed")
	flag.IntVar(&o.defined, "defined", 0, "schedules of which 1 % are due each minute, on three masters; 0 leaves them out")
	flag.DurationVar(&o.steady, "steady", 5*time.Minute, "how long those are measured, once all are planned")
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
	for text := range strings.FieldsFuncSeq(o.bursts, func(r rune) bool { return r == ',' }) {
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
	t := &table{}
	for _, database := range databases {
		if len(bursts) == 0 && o.idle == 0 {
			break
		}
		of, err := measure(ctx, o, bursts, database)
		if t.add(database, err, of...); err != nil {
			break // what was measured is shown
		}
	}
	// The others are about several masters; they run once, on what such a cluster runs on.
	database := databases[len(databases)-1]
	if o.minutely > 0 {
		l, err := survive(ctx, o, database)
		t.add(database, err, l)
	}
	var costs []cost
	if o.defined > 0 {
		l, of, err := many(ctx, o, database)
		t.add(database, err, l)
		costs = of
	}
	fmt.Print(figures.Table([]string{"what", "database", "p50", "p99", "latest", "bar of p99", "met"}, t.rows))
	return errors.Join(append(t.missed, report(costs))...)
}

// table takes what was measured, and what is wrong with it.
type table struct {
	rows   [][]string
	missed []error
}

func (t *table) add(database string, err error, measured ...lateness) {
	for _, l := range measured {
		if len(l.late) > 0 {
			t.rows = append(t.rows, l.row(database))
			t.missed = append(t.missed, l.missed())
		}
	}
	t.missed = append(t.missed, err)
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
