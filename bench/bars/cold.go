package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
)

const (
	coldBar    = 400 * time.Millisecond
	idleBar    = 80 * megabyte
	idleCPU    = 0.02
	workerBar  = 40 * megabyte
	megabyte   = 1_000_000
	idleFor    = 30 * time.Second
	trivialBar = 20 * time.Millisecond
	trivials   = 20
)

// cold measures from the start of porpoise standalone on an empty folder to the end of
// the first workflow. The last site stays, for what is measured next.
func (m *measure) cold(ctx context.Context) error {
	var bare, took []time.Duration
	for i := range m.runs {
		m.progress("a cold start, %d of %d", i+1, m.runs)
		began := time.Now()
		if err := exec.CommandContext(ctx, m.porpoise, "version").Run(); err != nil {
			return fmt.Errorf("run porpoise version: %w", err)
		}
		bare = append(bare, time.Since(began))
		flags, err := m.profiled(ctx, "standalone")
		if err != nil {
			return err
		}
		s, err := site.Standalone(ctx, site.Options{Binary: m.porpoise, Examples: true, Slots: slots, Flags: flags})
		if err != nil {
			return err
		}
		m.site = s
		if err := m.first(ctx); err != nil {
			return fmt.Errorf("the first workflow: %w", err)
		}
		took = append(took, time.Since(s.Began))
		if i < m.runs-1 {
			m.site = nil
			if err := s.Stop(); err != nil {
				return err
			}
		}
	}
	d := figures.Median(took)
	m.rows = append(m.rows, row{
		What:  "cold `porpoise standalone`, empty data folder, to the end of the first workflow",
		Limit: figures.Milliseconds(figures.Median(bare)) + " (`porpoise version`)", Ours: figures.Milliseconds(d), N: m.runs, Ratio: figures.Per(d, figures.Median(bare)), Bar: "<= " + figures.Milliseconds(coldBar), Missed: d > coldBar, Value: figures.InMilliseconds(d),
	})
	return nil
}

// first makes a project and a workflow of one task, and runs it.
func (m *measure) first(ctx context.Context) error {
	c := m.site.Client
	if _, err := c.PutProject(ctx, project, "Measured"); err != nil {
		return err
	}
	if err := m.place("trivial").Save(ctx, crowd.Chain(1, "noop", ""), nil); err != nil {
		return err
	}
	_, err := m.place("trivial").Watch(ctx)
	return err
}

// idle measures what all processes use while nothing happens.
func (m *measure) idle(ctx context.Context) error {
	m.progress("%s of rest, for the idle memory", idleFor)
	of, err := crowd.Measured(ctx, m.site, 1, func() error { return crowd.Pause(ctx, idleFor) })
	if err != nil {
		return err
	}
	after, err := m.site.Cost()
	if err != nil {
		return err
	}
	once, err := m.site.Proportional()
	if err != nil {
		return err
	}
	if after.Processes == 0 || once == 0 {
		return errors.New("no process of the site is found")
	}
	share := figures.Per(of.Product, idleFor)
	m.rows = append(m.rows,
		row{
			What: fmt.Sprintf("resident memory after %s of rest, of %d processes, in which what they share counts once (their sum: %.0f MB); %s", idleFor, after.Processes, float64(after.RSS)/megabyte, m.where),
			Ours: fmt.Sprintf("%.0f MB", float64(once)/megabyte), Bar: fmt.Sprintf("<= %d MB", idleBar/megabyte), Missed: once > idleBar, Value: float64(once) / megabyte,
		},
		row{
			What: fmt.Sprintf("processor time in these %s, share of one core", idleFor), Ours: fmt.Sprintf("%.1f %%", 100*share), Bar: fmt.Sprintf("<= %.0f %%", 100*idleCPU), Missed: share > idleCPU, Value: share,
		})
	return nil
}

// idleWorker measures what a worker's control process alone uses while nothing happens.
func (m *measure) idleWorker(ctx context.Context) error {
	m.progress("%s of rest, for a worker's idle memory", idleFor)
	worker := m.site.Part("worker-1")
	before, err := worker.Cost()
	if err != nil {
		return err
	}
	if err := crowd.Pause(ctx, idleFor); err != nil {
		return err
	}
	after, err := worker.Cost()
	if err != nil {
		return err
	}
	m.rows = append(m.rows, row{
		What: fmt.Sprintf("resident memory of a worker after %s of rest, without its runner (%.1f %% of a core)", idleFor, 100*figures.Per(after.CPU-before.CPU, idleFor)),
		Ours: fmt.Sprintf("%.0f MB", float64(after.RSS)/megabyte), Bar: fmt.Sprintf("<= %d MB", workerBar/megabyte), Missed: after.RSS > workerBar, Value: float64(after.RSS) / megabyte,
	})
	return nil
}

// trivial measures what a person waits for: the call that starts a workflow of one
// task, until the event stream has told of its success.
func (m *measure) trivial(ctx context.Context) error {
	m.progress("%d trivial workflows", trivials)
	var took []time.Duration
	for range trivials {
		d, err := m.place("trivial").Watch(ctx)
		if err != nil {
			return err
		}
		took = append(took, d)
	}
	d := figures.Median(took)
	// Nothing durable takes less than one commit for the start and one for the end.
	limit := 2 * m.limits.commit[m.database]
	m.rows = append(m.rows, row{
		What:  fmt.Sprintf("`start` to success of one noop, by the client (worst %s); %s", figures.Milliseconds(figures.Quantile(took, 1)), m.where),
		Limit: figures.Milliseconds(limit) + " (2 durable commits)", Ours: figures.Milliseconds(d), N: trivials, Ratio: figures.Per(d, limit), Bar: "< " + figures.Milliseconds(trivialBar), Missed: d >= trivialBar, Value: figures.InMilliseconds(d),
	})
	return nil
}
