package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
)

const (
	coldBar    = time.Second
	idleBar    = 120 * megabyte
	megabyte   = 1_000_000
	idleFor    = 10 * time.Second
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
		s, err := site.Standalone(ctx, site.Options{Binary: m.porpoise, Examples: true})
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
		Limit: figures.Milliseconds(figures.Median(bare)) + " (`porpoise version`)", Ours: figures.Milliseconds(d), Ratio: figures.Per(d, figures.Median(bare)), Bar: "< " + figures.Milliseconds(coldBar), Missed: d >= coldBar, Value: figures.InMilliseconds(d),
	})
	return nil
}

// first makes a project and a workflow of one task, and runs it.
func (m *measure) first(ctx context.Context) error {
	c := m.site.Client
	if _, err := c.PutProject(ctx, project, "Measured"); err != nil {
		return err
	}
	if err := save(ctx, c, "trivial", nil, chain(1, "noop", "")); err != nil {
		return err
	}
	_, err := watch(ctx, c, "trivial")
	return err
}

// idle measures the memory of all processes after a while of nothing.
func (m *measure) idle(ctx context.Context) error {
	m.progress("%s of rest, for the idle memory", idleFor)
	before, err := m.site.Cost()
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(idleFor):
	}
	after, err := m.site.Cost()
	if err != nil {
		return err
	}
	if after.Processes == 0 {
		return errors.New("no process of the site is found")
	}
	m.rows = append(m.rows,
		row{
			What: fmt.Sprintf("resident memory after %s of rest, sum of %d processes", idleFor, after.Processes),
			Ours: fmt.Sprintf("%.0f MB", float64(after.RSS)/megabyte), Bar: fmt.Sprintf("< %d MB", idleBar/megabyte), Missed: after.RSS >= idleBar, Value: float64(after.RSS) / megabyte,
		},
		row{
			What: "processor time while it rests, share of one core", Ours: fmt.Sprintf("%.1f %%", 100*figures.Per(after.CPU-before.CPU, idleFor)),
			Value: figures.Per(after.CPU-before.CPU, idleFor),
		})
	return nil
}

// trivial measures what a person waits for: the call that starts a workflow of one
// task, until the event stream has told of its success.
func (m *measure) trivial(ctx context.Context) error {
	m.progress("%d trivial workflows", trivials)
	var took []time.Duration
	for range trivials {
		d, err := watch(ctx, m.site.Client, "trivial")
		if err != nil {
			return err
		}
		took = append(took, d)
	}
	d := figures.Median(took)
	// Nothing durable takes less than one commit for the start and one for the end.
	limit := 2 * m.limits.commit
	m.rows = append(m.rows, row{
		What:  fmt.Sprintf("`start` to success of one noop, by the client, median of %d (worst %s)", trivials, figures.Milliseconds(figures.Quantile(took, 1))),
		Limit: figures.Milliseconds(limit) + " (2 durable commits)", Ours: figures.Milliseconds(d), Ratio: figures.Per(d, limit), Bar: "< " + figures.Milliseconds(trivialBar), Missed: d >= trivialBar, Value: figures.InMilliseconds(d),
	})
	return nil
}
