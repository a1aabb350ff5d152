package client

import (
	"context"
	"net/http"
)

// TaskGroup is a number of places that tasks of a project share.
type TaskGroup struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Size        int    `json:"size"`
	Used        int    `json:"used"`
	Waiting     int    `json:"waiting"`
	Rate        *Rate  `json:"rate,omitempty"`
	Started     int    `json:"started,omitempty"` // within the last Per of the rate
	NextAt      Time   `json:"next_at,omitzero"`
	CreatedAt   Time   `json:"created_at"`
	UpdatedAt   Time   `json:"updated_at"`
}

// Rate is how many tasks may start in any stretch of time that is Per long.
type Rate struct {
	Tasks int    `json:"tasks"`
	Per   string `json:"per"` // such as 1m
}

// TaskGroupWish is what a task group is to be.
type TaskGroupWish struct {
	Size        int    `json:"size"`
	Description string `json:"description,omitempty"`
	Rate        *Rate  `json:"rate,omitempty"` // nil is none
}

// GroupTask is a task that has places of a group, or waits for them.
type GroupTask struct {
	InstanceID string `json:"instance_id"`
	Workflow   string `json:"workflow"`
	Task       string `json:"task"`
	State      string `json:"state"`
	Waiting    bool   `json:"waiting"`
	Forced     bool   `json:"forced"`
	Weight     int    `json:"weight"`
	ReadyAt    Time   `json:"ready_at"`
}

// TaskGroupDetail is a group with its tasks.
type TaskGroupDetail struct {
	TaskGroup
	Tasks []GroupTask `json:"tasks"`
}

func taskGroupPath(project string, more ...string) []string {
	return append([]string{"projects", project, "task-groups"}, more...)
}

// TaskGroups lists a project's task groups.
func (c *Client) TaskGroups(ctx context.Context, project string) ([]TaskGroup, error) {
	return all[TaskGroup](ctx, c, call{method: http.MethodGet, path: taskGroupPath(project)}, 0)
}

// TaskGroup shows a group and who has its places.
func (c *Client) TaskGroup(ctx context.Context, project, name string) (TaskGroupDetail, error) {
	var out TaskGroupDetail
	_, err := c.do(ctx, call{method: http.MethodGet, path: taskGroupPath(project, name)}, &out)
	return out, err
}

// PutTaskGroup makes a group, or changes what it is.
func (c *Client) PutTaskGroup(ctx context.Context, project, name string, g TaskGroupWish) (TaskGroup, error) {
	var out TaskGroup
	_, err := c.do(ctx, call{method: http.MethodPut, path: taskGroupPath(project, name), body: g}, &out)
	return out, err
}

// DeleteTaskGroup deletes a group that no task uses.
func (c *Client) DeleteTaskGroup(ctx context.Context, project, name string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: taskGroupPath(project, name)}, nil)
	return err
}

// ForceTask gives a waiting task its places, whatever the group has left.
func (c *Client) ForceTask(ctx context.Context, project, name, instance, task, reason string) (TaskGroupDetail, error) {
	var out TaskGroupDetail
	body := map[string]string{"instance_id": instance, "task": task, "reason": reason}
	_, err := c.do(ctx, call{method: http.MethodPost, path: taskGroupPath(project, name, "force"), body: body}, &out)
	return out, err
}
