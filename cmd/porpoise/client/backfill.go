package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/porpoise/porpoise/dag/backfill"
)

// BackfillRequest says what a backfill is to be; the server fills what is left out.
type BackfillRequest struct {
	From        string            `json:"from,omitempty"`
	To          string            `json:"to,omitempty"`
	Every       string            `json:"every,omitempty"`
	Dates       []string          `json:"dates,omitempty"`
	Timezone    string            `json:"timezone,omitempty"`
	Order       string            `json:"order,omitempty"`
	Only        string            `json:"only,omitempty"`
	Downstream  bool              `json:"downstream,omitempty"`
	Parallel    int               `json:"parallel,omitempty"`
	OnFailure   string            `json:"on_failure,omitempty"`
	Params      map[string]string `json:"params,omitempty"`
	Version     int               `json:"version,omitempty"`
	DryRun      bool              `json:"dry_run,omitempty"`
	WorkerGroup string            `json:"worker_group,omitempty"`
	Priority    string            `json:"priority,omitempty"`
	Preview     string            `json:"preview,omitempty"` // the token of a preview
}

// BackfillPlan says what a backfill runs.
type BackfillPlan struct {
	ID    string         `json:"backfill_id"` // "" of a preview
	Token string         `json:"token"`
	Count int            `json:"count"`
	Parts []BackfillPart `json:"parts"`
	// LeftOut are workflows downstream that are not run.
	LeftOut []LeftOutWorkflow `json:"left_out"`
}

// LeftOutWorkflow is a workflow downstream that is not run: not_allowed or params.
type LeftOutWorkflow struct {
	Project  string `json:"project"`
	Workflow string `json:"workflow"`
	Why      string `json:"why"`
}

// BackfillPart is one workflow of a plan.
type BackfillPart struct {
	Project  string        `json:"project"`
	Workflow string        `json:"workflow"`
	Version  int           `json:"version"`
	Dates    []Time        `json:"dates"`
	LeftOut  []LeftOutDate `json:"left_out"`
}

// LeftOutDate is a date that is not run.
type LeftOutDate struct {
	ScheduleTime Time   `json:"schedule_time"`
	Had          string `json:"had"`
	InstanceID   string `json:"instance_id,omitempty"`
}

// Backfill is a backfill as it stands.
type Backfill struct {
	ID          string           `json:"id"`
	Project     string           `json:"project"`
	Workflow    string           `json:"workflow"`
	State       backfill.State   `json:"state"`
	Active      bool             `json:"active"`
	From        string           `json:"from,omitempty"`
	To          string           `json:"to,omitempty"`
	Every       string           `json:"every,omitempty"`
	Timezone    string           `json:"timezone,omitempty"`
	Order       string           `json:"order"`
	Only        string           `json:"only"`
	Parallel    int              `json:"parallel"`
	OnFailure   string           `json:"on_failure"`
	DryRun      bool             `json:"dry_run"`
	WorkerGroup string           `json:"worker_group"`
	Priority    string           `json:"priority"`
	Progress    BackfillProgress `json:"progress"`
	CreatedBy   string           `json:"created_by"`
	CreatedAt   Time             `json:"created_at"`
	ChangedBy   string           `json:"changed_by,omitempty"`
	FinishedAt  Time             `json:"finished_at"`
}

// BackfillProgress counts the dates of a backfill.
type BackfillProgress struct {
	Total     int  `json:"total"`
	Done      int  `json:"done"`
	Success   int  `json:"success"`
	Failed    int  `json:"failed"`
	Running   int  `json:"running"`
	Waiting   int  `json:"waiting"`
	Cancelled int  `json:"cancelled"`
	ETA       Time `json:"eta,omitzero"`
}

// BackfillDate is one date of a backfill.
type BackfillDate struct {
	Project       string             `json:"project"`
	Workflow      string             `json:"workflow"`
	ScheduleTime  Time               `json:"schedule_time"`
	State         backfill.DateState `json:"state"`
	InstanceID    string             `json:"instance_id,omitempty"`
	InstanceState string             `json:"instance_state,omitempty"`
}

func backfillPath(project, workflow string, more ...string) []string {
	return append([]string{"projects", project, "workflows", workflow, "backfills"}, more...)
}

// CreateBackfill runs a workflow for many dates; with preview it only says which.
func (c *Client) CreateBackfill(ctx context.Context, project, workflow string, r BackfillRequest, preview bool) (BackfillPlan, error) {
	in := call{method: http.MethodPost, path: backfillPath(project, workflow), body: r}
	if preview {
		in.query = url.Values{"preview": {"true"}}
	}
	var out BackfillPlan
	_, err := c.do(ctx, in, &out)
	return out, err
}

// Backfills lists a workflow's backfills, the newest first, no more than limit unless that is 0.
func (c *Client) Backfills(ctx context.Context, project, workflow string, limit int) ([]Backfill, error) {
	return all[Backfill](ctx, c, call{method: http.MethodGet, path: backfillPath(project, workflow)}, limit)
}

// Backfill reads one backfill.
func (c *Client) Backfill(ctx context.Context, project, workflow, id string) (Backfill, error) {
	var out Backfill
	_, err := c.do(ctx, call{method: http.MethodGet, path: backfillPath(project, workflow, id)}, &out)
	return out, err
}

// BackfillDates lists the dates of a backfill, with a state those in it alone.
func (c *Client) BackfillDates(ctx context.Context, project, workflow, id, state string) ([]BackfillDate, error) {
	q := url.Values{}
	if state != "" {
		q.Set("state", state)
	}
	return all[BackfillDate](ctx, c, call{method: http.MethodGet, path: backfillPath(project, workflow, id, "dates"), query: q}, 0)
}

// ChangeBackfill asks for pause, resume, cancel or parallel; options go with the verb as its body, nil is none.
func (c *Client) ChangeBackfill(ctx context.Context, project, workflow, id, verb string, options any) (Backfill, error) {
	var out Backfill
	_, err := c.do(ctx, call{method: http.MethodPost, path: backfillPath(project, workflow, id, verb), body: options}, &out)
	return out, err
}
