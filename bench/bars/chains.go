package main

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

const (
	chainTasks  = 100
	noopChains  = 20
	shellChains = 5
	fanTasks    = 1000
)

// noopBars are those of a step of a chain, on SQLite and on MariaDB; shellBar is that of a step with a process.
var noopBars = [2]time.Duration{700 * time.Microsecond, 900 * time.Microsecond}

const shellBar = 2200 * time.Microsecond

// noopChain measures the scheduler's own share of a step. Rows keep milliseconds, which
// is too coarse for one step, so a chain's whole life is divided by its tasks, and the
// median is over chains.
func (m *measure) noopChain(ctx context.Context) error {
	m.progress("%d chains of %d noop", noopChains, chainTasks)
	if err := m.place("noop-chain").Save(ctx, crowd.Chain(chainTasks, "noop", ""), nil); err != nil {
		return err
	}
	var steps []time.Duration
	of, err := crowd.Measured(ctx, m.site, noopChains*chainTasks, func() error {
		for range noopChains {
			in, err := m.place("noop-chain").Await(ctx)
			if err != nil {
				return err
			}
			steps = append(steps, crowd.Life(in)/chainTasks)
		}
		return nil
	})
	if err != nil {
		return err
	}
	d, bar, limit := figures.Median(steps), noopBars[m.database], m.limits.commit[m.database]
	product, database, _ := of.Each()
	m.rows = append(m.rows,
		row{
			What:  fmt.Sprintf("chain of %d noop: a task's share of the chain, median of chains (worst chain %s); %s", chainTasks, figures.Milliseconds(figures.Quantile(steps, 1)), m.where),
			Limit: figures.Milliseconds(limit) + " (a durable commit)", Ours: figures.Milliseconds(d), N: noopChains, Ratio: figures.Per(d, limit), Bar: "<= " + figures.Milliseconds(bar), Missed: d > bar, Value: figures.InMilliseconds(d),
		},
		row{What: "processor time per noop task of these chains, all processes and the database server; " + m.where, Ours: fmt.Sprintf("%.3f ms", product+database), Value: product + database})
	return nil
}

// shellChain measures task to task with a real process in each. Bare processes are
// started right before and right after, one after another, as the chain's are.
func (m *measure) shellChain(ctx context.Context) error {
	m.progress("%d chains of %d shell tasks", shellChains, chainTasks)
	if err := m.place("shell-chain").Save(ctx, crowd.Chain(chainTasks, "shell", "true"), nil); err != nil {
		return err
	}
	bare, err := spawns(ctx)
	if err != nil {
		return err
	}
	var steps, gaps []time.Duration
	for range shellChains {
		in, err := m.place("shell-chain").Await(ctx)
		if err != nil {
			return err
		}
		tasks, err := m.site.Client.Tasks(ctx, in.ID)
		if err != nil {
			return err
		}
		steps, gaps = append(steps, crowd.Life(in)/chainTasks), append(gaps, startToStart(tasks)...)
	}
	again, err := spawns(ctx)
	if err != nil {
		return err
	}
	bare = append(bare, again...)
	d, limit := figures.Median(steps), figures.Median(bare)
	m.rows = append(m.rows,
		row{
			What:  fmt.Sprintf("chain of %d shell `true`: a task's share of the chain, median of chains; %s", chainTasks, m.where),
			Limit: figures.Milliseconds(limit) + " (fork and exec of `sh -c true`, p50)", Ours: figures.Milliseconds(d), N: shellChains, Ratio: figures.Per(d, limit), Bar: "<= " + figures.Milliseconds(shellBar), Missed: d > shellBar, Value: figures.InMilliseconds(d),
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

// fans are the wide workflows; the limit of one is what bare measures.
var fans = []struct {
	kind, script, limit string
	bar                 time.Duration
	bare                func(m *measure, ctx context.Context, run int) (time.Duration, error)
}{
	{"noop", "", fmt.Sprintf("its rows in SQLite alone, %d per commit", rowsBatch), 150 * time.Millisecond, func(m *measure, ctx context.Context, run int) (time.Duration, error) {
		return m.bareRows(ctx, fanTasks+2, run)
	}},
	{"shell", "true", "as many `sh -c true`, as many at once as slots", time.Second, func(_ *measure, ctx context.Context, _ int) (time.Duration, error) {
		return bareSpawns(ctx, fanTasks+2, slots)
	}},
}

// fan measures one wide workflow.
func (m *measure) fan(ctx context.Context) error {
	for _, kind := range fans {
		name := "fan-" + kind.kind
		if err := m.place(name).Save(ctx, crowd.FanOut(fanTasks, kind.kind, kind.script), nil); err != nil {
			return err
		}
		var took, bare []time.Duration
		var cpu float64
		for i := range m.runs {
			m.progress("1 -> %d -> 1 %s, %d of %d", fanTasks, kind.kind, i+1, m.runs)
			b, err := kind.bare(m, ctx, i)
			if err != nil {
				return fmt.Errorf("measure bare %s: %w", kind.kind, err)
			}
			of, err := crowd.Measured(ctx, m.site, fanTasks+2, func() error {
				in, err := m.place(name).Await(ctx)
				took = append(took, crowd.Life(in))
				return err
			})
			if err != nil {
				return err
			}
			product, database, _ := of.Each()
			bare, cpu = append(bare, b), cpu+(product+database)/float64(m.runs)
		}
		d, limit := figures.Median(took), figures.Median(bare)
		m.rows = append(m.rows,
			row{
				What:  fmt.Sprintf("one workflow 1 -> %d -> 1 of %s; %s", fanTasks, kind.kind, m.where),
				Limit: fmt.Sprintf("%s (%s)", figures.Milliseconds(limit), kind.limit), Ours: figures.Milliseconds(d), N: m.runs, Ratio: figures.Per(d, limit),
				Bar: "<= " + figures.Milliseconds(kind.bar), Missed: d > kind.bar, Value: figures.InMilliseconds(d),
			},
			row{What: fmt.Sprintf("processor time per %s task of that workflow, all processes and the task's own", kind.kind), Ours: fmt.Sprintf("%.3f ms", cpu), Value: cpu})
	}
	return nil
}
