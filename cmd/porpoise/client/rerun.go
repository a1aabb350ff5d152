package client

import (
	"context"
	"net/http"

	"github.com/porpoise/porpoise/dag"
)

// Rerun says what of an instance is to run again.
type Rerun struct {
	From    []string          `json:"from,omitempty"`
	Keep    bool              `json:"keep,omitempty"`
	Tasks   []string          `json:"tasks,omitempty"`
	Scope   string            `json:"scope,omitempty"`
	Params  map[string]string `json:"params,omitempty"`
	Preview string            `json:"preview,omitempty"`
}

// RerunPreview says what a rerun would do.
type RerunPreview struct {
	Token       string `json:"token"`
	NewInstance bool   `json:"new_instance"`
	Tasks       []struct {
		Task    string        `json:"task"`
		State   dag.TaskState `json:"state"`
		Action  string        `json:"action"` // run or keep
		Why     string        `json:"why"`
		Because string        `json:"because,omitempty"`
	} `json:"tasks"`
	Parents []struct {
		InstanceID string `json:"instance_id"`
		Project    string `json:"project"`
		Workflow   string `json:"workflow"`
		Task       string `json:"task"` // that waits for the child again
		Tasks      []struct {
			Name string        `json:"name"`
			From dag.TaskState `json:"from"`
			To   dag.TaskState `json:"to"`
		} `json:"tasks"`
	} `json:"parents,omitempty"` // the instances above that go again with it, the nearest first
}

// Rerun runs an instance again and returns it, or the new one.
func (c *Client) Rerun(ctx context.Context, id string, o Rerun) (Instance, error) {
	var in Instance
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"instances", id, "rerun"}, body: o}, &in)
	return in, err
}

// PreviewRerun says what Rerun would do.
func (c *Client) PreviewRerun(ctx context.Context, id string, o Rerun) (RerunPreview, error) {
	var out RerunPreview
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"instances", id, "rerun", "preview"}, body: o}, &out)
	return out, err
}
