package crowd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const (
	// watchEvery is how often a long run is asked whether it is over. What is told of
	// such a run comes from its rows, so it need not be often, and asking costs.
	watchEvery = 25 * time.Millisecond
	// patience bounds any one run.
	patience = 60 * time.Second
)

// Task is one task of a definition.
type Task struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Script    string   `json:"script,omitempty"`
	URL       string   `json:"url,omitempty"`
	For       string   `json:"for,omitempty"` // of a wait task
	Needs     []string `json:"needs,omitempty"`
	TaskGroup string   `json:"task_group,omitempty"`
	Group     string   `json:"worker_group,omitempty"`
}

// Chain is a line of n tasks.
func Chain(n int, kind, script string) []Task {
	tasks := make([]Task, n)
	for i := range tasks {
		tasks[i] = Task{Name: fmt.Sprintf("t%d", i), Type: kind, Script: script}
		if i > 0 {
			tasks[i].Needs = []string{tasks[i-1].Name}
		}
	}
	return tasks
}

// FanOut is one task, then n at once, then one.
func FanOut(n int, kind, script string) []Task {
	tasks := []Task{{Name: "first", Type: kind, Script: script}}
	last := Task{Name: "last", Type: kind, Script: script}
	for i := range n {
		t := Task{Name: fmt.Sprintf("t%d", i), Type: kind, Script: script, Needs: []string{"first"}}
		tasks, last.Needs = append(tasks, t), append(last.Needs, t.Name)
	}
	return append(tasks, last)
}

// Layers is n tasks, width of them in each layer; a task needs two of the layer before.
func Layers(n, width int) []Task {
	tasks := make([]Task, n)
	for i := range tasks {
		tasks[i] = Task{Name: fmt.Sprintf("t%d", i), Type: "noop"}
		if i >= width {
			above := (i/width - 1) * width
			tasks[i].Needs = []string{tasks[above+i%width].Name, tasks[above+(i+1)%width].Name}
		}
	}
	return tasks
}

// Place is a workflow of a project, and who may call for it.
type Place struct {
	Client            *client.Client
	Project, Workflow string
}

// Save publishes the workflow with these tasks; more are further keys of its definition.
func (p Place) Save(ctx context.Context, tasks []Task, more map[string]any) error {
	definition := map[string]any{"name": p.Workflow, "tasks": tasks}
	maps.Copy(definition, more)
	text, err := json.Marshal(definition)
	if err != nil {
		return fmt.Errorf("write workflow %s: %w", p.Workflow, err)
	}
	_, err = p.Client.SaveWorkflow(ctx, client.Save{Project: p.Project, Workflow: p.Workflow, Format: "json", Text: text, Match: "*", Publish: true})
	if err != nil {
		return fmt.Errorf("save workflow %s: %w", p.Workflow, err)
	}
	return nil
}

// Start starts the workflow as it is.
func (p Place) Start(ctx context.Context) (string, error) {
	id, err := p.Client.StartWorkflow(ctx, p.Project, p.Workflow, client.Start{})
	if err != nil {
		return "", fmt.Errorf("start workflow %s: %w", p.Workflow, err)
	}
	return id, nil
}

// Watch starts the workflow and follows its event stream until it has succeeded, as the
// console and `porpoise start --wait` do; it returns what that took, from the call.
func (p Place) Watch(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	id, err := p.Start(ctx)
	if err != nil {
		return 0, err
	}
	in, err := p.Client.Wait(ctx, id, nil)
	if err != nil {
		return 0, fmt.Errorf("wait for workflow %s: %w", p.Workflow, err)
	}
	return time.Since(began), Succeeded(in)
}

// Await starts the workflow, asks now and then until it has succeeded, and returns it.
func (p Place) Await(ctx context.Context) (client.Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	id, err := p.Start(ctx)
	if err != nil {
		return client.Instance{}, err
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		in, err := p.Client.Instance(ctx, id)
		if err != nil {
			return in, fmt.Errorf("wait for workflow %s: %w", p.Workflow, err)
		}
		if in.Over() {
			return in, Succeeded(in)
		}
		select {
		case <-ctx.Done():
			return in, fmt.Errorf("wait for workflow %s, which is %s: %w", p.Workflow, in.State, ctx.Err())
		case <-tick.C:
		}
	}
}

// Succeeded is an error that names the instance unless it has.
func Succeeded(in client.Instance) error {
	if in.State != dag.InstanceSuccess {
		return fmt.Errorf("instance %s of %s ended as %s (%s)", in.ID, in.Workflow, in.State, in.Reason)
	}
	return nil
}

// Life is how long an instance took by its rows, whose clock is this machine's: from
// the start that was accepted to the end, to the millisecond.
func Life(in client.Instance) time.Duration { return in.FinishedAt.Sub(in.CreatedAt.Time) }

// Over waits until no instance of the workflow is under way; an end that is no success is an error.
func (p Place) Over(ctx context.Context) error {
	for {
		left, err := p.any(ctx, dag.InstanceSubmitted, dag.InstanceRunning)
		if err != nil {
			return fmt.Errorf("wait for %s: %w", p.Workflow, err)
		}
		if !left {
			break
		}
		if err := Pause(ctx, watchEvery); err != nil {
			return fmt.Errorf("wait for %s: %w", p.Workflow, err)
		}
	}
	bad, err := p.any(ctx, dag.InstanceFailed, dag.InstanceStopped, dag.InstancePaused, dag.InstanceQuarantined)
	if err == nil && bad {
		err = fmt.Errorf("not every instance of %s has succeeded", p.Workflow)
	}
	return err
}

// any says whether there is an instance in one of the states.
func (p Place) any(ctx context.Context, states ...dag.InstanceState) (bool, error) {
	filter := client.Filter{Project: p.Project, Workflow: p.Workflow, Limit: 1}
	for _, state := range states {
		filter.States = append(filter.States, string(state))
	}
	found, err := p.Client.Instances(ctx, filter)
	return len(found) > 0, err
}

// Pause waits, unless ctx ends before.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
