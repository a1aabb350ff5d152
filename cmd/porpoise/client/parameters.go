package client

import (
	"context"
	"net/http"
)

// Preview says what parameters are to be worked out for: those of a version, or of a text
// that need not be saved.
type Preview struct {
	Text         string            `json:"text,omitempty"`
	Format       string            `json:"format,omitempty"`
	Version      int               `json:"version,omitempty"`
	Params       map[string]string `json:"params,omitempty"`
	ScheduleTime string            `json:"schedule_time,omitempty"` // RFC 3339; "" is now
	Timezone     string            `json:"timezone,omitempty"`      // "" is UTC
	InstanceID   string            `json:"instance_id,omitempty"`   // whose outputs are taken
	Task         string            `json:"task,omitempty"`          // "" is the workflow itself
}

// Parameters are what a preview works out.
type Parameters struct {
	Params []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
		Type  string `json:"type"`
		Chain []struct {
			Origin string `json:"origin"`
			Value  string `json:"value"`
			From   string `json:"from,omitempty"`
		} `json:"chain"`
	} `json:"params"`
	Task *struct {
		Name       string            `json:"name"`
		Type       string            `json:"type"`
		Env        map[string]string `json:"env"`
		Fields     map[string]any    `json:"fields"`
		WorkingDir string            `json:"working_dir,omitempty"`
	} `json:"task,omitempty"`
	Unresolved []struct {
		Name  string `json:"name"`
		Field string `json:"field"`
	} `json:"unresolved"`
}

// PreviewParameters works out what a start would give a workflow or one of its tasks, and
// starts nothing.
func (c *Client) PreviewParameters(ctx context.Context, project, workflow string, p Preview) (Parameters, error) {
	var out Parameters
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"projects", project, "workflows", workflow, "parameters"}, body: p}, &out)
	return out, err
}
