package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const (
	echoWorkflows = 2000
	echoCallers   = 64
	echoReaders   = 16 // of outputs: a worker serves a bounded number at once
	echoShare     = 0.75
	echoPatience  = 60 * time.Second
	// echoWatch is how often it is asked whether all are over.
	echoWatch = 25 * time.Millisecond
)

// echoes measures many small workflows at once, with a process and an output each. The
// bare rate is measured before and after every run.
func (m *measure) echoes(ctx context.Context) error {
	var rates, reads []time.Duration
	var bares []float64
	var cpu time.Duration
	for i := range m.runs {
		m.progress("%d workflows of one echo from %d callers, %d of %d", echoWorkflows, echoCallers, i+1, m.runs)
		before, err := pipeRate(ctx)
		if err != nil {
			return err
		}
		ran, read, spent, err := m.echo(ctx, fmt.Sprintf("echo-%d", i))
		if err != nil {
			return err
		}
		after, err := pipeRate(ctx)
		if err != nil {
			return err
		}
		rates, reads, bares = append(rates, ran), append(reads, read), append(bares, before, after)
		cpu += spent / echoWorkflows
	}
	rate, limit := echoWorkflows/figures.Median(rates).Seconds(), figures.Median(bares)
	m.rows = append(m.rows,
		row{
			What:  fmt.Sprintf("%d workflows of one shell `echo`, started by %d callers at once, every output read and right", echoWorkflows, echoCallers),
			Limit: fmt.Sprintf("%.0f/s (`sh -c 'echo x'` through a pipe, the best of several widths)", limit), Ours: fmt.Sprintf("%.0f/s", rate), N: m.runs, Ratio: rate / limit,
			Bar: fmt.Sprintf("ratio >= %.2f", echoShare), Missed: rate < echoShare*limit, Value: rate,
		},
		row{What: "processor time per workflow of these, all processes and the task's own", Ours: figures.Milliseconds(cpu / time.Duration(m.runs)), Value: figures.InMilliseconds(cpu / time.Duration(m.runs))},
		row{What: fmt.Sprintf("reading one of these outputs, %d callers", echoReaders), Ours: figures.Milliseconds(figures.Median(reads) / echoWorkflows), Value: figures.InMilliseconds(figures.Median(reads) / echoWorkflows)})
	return nil
}

// echo runs the workflows, each with a word of its own, and returns what it took from
// the first call to the last end, what reading every output took, and the processor time
// of all but the reading.
func (m *measure) echo(ctx context.Context, name string) (ran, read, spent time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, echoPatience)
	defer cancel()
	c := m.site.Client
	if err := m.place(name).Save(ctx, []crowd.Task{{Name: "echo", Type: "shell", Script: `echo "$x"`}}, map[string]any{"params": map[string]string{"x": ""}}); err != nil {
		return 0, 0, 0, err
	}
	ids := make([]string, echoWorkflows)
	before, err := m.site.Cost()
	if err != nil {
		return 0, 0, 0, err
	}
	began := time.Now()
	err = eachOf(ctx, echoCallers, func(ctx context.Context, i int) (err error) {
		ids[i], err = c.StartWorkflow(ctx, project, name, client.Start{Params: map[string]string{"x": strconv.Itoa(i)}})
		return err
	})
	if err != nil {
		return 0, 0, 0, fmt.Errorf("start %s: %w", name, err)
	}
	last, err := allOver(ctx, c, name)
	if err != nil {
		return 0, 0, 0, err
	}
	after, err := m.site.Cost()
	if err != nil {
		return 0, 0, 0, err
	}
	ran, began = last.Sub(began), time.Now()
	err = eachOf(ctx, echoReaders, func(ctx context.Context, i int) error {
		var out bytes.Buffer
		if err := c.ReadLog(ctx, &out, ids[i], "echo", 1, "stdout", false); err != nil {
			return fmt.Errorf("read the output of instance %s: %w", ids[i], err)
		}
		if want := strconv.Itoa(i) + "\n"; out.String() != want {
			return fmt.Errorf("the output of instance %s is %q, want %q", ids[i], out.String(), want)
		}
		return nil
	})
	return ran, time.Since(began), after.CPU - before.CPU, err
}

// eachOf calls do for every workflow, that many at once.
func eachOf(ctx context.Context, atOnce int, do func(ctx context.Context, i int) error) error {
	var next atomic.Int64
	callers, ctx := errgroup.WithContext(ctx)
	for range atOnce {
		callers.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= echoWorkflows {
					return nil
				}
				if err := do(ctx, i); err != nil {
					return err
				}
			}
		})
	}
	return callers.Wait()
}

// allOver waits until no instance of the workflow is under way, and returns when the
// last one ended, by its row.
func allOver(ctx context.Context, c *client.Client, name string) (time.Time, error) {
	running := client.Filter{Project: project, Workflow: name, States: []string{string(dag.InstanceSubmitted), string(dag.InstanceRunning)}, Limit: 1}
	tick := time.NewTicker(echoWatch)
	defer tick.Stop()
	for {
		left, err := c.Instances(ctx, running)
		if err != nil {
			return time.Time{}, fmt.Errorf("wait for %s: %w", name, err)
		}
		if len(left) == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("wait for %s: %w", name, ctx.Err())
		case <-tick.C:
		}
	}
	all, err := c.Instances(ctx, client.Filter{Project: project, Workflow: name})
	if err != nil {
		return time.Time{}, fmt.Errorf("read the end of %s: %w", name, err)
	}
	if len(all) != echoWorkflows {
		return time.Time{}, fmt.Errorf("%d instances of %s, want %d", len(all), name, echoWorkflows)
	}
	var last time.Time
	for _, in := range all {
		if err := crowd.Succeeded(in); err != nil {
			return last, err
		}
		if in.FinishedAt.After(last) {
			last = in.FinishedAt.Time
		}
	}
	return last, nil
}
