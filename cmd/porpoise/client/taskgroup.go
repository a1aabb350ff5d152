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
	CreatedAt   Time   `json:"created_at"`
	UpdatedAt   Time   `json:"updated_at"`
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

// PutTaskGroup makes a group, or changes its size and description.
func (c *Client) PutTaskGroup(ctx context.Context, project, name string, size int, description string) (TaskGroup, error) {
	var out TaskGroup
	body := map[string]any{"size": size, "description": description}
	_, err := c.do(ctx, call{method: http.MethodPut, path: taskGroupPath(project, name), body: body}, &out)
	return out, err
}

// DeleteTaskGroup deletes a group that no task uses.
func (c *Client) DeleteTaskGroup(ctx context.Context, project, name string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: taskGroupPath(project, name)}, nil)
	return err
}

// ForceTask gives a waiting task its places, whatever the group has left.
func (c *Client) ForceTask(ctx context.Context, project, name, instance, task string) (TaskGroupDetail, error) {
	var out TaskGroupDetail
	body := map[string]string{"instance_id": instance, "task": task}
	_, err := c.do(ctx, call{method: http.MethodPost, path: taskGroupPath(project, name, "force"), body: body}, &out)
	return out, err
}
