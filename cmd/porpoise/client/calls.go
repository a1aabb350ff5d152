package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// IsNotFound says that the server knows no such object, or hides it from the caller.
func IsNotFound(err error) bool {
	var p *Problem
	return errors.As(err, &p) && p.Status == http.StatusNotFound
}

// Projects lists the projects that the caller may see.
func (c *Client) Projects(ctx context.Context) ([]Project, error) {
	return all[Project](ctx, c, call{method: http.MethodGet, path: []string{"projects"}}, 0)
}

// Project reads one project.
func (c *Client) Project(ctx context.Context, name string) (Project, error) {
	var p Project
	_, err := c.do(ctx, call{method: http.MethodGet, path: []string{"projects", name}}, &p)
	return p, err
}

// PutProject creates a project, or changes its description.
func (c *Client) PutProject(ctx context.Context, name, description string) (Project, error) {
	var p Project
	_, err := c.do(ctx, call{method: http.MethodPut, path: []string{"projects", name}, body: map[string]string{"description": description}}, &p)
	return p, err
}

// Workflows lists a project's workflows.
func (c *Client) Workflows(ctx context.Context, project string) ([]Workflow, error) {
	return all[Workflow](ctx, c, call{method: http.MethodGet, path: []string{"projects", project, "workflows"}}, 0)
}

// WorkflowTag returns the tag of a workflow's newest version, for Save.Match; "" where
// there is no such workflow.
func (c *Client) WorkflowTag(ctx context.Context, project, workflow string) (string, error) {
	header, err := c.do(ctx, call{method: http.MethodGet, path: []string{"projects", project, "workflows", workflow}}, nil)
	if IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return header.Get("ETag"), nil
}

// Save is a definition to be saved.
type Save struct {
	Project, Workflow string
	Format            string // yaml or json
	Text              []byte
	Match             string // the version that it replaces; "" creates, "*" is any
	Publish           bool
	Message           string // why, in the author's words
}

// SaveWorkflow saves a version.
func (c *Client) SaveWorkflow(ctx context.Context, s Save) (Saved, error) {
	in := call{
		method: http.MethodPut, path: []string{"projects", s.Project, "workflows", s.Workflow}, raw: s.Text,
		query:  url.Values{"publish": {strconv.FormatBool(s.Publish)}},
		header: http.Header{"Content-Type": {"application/" + s.Format}},
	}
	if s.Message != "" {
		in.query.Set("message", s.Message)
	}
	if s.Match != "" {
		in.header.Set("If-Match", s.Match)
	}
	var out Saved
	_, err := c.do(ctx, in, &out)
	return out, err
}

// Versions lists a workflow's versions, newest first.
func (c *Client) Versions(ctx context.Context, project, workflow string) ([]Version, error) {
	return all[Version](ctx, c, call{method: http.MethodGet, path: []string{"projects", project, "workflows", workflow, "versions"}}, 0)
}

// Restore saves a version's text as the newest version.
func (c *Client) Restore(ctx context.Context, project, workflow, version, message string, publish bool) (Saved, error) {
	var out Saved
	_, err := c.do(ctx, call{
		method: http.MethodPost, path: []string{"projects", project, "workflows", workflow, "versions", version, "restore"},
		query: url.Values{"publish": {strconv.FormatBool(publish)}}, body: map[string]string{"message": message},
	}, &out)
	return out, err
}

// Diff says what differs between two versions; each may be "draft".
func (c *Client) Diff(ctx context.Context, project, workflow, from, to string) (Diff, error) {
	var out Diff
	_, err := c.do(ctx, call{method: http.MethodGet, path: []string{"projects", project, "workflows", workflow, "versions", from, "diff", to}}, &out)
	return out, err
}

// StartWorkflow starts a workflow and returns the instance's id.
func (c *Client) StartWorkflow(ctx context.Context, project, workflow string, s Start) (string, error) {
	in := call{method: http.MethodPost, path: []string{"projects", project, "workflows", workflow, "start"}, body: s}
	if s.IdempotencyKey != "" {
		in.header = http.Header{"Idempotency-Key": {s.IdempotencyKey}}
	}
	var out struct {
		InstanceID string `json:"instance_id"`
	}
	_, err := c.do(ctx, in, &out)
	return out.InstanceID, err
}

// Filter chooses instances; a zero field is no condition.
type Filter struct {
	Project, Workflow string
	States            []string
	Parent            string // the children of this instance; no other condition counts then
	Limit             int    // 0: all of them
}

// Instances lists instances, newest first.
func (c *Client) Instances(ctx context.Context, f Filter) ([]Instance, error) {
	q := url.Values{}
	for key, value := range map[string]string{"project": f.Project, "workflow": f.Workflow, "state": strings.Join(f.States, ",")} {
		if value != "" {
			q.Set(key, value)
		}
	}
	path := []string{"instances"}
	if f.Parent != "" {
		path, q = []string{"instances", f.Parent, "children"}, nil
	}
	return all[Instance](ctx, c, call{method: http.MethodGet, path: path, query: q}, f.Limit)
}

// Instance reads one instance.
func (c *Client) Instance(ctx context.Context, id string) (Instance, error) {
	var in Instance
	_, err := c.do(ctx, call{method: http.MethodGet, path: []string{"instances", id}}, &in)
	return in, err
}

// Tasks lists an instance's tasks in the order of its definition.
func (c *Client) Tasks(ctx context.Context, id string) ([]Task, error) {
	return all[Task](ctx, c, call{method: http.MethodGet, path: []string{"instances", id, "tasks"}}, 0)
}

// Attempts lists a task's attempts, newest first; their number is bounded by the task's
// retries, so the list has no pages.
func (c *Client) Attempts(ctx context.Context, id, task string) ([]Attempt, error) {
	var page list[Attempt]
	_, err := c.do(ctx, call{method: http.MethodGet, path: []string{"instances", id, "tasks", task, "attempts"}}, &page)
	return page.Items, err
}

// Events lists an instance's history after the given number.
func (c *Client) Events(ctx context.Context, id string, after int64) ([]Event, error) {
	q := url.Values{}
	if after > 0 {
		q.Set("cursor", strconv.FormatInt(after, 10))
	}
	return all[Event](ctx, c, call{method: http.MethodGet, path: []string{"instances", id, "events"}, query: q}, 0)
}

// Explain says why an instance, or with a name one of its tasks, is as it is.
func (c *Client) Explain(ctx context.Context, id, task string) (Explanation, error) {
	in := call{method: http.MethodGet, path: []string{"instances", id, "explain"}}
	if task != "" {
		in.query = url.Values{"task": {task}}
	}
	var e Explanation
	_, err := c.do(ctx, in, &e)
	return e, err
}

// Control asks for pause, resume, stop, recover or rerun of an instance; options go
// with the verb as its body, nil is none.
func (c *Client) Control(ctx context.Context, id, verb string, options any) (Instance, error) {
	var in Instance
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"instances", id, verb}, body: options}, &in)
	return in, err
}

// Acknowledge says that the failure of an instance, as it is now, is seen.
func (c *Client) Acknowledge(ctx context.Context, id, note string) (Instance, error) {
	in, err := c.Instance(ctx, id)
	if err != nil {
		return in, err
	}
	body := map[string]any{"round": in.Round, "note": note}
	_, err = c.do(ctx, call{method: http.MethodPut, path: []string{"instances", id, "acknowledgement"}, body: body}, &in)
	return in, err
}

// Unacknowledge takes that back.
func (c *Client) Unacknowledge(ctx context.Context, id string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: []string{"instances", id, "acknowledgement"}}, nil)
	return err
}

// ControlTask asks for kill, skip or rerun of one task.
func (c *Client) ControlTask(ctx context.Context, id, task, verb string) (Instance, error) {
	var in Instance
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"instances", id, "tasks", task, verb}}, &in)
	return in, err
}

// Masters lists the masters that are alive.
func (c *Client) Masters(ctx context.Context) ([]Node, error) { return c.nodes(ctx, "masters") }

// Workers lists the workers that are alive.
func (c *Client) Workers(ctx context.Context) ([]Node, error) { return c.nodes(ctx, "workers") }

// Worker shows how a worker is doing.
func (c *Client) Worker(ctx context.Context, name string) (WorkerDetail, error) {
	var out WorkerDetail
	_, err := c.do(ctx, call{method: http.MethodGet, path: []string{"cluster", "workers", name}}, &out)
	return out, err
}

// DrainWorker lets a worker take no more work.
func (c *Client) DrainWorker(ctx context.Context, name string, wish Drain) (WorkerDetail, error) {
	var out WorkerDetail
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"cluster", "workers", name, "drain"}, body: wish}, &out)
	return out, err
}

// ResumeWorker lets it take work again.
func (c *Client) ResumeWorker(ctx context.Context, name string) (WorkerDetail, error) {
	var out WorkerDetail
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"cluster", "workers", name, "resume"}}, &out)
	return out, err
}

// Failovers lists takeovers, the newest first: of kind master or worker, or both where it is
// empty, and no more than limit unless that is 0.
func (c *Client) Failovers(ctx context.Context, kind string, limit int) ([]Failover, error) {
	q := url.Values{}
	if kind != "" {
		q.Set("kind", kind)
	}
	return all[Failover](ctx, c, call{method: http.MethodGet, path: []string{"cluster", "failovers"}, query: q}, limit)
}

// Supervisor says which master looks for what is stuck.
func (c *Client) Supervisor(ctx context.Context) (Supervisor, error) {
	var out Supervisor
	_, err := c.do(ctx, call{method: http.MethodGet, path: []string{"cluster", "supervisor"}}, &out)
	return out, err
}

// Recoveries lists what got stuck, the newest first: in one state unless that is empty, and no more than
// limit unless that is 0.
func (c *Client) Recoveries(ctx context.Context, state string, limit int) ([]Recovery, error) {
	q := url.Values{}
	if state != "" {
		q.Set("state", state)
	}
	return all[Recovery](ctx, c, call{method: http.MethodGet, path: []string{"cluster", "recoveries"}, query: q}, limit)
}

// Held says whether the cluster is held.
func (c *Client) Held(ctx context.Context) (Hold, error) {
	var out Hold
	_, err := c.do(ctx, call{method: http.MethodGet, path: []string{"cluster", "hold"}}, &out)
	return out, err
}

// Hold holds the cluster; where it is held already, the hold that is in force is returned.
func (c *Client) Hold(ctx context.Context, reason string) (Hold, error) {
	var out Hold
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"cluster", "hold"}, body: map[string]string{"reason": reason}}, &out)
	return out, err
}

// Release ends the hold.
func (c *Client) Release(ctx context.Context) (Released, error) {
	var out Released
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"cluster", "release"}}, &out)
	return out, err
}

// Slots tells which master owns which command slots, and the last rebalances.
func (c *Client) Slots(ctx context.Context) (Slots, error) {
	var out Slots
	_, err := c.do(ctx, call{method: http.MethodGet, path: []string{"cluster", "slots"}}, &out)
	return out, err
}

// nodes reads a list that has no pages: it comes from the server's memory.
func (c *Client) nodes(ctx context.Context, kind string) ([]Node, error) {
	var page list[Node]
	_, err := c.do(ctx, call{method: http.MethodGet, path: []string{"cluster", kind}}, &page)
	return page.Items, err
}

// Tokens lists the caller's own tokens.
func (c *Client) Tokens(ctx context.Context) ([]Token, error) {
	return all[Token](ctx, c, call{method: http.MethodGet, path: []string{"tokens"}}, 0)
}

// CreateToken makes a token; its secret is in this answer only.
func (c *Client) CreateToken(ctx context.Context, t NewToken) (Token, error) {
	var out Token
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"tokens"}, body: t}, &out)
	return out, err
}

// RevokeToken ends one of the caller's tokens.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: []string{"tokens", id}}, nil)
	return err
}

// CreateJoinToken makes a token by which a new node gets its certificate.
func (c *Client) CreateJoinToken(ctx context.Context, t NewJoinToken) (JoinToken, error) {
	var out JoinToken
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"cluster", "join-tokens"}, body: t}, &out)
	return out, err
}

// Ready asks whether the server serves.
func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return errors.Join(ErrUnreachable, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return readProblem(resp)
	}
	return nil
}
