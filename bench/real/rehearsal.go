package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const (
	project = "real"
	// patience is how many lower bounds a run may take before it is given up.
	patience = 10
	// leastPatience is for runs that are very short by their scale.
	leastPatience = 60 * time.Second
	// script is every task. The shell opens the file to append and writes each line with
	// one write, so that lines of tasks that run at once never mix, and their order in the
	// file is the order in which they happened: no clock is needed for the proof.
	script = `echo "start $system_task_name $PORPOISE_ATTEMPT" >>"$evidence"
sleep "$nap"
echo "end $system_task_name $PORPOISE_ATTEMPT" >>"$evidence"
`
)

// rehearsal is one run of a trace.
type rehearsal struct {
	*trace
	client   *client.Client
	slots    int
	scale    float64
	evidence string // path of the file that the tasks append to

	bound, makespan time.Duration // afterwards
}

// definition is the trace as a workflow.
func (r *rehearsal) definition() ([]byte, error) {
	type task struct {
		Name   string            `json:"name"`
		Type   string            `json:"type"`
		Script string            `json:"script"`
		Needs  []string          `json:"needs,omitempty"`
		Params map[string]string `json:"params"`
	}
	tasks := make([]task, len(r.Tasks))
	for i, t := range r.Tasks {
		nap := fmt.Sprintf("%.4f", t.RuntimeS/r.scale)
		tasks[i] = task{Name: t.ID, Type: "shell", Script: script, Needs: t.Deps, Params: map[string]string{"nap": nap}}
	}
	text, err := json.Marshal(map[string]any{"name": r.Name, "params": map[string]string{"evidence": ""}, "tasks": tasks})
	if err != nil {
		return nil, fmt.Errorf("write the definition: %w", err)
	}
	return text, nil
}

// run saves, starts and awaits the workflow, then checks what the tasks have written.
func (r *rehearsal) run(ctx context.Context) error {
	text, err := r.definition()
	if err != nil {
		return err
	}
	save := client.Save{Project: project, Workflow: r.Name, Format: "json", Text: text, Match: "*", Publish: true}
	if _, err := r.client.SaveWorkflow(ctx, save); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	r.bound = time.Duration(float64(r.lowerBound(r.slots)) / r.scale)
	ctx, cancel := context.WithTimeout(ctx, max(patience*r.bound, leastPatience))
	defer cancel()
	id, err := r.client.StartWorkflow(ctx, project, r.Name, client.Start{Params: map[string]string{"evidence": r.evidence}})
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	began := time.Now()
	in, err := r.client.Wait(ctx, id, nil)
	if err != nil {
		return fmt.Errorf("wait for instance %s (%s): %w", id, in.State, err)
	}
	if in.State != dag.InstanceSuccess {
		return fmt.Errorf("instance %s ended as %s (%s)", id, in.State, in.Reason)
	}
	// The row's own time: it is written by this machine's clock, and what the client takes
	// to notice is not the workflow's.
	r.makespan = in.FinishedAt.Sub(began)
	written, err := os.ReadFile(r.evidence)
	if err != nil {
		return fmt.Errorf("read the evidence: %w", err)
	}
	return check(r.Tasks, string(written))
}
