package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

const (
	// besideDates is how many dates the backfill has, besideParallel how many run at once: the most that may.
	besideDates    = 10_000
	besideParallel = 100
	// startEvery is the time between two live starts.
	startEvery = 50 * time.Millisecond
	quick      = "name: %s\ntasks:\n  - {name: a, type: noop}\n"
)

// beside measures live starts, each from its call to the end of its one task, first alone and then while a
// backfill of many dates runs.
func beside(ctx context.Context, o options) (measured []figures.Spread, err error) {
	err = o.onPair(ctx, func(p *pair) error {
		for _, name := range []string{"live", "past"} {
			text := fmt.Sprintf(quick, name)
			if _, err := p.Client.SaveWorkflow(ctx, client.Save{Project: "p", Workflow: name, Format: "yaml", Text: []byte(text), Match: "*", Publish: true}); err != nil {
				return err
			}
		}
		alone, err := p.live(ctx, o.starts)
		if err != nil {
			return err
		}
		first := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
		wanted := client.BackfillRequest{
			From: first.Format(time.DateOnly), To: first.AddDate(0, 0, besideDates-1).Format(time.DateOnly), Every: "1d", Parallel: besideParallel,
		}
		plan, err := p.Client.CreateBackfill(ctx, "p", "past", wanted, true)
		if err != nil {
			return err
		}
		wanted.Preview = plan.Token
		if plan, err = p.Client.CreateBackfill(ctx, "p", "past", wanted, false); err != nil {
			return err
		}
		if plan.Count != besideDates {
			return fmt.Errorf("the backfill has %d dates, want %d", plan.Count, besideDates)
		}
		with, err := p.live(ctx, o.starts)
		if err != nil {
			return err
		}
		done, err := p.Client.Backfill(ctx, "p", "past", plan.ID)
		if err != nil {
			return err
		}
		if done.State.Final() {
			return errors.New("the backfill had ended before the live starts had: give fewer -starts")
		}
		measured = []figures.Spread{
			{What: "live start -> end of its one noop, no backfill", Took: alone},
			{What: fmt.Sprintf("the same beside a backfill of %d dates, %d at once", besideDates, besideParallel), Took: with},
		}
		return nil
	})
	return measured, err
}

// live starts n instances, one after the other at a steady pace, and returns how long each took from its call.
func (p *pair) live(ctx context.Context, n int) ([]time.Duration, error) {
	tick := time.NewTicker(startEvery)
	defer tick.Stop()
	ids, began := make([]string, n), make([]time.Time, n)
	for i := range n {
		<-tick.C
		began[i] = time.Now()
		var err error
		if ids[i], err = p.Client.StartWorkflow(ctx, "p", "live", client.Start{}); err != nil {
			return nil, err
		}
	}
	took := make([]time.Duration, n)
	for i := range ids {
		err := soon(ctx, "it has ended", func() error {
			var finished int64
			if err := p.db.QueryRowContext(ctx, `SELECT finished_at FROM workflow_instance WHERE id = ?`, ids[i]).Scan(&finished); err != nil {
				return fmt.Errorf("read its end: %w", err)
			}
			if finished == 0 {
				return errors.New("it runs")
			}
			took[i] = time.UnixMilli(finished).Sub(began[i].Truncate(time.Millisecond))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return took, nil
}
