package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
)

const (
	// floodFor is how long callers start workflows; the clock stops when the last of them has ended.
	floodFor = 4 * time.Second
	// floodWarm goes before the first: pages, statements and connections that a running site has.
	floodWarm = time.Second
	// stepsWorkflows and stepsTasks are the workflows whose tasks alone are counted: few starts, many steps.
	stepsWorkflows, stepsTasks = 640, 20
	stepsCallers               = 64
	// bareFor is how long the skeleton runs, before every run of the product.
	bareFor = 1500 * time.Millisecond
)

// floodBars are workflows per second by callers, first on SQLite, then on MariaDB.
var floodBars = []struct {
	callers int
	least   [2]float64
}{{64, [2]float64{7000, 5000}}, {500, [2]float64{9000, 7000}}}

// stepBars are tasks per second on SQLite and on MariaDB, and stepCost is the processor time of one.
var stepBars = [2]float64{20000, 15000}

const stepCost = 100 * time.Microsecond

// floods measures whole workflows and tasks within workflows per second.
func (m *measure) floods(ctx context.Context) error {
	for name, tasks := range map[string]int{"flood": 1, "steps": stepsTasks} {
		if err := m.place(name).Save(ctx, crowd.Chain(tasks, "noop", ""), nil); err != nil {
			return err
		}
	}
	bare, err := m.startSkeleton(ctx)
	if err != nil {
		return fmt.Errorf("start the skeleton: %w", err)
	}
	for _, bar := range floodBars {
		if err == nil {
			err = m.flood(ctx, bare, bar.callers, bar.least[m.database])
		}
	}
	if err == nil {
		err = m.steps(ctx, bare)
	}
	return errors.Join(err, bare.stop(ctx), m.profiles(ctx))
}

// flood measures workflows of one task.
func (m *measure) flood(ctx context.Context, bare *skeleton, callers int, least float64) error {
	var rates, limits []float64
	var product, database, client []float64
	f := crowd.Crowd{Site: m.site, Project: project, Workflow: "flood", Callers: callers}
	if _, err := f.Run(ctx, floodWarm, 0); err != nil {
		return err
	}
	for i := range m.runs {
		m.progress("workflows of one noop from %d callers (%s), %d of %d", callers, m.where, i+1, m.runs)
		limit, err := bare.rate(ctx, callers, 1)
		if err != nil {
			return fmt.Errorf("measure the skeleton: %w", err)
		}
		stop := m.record(ctx, fmt.Sprintf("flood-%d", callers))
		of, err := f.Run(ctx, floodFor, 0)
		if err := errors.Join(err, stop()); err != nil {
			return err
		}
		p, d, c := of.Each()
		rates, limits = append(rates, of.Rate()), append(limits, limit)
		product, database, client = append(product, p), append(database, d), append(client, c)
	}
	rate, limit := figures.Median(rates), figures.Median(limits)
	m.rows = append(m.rows, row{
		What:  fmt.Sprintf("workflows of one noop from their HTTP starts by %d callers to their ends, per second; %s", callers, m.where),
		Limit: fmt.Sprintf("%.0f/s (skeleton: HTTP, 3 group commits, gRPC stream)", limit),
		Ours:  fmt.Sprintf("%.0f/s", rate), N: m.runs, Ratio: rate / limit, Bar: fmt.Sprintf(">= %.0f/s", least), Missed: rate < least, Value: rate,
	}, row{
		What: "processor time for each of these workflows: product / database server / the calling", N: m.runs, Value: figures.Median(product) + figures.Median(database),
		Ours: fmt.Sprintf("%.3f ms / %.3f ms / %.3f ms", figures.Median(product), figures.Median(database), figures.Median(client)),
	})
	return nil
}

// steps measures tasks where starts are few.
func (m *measure) steps(ctx context.Context, bare *skeleton) error {
	var rates, limits, costs, servers []float64
	f := crowd.Crowd{Site: m.site, Project: project, Workflow: "steps", Callers: stepsCallers}
	for i := range m.runs {
		m.progress("%d workflows of %d noop (%s), %d of %d", stepsWorkflows, stepsTasks, m.where, i+1, m.runs)
		limit, err := bare.rate(ctx, stepsCallers, stepsTasks)
		if err != nil {
			return fmt.Errorf("measure the skeleton: %w", err)
		}
		stop := m.record(ctx, "steps")
		of, err := f.Run(ctx, 0, stepsWorkflows)
		if err := errors.Join(err, stop()); err != nil {
			return err
		}
		p, d, _ := of.Each()
		rates, limits = append(rates, of.Rate()*stepsTasks), append(limits, limit*stepsTasks)
		costs, servers = append(costs, (p+d)/stepsTasks), append(servers, d/stepsTasks)
	}
	rate, least, cost, limit := figures.Median(rates), stepBars[m.database], figures.Median(costs), figures.Median(limits)
	m.rows = append(m.rows,
		row{
			What:  fmt.Sprintf("noop tasks of %d workflows of %d tasks in a line, started by %d callers at once, per second; %s", stepsWorkflows, stepsTasks, stepsCallers, m.where),
			Limit: fmt.Sprintf("%.0f/s (the same skeleton, a commit for each step)", limit),
			Ours:  fmt.Sprintf("%.0f/s", rate), N: m.runs, Ratio: rate / limit, Bar: fmt.Sprintf(">= %.0f/s", least), Missed: rate < least, Value: rate,
		},
		row{
			What: fmt.Sprintf("processor time for each of these tasks, all processes of the product and the database server (%.3f ms of it), without the callers; %s", figures.Median(servers), m.where),
			Ours: fmt.Sprintf("%.3f ms", cost), N: m.runs, Bar: "<= " + figures.Milliseconds(stepCost), Missed: cost > figures.InMilliseconds(stepCost), Value: cost,
		})
	return nil
}
