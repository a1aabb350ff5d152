package client

import (
	"context"
	"net/http"
)

// Approval is one attempt of an approval task: what is asked, and what has been said.
type Approval struct {
	InstanceID string      `json:"instance_id"`
	Project    string      `json:"project"`
	Workflow   string      `json:"workflow"`
	Task       string      `json:"task"`
	Attempt    int         `json:"attempt"`
	Message    string      `json:"message"`
	Quorum     int         `json:"quorum"`
	Form       []FormField `json:"form"`
	Decisions  []struct {
		By      string `json:"by"`
		Approve bool   `json:"approve"`
	} `json:"decisions"`
	CreatedAt Time `json:"created_at"`
	ExpiresAt Time `json:"expires_at"`
}

// FormField is one field of an approval's form; whoever approves must give it a value where it has no default.
type FormField struct {
	Name    string  `json:"name"`
	Type    string  `json:"type"`
	Default *string `json:"default,omitempty"`
}

// Decided is what somebody says to an approval.
type Decided struct {
	Attempt int               `json:"attempt,omitempty"` // 0: the one that waits
	Reason  string            `json:"reason,omitempty"`
	Values  map[string]string `json:"values,omitempty"` // of approve alone
}

// Approvals lists the approvals that wait for the caller.
func (c *Client) Approvals(ctx context.Context) ([]Approval, error) {
	return all[Approval](ctx, c, call{method: http.MethodGet, path: []string{"approvals"}}, 0)
}

// Decide says approve or reject to an approval task.
func (c *Client) Decide(ctx context.Context, id, task, verb string, d Decided) (Instance, error) {
	var in Instance
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"instances", id, "tasks", task, verb}, body: d}, &in)
	return in, err
}
