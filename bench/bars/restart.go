package main

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/dag"
)

const (
	restartBar = time.Second
	// restartTasks of restartScript are under way for two seconds: long enough that the
	// process is killed and back while they run.
	restartTasks  = 20
	restartScript = "sleep 0.1"
	// restartAfter is how many of them are done when the process is killed.
	restartAfter = 3
)

// restart measures how soon a node serves again after kill -9 in the middle of a
// workflow, and demands that the workflow then succeeds.
func (m *measure) restart(ctx context.Context) error {
	if err := m.place("restart").Save(ctx, crowd.Chain(restartTasks, "shell", restartScript), nil); err != nil {
		return err
	}
	var ready, took []time.Duration
	for i := range m.runs {
		m.progress("kill -9 and a restart, %d of %d", i+1, m.runs)
		r, d, err := m.killAndRestart(ctx)
		if err != nil {
			return fmt.Errorf("kill and restart: %w", err)
		}
		ready, took = append(ready, r), append(took, d)
	}
	d := figures.Median(ready)
	m.rows = append(m.rows,
		row{What: "kill -9 of standalone in the middle of a workflow: its restart until it is ready", Ours: figures.Milliseconds(d), N: m.runs, Bar: "< " + figures.Milliseconds(restartBar), Missed: d >= restartBar, Value: figures.InMilliseconds(d)},
		row{
			What:  fmt.Sprintf("that workflow, a chain of %d shell `%s`, with the kill and the restart in it", restartTasks, restartScript),
			Limit: fmt.Sprintf("%d ms (the naps alone)", restartTasks*100), Ours: figures.Milliseconds(figures.Median(took)), N: m.runs, Ratio: figures.InMilliseconds(figures.Median(took)) / (restartTasks * 100), Value: figures.InMilliseconds(figures.Median(took)),
		})
	return nil
}

// killAndRestart runs the workflow with a kill in it, and returns how long the restart
// took until ready, and how long the workflow.
func (m *measure) killAndRestart(ctx context.Context) (ready, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, echoPatience)
	defer cancel()
	c := m.site.Client
	id, err := m.place("restart").Start(ctx)
	if err != nil {
		return 0, 0, err
	}
	tick := time.NewTicker(echoWatch)
	defer tick.Stop()
	for {
		tasks, err := c.Tasks(ctx, id)
		if err != nil {
			return 0, 0, err
		}
		if len(tasks) > restartAfter && tasks[restartAfter].State == dag.TaskRunning {
			break
		}
		select {
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		case <-tick.C:
		}
	}
	node := m.site.Part("standalone")
	node.Kill()
	if err := m.site.Restart(ctx, node); err != nil {
		return 0, 0, err
	}
	ready = time.Since(m.site.Began)
	in, err := c.Wait(ctx, id, nil)
	if err != nil {
		return 0, 0, err
	}
	return ready, crowd.Life(in), crowd.Succeeded(in)
}
