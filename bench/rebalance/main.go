// Command rebalance makes the masters of a real cluster come and go under load, and says for how
// long no commands were taken.
//
// It owns the coming and going (masters that stop and start again, masters that are stopped by a
// signal while another one joins), the steady starts meanwhile, and the proof that no start was
// lost or doubled. What it tells of a rebalance comes from the steps that the product itself keeps, what
// it tells of the starts from their own rows. `make bench-rebalance` runs it; it ends with 1
// when a limit is missed.
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

// options are the command line.
type options struct {
	porpoise string
	wanted   int
	wedged   int
	rate     int
	masters  int
}

// The limits: how long masters may take no commands because of a rebalance, and because of one
// of them that does not answer.
const (
	closedBar = time.Second
	wedgedBar = 10 * time.Second
)

func main() {
	var o options
	flag.StringVar(&o.porpoise, "porpoise", "", "the porpoise binary; built when empty")
	flag.IntVar(&o.wanted, "rebalances", 200, "rebalances to see")
	flag.IntVar(&o.wedged, "wedged", 5, "joins while another master hangs")
	flag.IntVar(&o.rate, "rate", 50, "starts per second")
	flag.IntVar(&o.masters, "masters", 3, "masters; the last one comes and goes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rebalance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	if o.masters < 3 {
		return fmt.Errorf("masters %d: want three or more, so that two stay", o.masters)
	}
	dir, err := os.MkdirTemp("", "porpoise-rebalance.")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.porpoise, err = site.Binary(ctx, o.porpoise, dir); err != nil {
		return err
	}
	s, err := site.Cluster(ctx, site.Options{
		Binary: o.porpoise, Masters: o.masters, Workers: 1, Slots: 64, Database: os.Getenv("PORPOISE_TEST_MYSQL"),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	b := &bench{options: o, site: s, seen: map[int64]rebalance{}}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	l := startLoad(ctx, s.Client, o.rate)
	if err := errors.Join(b.comeAndGo(ctx), b.hang(ctx)); err != nil {
		return errors.Join(err, l.stop())
	}
	if err := l.stop(); err != nil {
		return err
	}
	return errors.Join(b.report(), l.report(ctx))
}

// report prints for how long commands were not taken, and judges it.
func (b *bench) report() error {
	var plain, wedged []time.Duration
	restarts := 0
	for _, r := range b.seen {
		if r.hung {
			wedged = append(wedged, r.closed)
			continue
		}
		plain = append(plain, r.closed)
		restarts += r.restarts
	}
	measured := []figures.Spread{{What: "commands not taken, masters that come and go", Took: plain, Bar: closedBar}}
	if b.wedged > 0 {
		measured = append(measured, figures.Spread{What: "commands not taken, with a master that hangs", Took: wedged, Bar: wedgedBar})
	}
	fmt.Print(figures.Spreads(measured))
	var wrong []error
	for _, s := range measured {
		if !s.Met() {
			wrong = append(wrong, fmt.Errorf("%s: a bar is missed", s.What))
		}
	}
	fmt.Printf("epochs given up on the way: %d; leases of masters: 5 s\n", restarts)
	if len(plain) < b.wanted {
		wrong = append(wrong, fmt.Errorf("%d rebalances were seen, %d were wanted", len(plain), b.wanted))
	}
	return errors.Join(wrong...)
}
