package main

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

const (
	chainTasks  = 100
	noopChains  = 20
	noopBar     = time.Millisecond
	shellChains = 5
	fanTasks    = 1000
	fanBar      = time.Second
)

// noopChain measures the scheduler's own share of a step. Rows keep milliseconds, which
// is too coarse for one step, so a chain's whole life is divided by its tasks, and the
// median is over chains.
func (m *measure) noopChain(ctx context.Context) error {
	m.progress("%d chains of %d noop", noopChains, chainTasks)
	if err := save(ctx, m.site.Client, "noop-chain", nil, chain(chainTasks, "noop", "")); err != nil {
		return err
	}
	before, err := m.site.Cost()
	if err != nil {
		return err
	}
	var steps []time.Duration
	for range noopChains {
		in, err := await(ctx, m.site.Client, "noop-chain")
		if err != nil {
			return err
		}
		steps = append(steps, life(in)/chainTasks)
	}
	after, err := m.site.Cost()
	if err != nil {
		return err
	}
	d, cpu := figures.Median(steps), (after.CPU-before.CPU)/(noopChains*chainTasks)
	m.rows = append(m.rows,
		row{
			What:  fmt.Sprintf("chain of %d noop: a task's share of the chain, median of %d chains (worst chain %s)", chainTasks, noopChains, figures.Milliseconds(figures.Quantile(steps, 1))),
			Limit: figures.Milliseconds(m.limits.commit) + " (a durable commit)", Ours: figures.Milliseconds(d), Ratio: figures.Per(d, m.limits.commit), Bar: "< " + figures.Milliseconds(noopBar), Missed: d >= noopBar, Value: figures.InMilliseconds(d),
		},
		row{What: "processor time per noop task of these chains, all processes", Ours: figures.Milliseconds(cpu), Value: figures.InMilliseconds(cpu)})
	return nil
}

// shellChain measures task to task with a real process in each. Bare processes are
// started right before and right after, one after another, as the chain's are.
func (m *measure) shellChain(ctx context.Context) error {
	m.progress("%d chains of %d shell tasks", shellChains, chainTasks)
	if err := save(ctx, m.site.Client, "shell-chain", nil, chain(chainTasks, "shell", "true")); err != nil {
		return err
	}
	bare, err := spawns(ctx)
	if err != nil {
		return err
	}
	var steps, gaps []time.Duration
	for range shellChains {
		in, err := await(ctx, m.site.Client, "shell-chain")
		if err != nil {
			return err
		}
		tasks, err := m.site.Client.Tasks(ctx, in.ID)
		if err != nil {
			return err
		}
		steps, gaps = append(steps, life(in)/chainTasks), append(gaps, startToStart(tasks)...)
	}
	again, err := spawns(ctx)
	if err != nil {
		return err
	}
	bare = append(bare, again...)
	d, limit := figures.Median(steps), figures.Median(bare)
	m.rows = append(m.rows,
		row{
			What:  fmt.Sprintf("chain of %d shell `true`: a task's share of the chain, median of %d chains", chainTasks, shellChains),
			Limit: figures.Milliseconds(limit) + " (fork and exec of `sh -c true`, p50)", Ours: figures.Milliseconds(d), Ratio: figures.Per(d, limit), Value: figures.InMilliseconds(d),
		},
		row{
			What:  "the same chains: start of a task to start of the next, p50 / p99, by rows of whole milliseconds",
			Limit: figures.Milliseconds(limit) + " / " + figures.Milliseconds(figures.Quantile(bare, 0.99)), Ours: figures.Milliseconds(figures.Median(gaps)) + " / " + figures.Milliseconds(figures.Quantile(gaps, 0.99)),
			Ratio: figures.Per(figures.Quantile(gaps, 0.99), figures.Quantile(bare, 0.99)), Value: figures.InMilliseconds(figures.Quantile(gaps, 0.99)),
		})
	return nil
}

// startToStart lists the time from each task's start to that of the next in the chain.
func startToStart(tasks []client.Task) []time.Duration {
	var gaps []time.Duration
	for i := 1; i < len(tasks); i++ {
		gaps = append(gaps, tasks[i].StartedAt.Sub(tasks[i-1].StartedAt.Time))
	}
	return gaps
}

// fan measures one wide workflow.
func (m *measure) fan(ctx context.Context) error {
	if err := save(ctx, m.site.Client, "fan", nil, fanOut(fanTasks)); err != nil {
		return err
	}
	var took, bare []time.Duration
	var cpu time.Duration
	for i := range m.runs {
		m.progress("1 -> %d -> 1 noop, %d of %d", fanTasks, i+1, m.runs)
		b, err := m.bareRows(ctx, fanTasks+2, i)
		if err != nil {
			return fmt.Errorf("measure bare rows: %w", err)
		}
		before, err := m.site.Cost()
		if err != nil {
			return err
		}
		in, err := await(ctx, m.site.Client, "fan")
		if err != nil {
			return err
		}
		after, err := m.site.Cost()
		if err != nil {
			return err
		}
		took, bare, cpu = append(took, life(in)), append(bare, b), cpu+after.CPU-before.CPU
	}
	d, limit := figures.Median(took), figures.Median(bare)
	cpu /= time.Duration(m.runs * (fanTasks + 2))
	m.rows = append(m.rows,
		row{
			What:  fmt.Sprintf("one workflow 1 -> %d -> 1 of noop", fanTasks),
			Limit: fmt.Sprintf("%s (its rows in SQLite alone, %d per commit)", figures.Milliseconds(limit), rowsBatch), Ours: figures.Milliseconds(d), Ratio: figures.Per(d, limit), Bar: "< " + figures.Milliseconds(fanBar), Missed: d >= fanBar, Value: figures.InMilliseconds(d),
		},
		row{What: "processor time per noop task of that workflow, all processes", Ours: figures.Milliseconds(cpu), Value: figures.InMilliseconds(cpu)})
	return nil
}
