package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/bench/figures"
)

// leastShare is what must be left of another binary's throughput.
const leastShare = 0.8

// speed is what one kind of work came to in one run: tasks per second, and processor time per task in
// milliseconds, 0 where it is not measured. That one depends less on what else the machine does.
type speed struct{ rate, cpu float64 }

// speeds are those of all runs of the two binaries.
type speeds struct {
	what      string
	ours, his []speed
}

// middle is the median of one of the two.
func middle(all []speed, of func(speed) float64) float64 {
	values := make([]float64, len(all))
	for i, s := range all {
		values[i] = of(s)
	}
	return figures.Median(values)
}

func (s speeds) cells() (cells []string, share float64) {
	rate, cpu := func(s speed) float64 { return s.rate }, func(s speed) float64 { return s.cpu }
	share = middle(s.ours, rate) / middle(s.his, rate)
	spent := ""
	if his := middle(s.his, cpu); his > 0 {
		spent = fmt.Sprintf("%.2f ms / %.2f ms", his, middle(s.ours, cpu))
	}
	return []string{
		s.what, fmt.Sprintf("%.0f/s", middle(s.his, rate)), fmt.Sprintf("%.0f/s", middle(s.ours, rate)), fmt.Sprintf("%.2f", share),
		fmt.Sprintf(">= %.2f", leastShare), figures.Met(share >= leastShare), spent,
	}, share
}

// compare measures the throughput of our binary and of another one, an earlier one say, in runs that
// alternate: what the machine does meanwhile falls on both.
func compare(ctx context.Context, o options, dir string) error {
	var works []work
	var all []speeds
	for _, w := range allWorks {
		if o.only == "" || slices.Contains(strings.Split(o.only, ","), w.name) {
			works, all = append(works, w), append(all, speeds{what: w.what})
		}
	}
	if len(works) == 0 {
		return fmt.Errorf("only %q: want some of noop, shell, fan, echo", o.only)
	}
	began := figures.Load()
	for pair := range o.runs {
		binaries := []string{o.porpoise, o.against}
		for i := range binaries {
			who := (pair + i) % len(binaries) // each goes first in turn
			run := o
			run.porpoise, run.runs = binaries[who], 1
			own, err := os.MkdirTemp(dir, "pair.")
			if err != nil {
				return fmt.Errorf("make a folder: %w", err)
			}
			got, err := (&measure{options: run, dir: own}).throughput(ctx, works)
			if err != nil {
				return fmt.Errorf("measure %s: %w", run.porpoise, err)
			}
			for k, v := range got {
				if who == 0 {
					all[k].ours = append(all[k].ours, v)
				} else {
					all[k].his = append(all[k].his, v)
				}
			}
		}
	}
	var rows [][]string
	var wrong []error
	for _, s := range all {
		cells, share := s.cells()
		rows = append(rows, cells)
		if share < leastShare {
			wrong = append(wrong, fmt.Errorf("%s: %.2f of the other's throughput", s.what, share))
		}
	}
	fmt.Printf("%s\n\nLoad average over 1, 5 and 15 minutes: %s before, %s after. Tasks per second, medians of %d pairs.\n\n%s", figures.Machine(), began, figures.Load(), o.runs,
		figures.Table([]string{"what", "the other", "ours", "share", "bar", "met", "processor time per task"}, rows))
	return errors.Join(wrong...)
}

// work is what is measured of a binary: step makes the rows, read takes the speed from them.
type work struct {
	name, what string
	step       func(*measure, context.Context) error
	read       func(rows []row) speed
}

const second = 1000 // in the unit of the rows

var allWorks = []work{
	{"noop", fmt.Sprintf("chain of %d noop", chainTasks), (*measure).noopChain, func(r []row) speed { return speed{second / r[0].Value, r[1].Value} }},
	{"shell", fmt.Sprintf("chain of %d shell `true`", chainTasks), (*measure).shellChain, func(r []row) speed { return speed{rate: second / r[0].Value} }},
	{"fan", fmt.Sprintf("1 -> %d -> 1 of noop", fanTasks), (*measure).fan, func(r []row) speed { return speed{second * fanTasks / r[0].Value, r[1].Value} }},
	{"echo", fmt.Sprintf("%d workflows of one shell `echo`, %d callers", echoWorkflows, echoCallers), (*measure).echoes, func(r []row) speed { return speed{r[0].Value, r[1].Value} }},
}

// throughput measures how fast each kind of work is done.
func (m *measure) throughput(ctx context.Context, works []work) (all []speed, err error) {
	defer func() {
		if m.site != nil {
			err = errors.Join(err, m.site.Stop())
		}
	}()
	if err := m.cold(ctx); err != nil {
		return nil, err
	}
	for _, w := range works {
		m.rows = nil
		if err := w.step(m, ctx); err != nil {
			return nil, err
		}
		all = append(all, w.read(m.rows))
	}
	return all, nil
}
