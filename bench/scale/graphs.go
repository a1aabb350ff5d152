package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

const (
	// layer is how many tasks of a large graph are side by side.
	layer = 100
	// edge is how many tasks at its beginning and at its end are held against each other.
	edge = 1000
	// flat is how much more an event may cost in the large graph, or at its end, and count as no more.
	flat = 1.5
)

// graph measures whether an event costs the same in a graph of ten times the tasks, and at its end as at its beginning.
func (m *measure) graph(ctx context.Context) error {
	return m.standalone(ctx, func(s *site.Site) error {
		small, _, err := m.graphOf(ctx, s, m.tasks/10, 10*m.runs)
		if err != nil {
			return err
		}
		large, tasks, err := m.graphOf(ctx, s, m.tasks, m.runs)
		if err != nil {
			return err
		}
		first, last := spans(tasks)
		ratio, drift := large/small, figures.Per(last, first)
		m.add(figures.Row{
			What: fmt.Sprintf("processor time of a noop task in a graph of %d in layers of %d, beside one in a graph of %d", m.tasks, layer, m.tasks/10), Limit: fmt.Sprintf("%.3f ms (the small one)", small),
			Ours: fmt.Sprintf("%.3f ms", large), N: m.runs, Ratio: ratio, Bar: fmt.Sprintf("ratio <= %.1f", flat), Missed: ratio > flat, Value: large,
		}, figures.Row{
			What: fmt.Sprintf("the ends of the last %d tasks of the large one, beside those of the first, by the rows of its last run", edge), Limit: figures.Milliseconds(first) + " (the first)",
			Ours: figures.Milliseconds(last), Ratio: drift, Bar: fmt.Sprintf("ratio <= %.1f", flat), Missed: drift > flat, Value: drift,
		})
		return nil
	})
}

// graphOf runs a graph some times, and returns the processor time of a task, the median of them, and the tasks of the last run.
func (m *measure) graphOf(ctx context.Context, s *site.Site, n, runs int) (each float64, tasks []client.Task, err error) {
	progress("a graph of %d tasks, %d times", n, runs)
	p := place(s, fmt.Sprintf("graph-%d", n))
	if err := p.Save(ctx, crowd.Layers(n, layer), nil); err != nil {
		return 0, nil, err
	}
	var costs []float64
	for range runs {
		var in client.Instance
		of, err := crowd.Measured(ctx, s, int64(n), func() (err error) {
			in, err = p.Await(ctx)
			return err
		})
		if err != nil {
			return 0, nil, err
		}
		product, _, _ := of.Each()
		costs = append(costs, product)
		if tasks, err = s.Client.Tasks(ctx, in.ID); err != nil {
			return 0, nil, err
		}
	}
	return figures.Median(costs), tasks, nil
}

// spans is how long it took from the first of the ends to the edge-th, and from there on as many before the last to the last.
func spans(tasks []client.Task) (first, last time.Duration) {
	ends := make([]time.Time, len(tasks))
	for i, t := range tasks {
		ends[i] = t.FinishedAt.Time
	}
	slices.SortFunc(ends, time.Time.Compare)
	return ends[edge-1].Sub(ends[0]), ends[len(ends)-1].Sub(ends[len(ends)-edge])
}

// wideGraph measures 1 -> many -> 1.
func (m *measure) wideGraph(ctx context.Context) error {
	return m.standalone(ctx, func(s *site.Site) error {
		var took []time.Duration
		var costs []float64
		for _, n := range []int{m.wide / 10, m.wide} {
			progress("1 -> %d -> 1, %d times", n, m.runs)
			p := place(s, fmt.Sprintf("wide-%d", n))
			if err := p.Save(ctx, crowd.FanOut(n, "noop", ""), nil); err != nil {
				return err
			}
			took = nil
			var cost []float64
			for range m.runs {
				of, err := crowd.Measured(ctx, s, int64(n+2), func() error {
					in, err := p.Await(ctx)
					took = append(took, crowd.Life(in))
					return err
				})
				if err != nil {
					return err
				}
				product, _, _ := of.Each()
				cost = append(cost, product)
			}
			costs = append(costs, figures.Median(cost))
		}
		ratio := costs[1] / costs[0]
		m.add(figures.Row{
			What: fmt.Sprintf("one workflow 1 -> %d -> 1 of noop", m.wide), Ours: figures.Milliseconds(figures.Median(took)), N: m.runs, Value: figures.InMilliseconds(figures.Median(took)),
		}, figures.Row{
			What: fmt.Sprintf("processor time of a task of it, beside 1 -> %d -> 1", m.wide/10), Limit: fmt.Sprintf("%.3f ms", costs[0]), Ours: fmt.Sprintf("%.3f ms", costs[1]), N: m.runs,
			Ratio: ratio, Bar: fmt.Sprintf("ratio <= %.1f", flat), Missed: ratio > flat, Value: costs[1],
		})
		return nil
	})
}
