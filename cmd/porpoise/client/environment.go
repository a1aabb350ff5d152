package client

import (
	"context"
	"net/http"
)

// Environment is a named set of environment variables, which tasks of a project, or of all, take by its name.
type Environment struct {
	Name        string            `json:"name"`
	Variables   map[string]string `json:"variables"`
	Description string            `json:"description"`
	UpdatedAt   Time              `json:"updated_at"`
	UpdatedBy   string            `json:"updated_by"`
}

// environmentPath is the path of the environments of a project; "" is all projects.
func environmentPath(project string, more ...string) []string {
	if project == "" {
		return append([]string{"environments"}, more...)
	}
	return append([]string{"projects", project, "environments"}, more...)
}

// Environments lists the environments of a project itself, or of all where it is "".
func (c *Client) Environments(ctx context.Context, project string) ([]Environment, error) {
	return all[Environment](ctx, c, call{method: http.MethodGet, path: environmentPath(project)}, 0)
}

// PutEnvironment makes an environment of a project, or of all where it is "", or gives it other variables.
func (c *Client) PutEnvironment(ctx context.Context, project, name string, variables map[string]string, description string) (Environment, error) {
	var out Environment
	body := map[string]any{"variables": variables, "description": description}
	_, err := c.do(ctx, call{method: http.MethodPut, path: environmentPath(project, name), body: body}, &out)
	return out, err
}

// DeleteEnvironment deletes an environment.
func (c *Client) DeleteEnvironment(ctx context.Context, project, name string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: environmentPath(project, name)}, nil)
	return err
}
