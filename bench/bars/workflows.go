package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const (
	project = "bars"
	// watchEvery is how often a long run is asked whether it is over. What is told of
	// such a run comes from its rows, so it need not be often, and asking costs.
	watchEvery = 25 * time.Millisecond
	// patience bounds any one run.
	patience = 60 * time.Second
)

// task is one task of a definition.
type task struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Script string   `json:"script,omitempty"`
	Needs  []string `json:"needs,omitempty"`
}

// chain is a line of n tasks.
func chain(n int, kind, script string) []task {
	tasks := make([]task, n)
	for i := range tasks {
		tasks[i] = task{Name: fmt.Sprintf("t%d", i), Type: kind, Script: script}
		if i > 0 {
			tasks[i].Needs = []string{tasks[i-1].Name}
		}
	}
	return tasks
}

// fanOut is one task, then n at once, then one.
func fanOut(n int) []task {
	tasks := []task{{Name: "first", Type: "noop"}}
	last := task{Name: "last", Type: "noop"}
	for i := range n {
		t := task{Name: fmt.Sprintf("t%d", i), Type: "noop", Needs: []string{"first"}}
		tasks, last.Needs = append(tasks, t), append(last.Needs, t.Name)
	}
	return append(tasks, last)
}

// save publishes a workflow.
func save(ctx context.Context, c *client.Client, name string, params map[string]string, tasks []task) error {
	definition := map[string]any{"name": name, "tasks": tasks}
	if params != nil {
		definition["params"] = params
	}
	text, err := json.Marshal(definition)
	if err != nil {
		return fmt.Errorf("write workflow %s: %w", name, err)
	}
	_, err = c.SaveWorkflow(ctx, client.Save{Project: project, Workflow: name, Format: "json", Text: text, Match: "*", Publish: true})
	if err != nil {
		return fmt.Errorf("save workflow %s: %w", name, err)
	}
	return nil
}

// start starts a workflow as it is.
func start(ctx context.Context, c *client.Client, name string) (string, error) {
	id, err := c.StartWorkflow(ctx, project, name, client.Start{})
	if err != nil {
		return "", fmt.Errorf("start workflow %s: %w", name, err)
	}
	return id, nil
}

// watch starts a workflow and follows its event stream until it has succeeded, as the
// console and `porpoise start --wait` do; it returns what that took, from the call.
func watch(ctx context.Context, c *client.Client, name string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	id, err := start(ctx, c, name)
	if err != nil {
		return 0, err
	}
	in, err := c.Wait(ctx, id, nil)
	if err != nil {
		return 0, fmt.Errorf("wait for workflow %s: %w", name, err)
	}
	return time.Since(began), succeeded(in)
}

// await starts a workflow, asks now and then until it has succeeded, and returns it.
func await(ctx context.Context, c *client.Client, name string) (client.Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	id, err := start(ctx, c, name)
	if err != nil {
		return client.Instance{}, err
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		in, err := c.Instance(ctx, id)
		if err != nil {
			return in, fmt.Errorf("wait for workflow %s: %w", name, err)
		}
		if in.Over() {
			return in, succeeded(in)
		}
		select {
		case <-ctx.Done():
			return in, fmt.Errorf("wait for workflow %s, which is %s: %w", name, in.State, ctx.Err())
		case <-tick.C:
		}
	}
}

func succeeded(in client.Instance) error {
	if in.State != dag.InstanceSuccess {
		return fmt.Errorf("instance %s of %s ended as %s (%s)", in.ID, in.Workflow, in.State, in.Reason)
	}
	return nil
}

// life is how long an instance took by its rows, whose clock is this machine's: from
// the start that was accepted to the end, to the millisecond.
func life(in client.Instance) time.Duration { return in.FinishedAt.Sub(in.CreatedAt.Time) }
