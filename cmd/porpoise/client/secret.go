package client

import (
	"context"
	"net/http"
)

// Secret is a value that tasks name; the value itself is never shown.
type Secret struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	AllProjects bool   `json:"all_projects"`
	Key         string `json:"key"`
	UpdatedAt   Time   `json:"updated_at"`
	UpdatedBy   string `json:"updated_by"`
}

// Resealed is how many secrets were sealed by another key.
type Resealed struct {
	Key   string `json:"key"`
	Count int    `json:"count"`
}

// secretPath is that of a project's secrets; "" is those of all projects.
func secretPath(project string, more ...string) []string {
	if project == "" {
		return append([]string{"secrets"}, more...)
	}
	return append([]string{"projects", project, "secrets"}, more...)
}

// Secrets lists the secrets that tasks of a project may name; "" is those of all projects.
func (c *Client) Secrets(ctx context.Context, project string) ([]Secret, error) {
	var out struct {
		Items []Secret `json:"items"`
	}
	_, err := c.do(ctx, call{method: http.MethodGet, path: secretPath(project)}, &out)
	return out.Items, err
}

// PutSecret makes a secret of a project, or with "" of all, or gives it another value.
func (c *Client) PutSecret(ctx context.Context, project, name, value, description string) (Secret, error) {
	var out Secret
	body := map[string]string{"value": value, "description": description}
	_, err := c.do(ctx, call{method: http.MethodPut, path: secretPath(project, name), body: body}, &out)
	return out, err
}

// DeleteSecret deletes a secret of a project, or with "" of all.
func (c *Client) DeleteSecret(ctx context.Context, project, name string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: secretPath(project, name)}, nil)
	return err
}

// RotateSecretKey seals every secret by the first key of the server's key file.
func (c *Client) RotateSecretKey(ctx context.Context) (Resealed, error) {
	var out Resealed
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"secret-key", "rotate"}}, &out)
	return out, err
}
