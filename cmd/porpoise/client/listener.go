package client

import (
	"context"
	"net/http"
)

// ListenerFilter picks events: those that fit every list that is not empty, and the condition.
type ListenerFilter struct {
	Events    []string `json:"events,omitempty"`
	Workflows []string `json:"workflows,omitempty"`
	Schedules []string `json:"schedules,omitempty"`
	Tasks     []string `json:"tasks,omitempty"`
	States    []string `json:"states,omitempty"`
	Reasons   []string `json:"reasons,omitempty"`
	When      string   `json:"when,omitempty"`
}

// Listener is who is told of a project's events.
type Listener struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	URL         string         `json:"url"`
	Signed      bool           `json:"signed"`
	Filter      ListenerFilter `json:"filter"`
	Enabled     bool           `json:"enabled"`
	Dead        int            `json:"dead"`
	CreatedBy   string         `json:"created_by"`
	CreatedAt   Time           `json:"created_at"`
	UpdatedAt   Time           `json:"updated_at"`
}

// PutListener is what a listener is to be. A nil Secret keeps the one that it has, an empty one takes it away.
type PutListener struct {
	URL         string         `json:"url"`
	Secret      *string        `json:"secret,omitempty"`
	Filter      ListenerFilter `json:"filter"`
	Enabled     bool           `json:"enabled"`
	Description string         `json:"description,omitempty"`
}

// Delivery is how far a listener has heard of an instance, or of an alert.
type Delivery struct {
	InstanceID string `json:"instance_id,omitempty"`
	AlertID    string `json:"alert_id,omitempty"`
	Event      string `json:"event,omitempty"`
	Subject    string `json:"subject,omitempty"`
	Workflow   string `json:"workflow"`
	State      string `json:"state"`
	Seq        int64  `json:"seq"`
	Attempts   int    `json:"attempts"`
	NextAt     Time   `json:"next_at"`
	FailingAt  Time   `json:"failing_at"`
	Status     int    `json:"status"`
	Error      string `json:"error"`
	UpdatedAt  Time   `json:"updated_at"`
}

// ListenerTest is what came of a call that somebody asked for.
type ListenerTest struct {
	Delivered bool   `json:"delivered"`
	Status    int    `json:"status"`
	Error     string `json:"error"`
	TookMS    int64  `json:"took_ms"`
}

// Reply asks a start to tell a receiver of what becomes of it.
type Reply struct {
	URL           string   `json:"url"`
	Secret        string   `json:"secret,omitempty"`
	CorrelationID string   `json:"correlation_id,omitempty"`
	Events        []string `json:"events,omitempty"`
}

func listenerPath(project string, more ...string) []string {
	return append([]string{"projects", project, "listeners"}, more...)
}

// Listeners lists a project's listeners.
func (c *Client) Listeners(ctx context.Context, project string) ([]Listener, error) {
	return all[Listener](ctx, c, call{method: http.MethodGet, path: listenerPath(project)}, 0)
}

// PutListener makes a listener, or changes it.
func (c *Client) PutListener(ctx context.Context, project, name string, l PutListener) (Listener, error) {
	var out Listener
	_, err := c.do(ctx, call{method: http.MethodPut, path: listenerPath(project, name), body: l}, &out)
	return out, err
}

// DeleteListener deletes a listener.
func (c *Client) DeleteListener(ctx context.Context, project, name string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: listenerPath(project, name)}, nil)
	return err
}

// TestListener has a listener called once, now.
func (c *Client) TestListener(ctx context.Context, project, name string) (ListenerTest, error) {
	var out ListenerTest
	_, err := c.do(ctx, call{method: http.MethodPost, path: listenerPath(project, name, "test")}, &out)
	return out, err
}

// Deliveries lists how far a listener has heard of the newest instances, at most limit.
func (c *Client) Deliveries(ctx context.Context, project, name string, limit int) ([]Delivery, error) {
	return all[Delivery](ctx, c, call{method: http.MethodGet, path: listenerPath(project, name, "deliveries")}, limit)
}

// Redeliver delivers again what was given up of an instance, or with alert of an alert; with skip it goes on behind the
// event that could not be delivered.
func (c *Client) Redeliver(ctx context.Context, project, name, id string, alert, skip bool) (Delivery, error) {
	var out Delivery
	body := map[string]any{"instance_id": id, "skip": skip}
	if alert {
		body = map[string]any{"alert_id": id, "skip": skip}
	}
	_, err := c.do(ctx, call{method: http.MethodPost, path: listenerPath(project, name, "redeliver"), body: body}, &out)
	return out, err
}
