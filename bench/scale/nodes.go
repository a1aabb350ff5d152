package main

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
)

const (
	// nodeWorkflows of nodeTasks are what each number of masters or workers is given, by nodeCallers.
	nodeWorkflows, nodeTasks, nodeCallers = 640, 20, 64
	// nodeCost is how much more processor time a task may take with more nodes than with one.
	nodeCost = 1.5
)

// masters measures the same work on more and more masters.
func (m *measure) masters(ctx context.Context) error {
	return m.nodes(ctx, "masters, with 2 workers", []int{1, 2, 4}, func(n int) site.Options { return site.Options{Masters: n, Workers: 2, Slots: 16} })
}

// workers measures the same work on more and more workers.
func (m *measure) workers(ctx context.Context) error {
	return m.nodes(ctx, "workers of 4 slots, with 1 master", []int{1, 2, 4, 8}, func(n int) site.Options { return site.Options{Masters: 1, Workers: n, Slots: 4} })
}

// nodes measures each number. Where all of them share two cores their rate can't rise: what each task costs says whether anything
// but the cores is in the way.
func (m *measure) nodes(ctx context.Context, what string, numbers []int, options func(int) site.Options) error {
	var one float64
	for _, n := range numbers {
		progress("%d %s", n, what)
		var rates, costs, servers []float64
		err := m.cluster(ctx, options(n), func(s *site.Site) error {
			if err := place(s, "steps").Save(ctx, crowd.Chain(nodeTasks, "noop", ""), nil); err != nil {
				return err
			}
			c := crowd.Crowd{Site: s, Project: project, Workflow: "steps", Callers: nodeCallers}
			if _, err := c.Run(ctx, 0, nodeCallers); err != nil { // to warm up
				return err
			}
			for range m.runs {
				of, err := c.Run(ctx, 0, nodeWorkflows)
				if err != nil {
					return err
				}
				product, server, _ := of.Each()
				rates, costs, servers = append(rates, of.Rate()*nodeTasks), append(costs, product/nodeTasks), append(servers, server/nodeTasks)
			}
			return nil
		})
		if err != nil {
			return err
		}
		cost := figures.Median(costs) + figures.Median(servers)
		if n == numbers[0] {
			one = cost
		}
		m.add(figures.Row{
			What: fmt.Sprintf("%d %s: noop tasks per second, and the processor time of each: product / database server", n, what), Limit: fmt.Sprintf("%.3f ms (both, with %d)", one, numbers[0]),
			Ours: fmt.Sprintf("%.0f/s, %.3f ms / %.3f ms", figures.Median(rates), figures.Median(costs), figures.Median(servers)), N: m.runs,
			Ratio: cost / one, Bar: fmt.Sprintf("ratio <= %.1f", nodeCost), Missed: cost > nodeCost*one, Value: figures.Median(rates),
		})
	}
	return nil
}
