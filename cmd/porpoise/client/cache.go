package client

import (
	"context"
	"net/http"
	"net/url"
)

// Cleared says how many results were deleted.
type Cleared struct {
	Deleted int `json:"deleted"`
}

// ClearCache forgets what is kept of a workflow's tasks, or of one of them; task is "" for all.
func (c *Client) ClearCache(ctx context.Context, project, workflow, task string) (Cleared, error) {
	in := call{method: http.MethodDelete, path: []string{"projects", project, "workflows", workflow, "cache"}}
	if task != "" {
		in.query = url.Values{"task": {task}}
	}
	var out Cleared
	_, err := c.do(ctx, in, &out)
	return out, err
}
