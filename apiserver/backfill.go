package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/backfill"
	"github.com/porpoise/porpoise/sql"
)

// Backfill is a backfill as the API shows it.
type Backfill struct {
	ID       ID     `json:"id"`
	Project  string `json:"project"`
	Workflow string `json:"workflow"`
	State    string `json:"state" enum:"running,paused,success,failed,cancelled"`
	Active   bool   `json:"active" doc:"Something of it runs, or will."`
	BackfillRange
	Parallel    int      `json:"parallel"`
	OnFailure   string   `json:"on_failure"`
	DryRun      bool     `json:"dry_run"`
	WorkerGroup string   `json:"worker_group"`
	Priority    string   `json:"priority"`
	Progress    Progress `json:"progress"`
	CreatedBy   string   `json:"created_by"`
	CreatedAt   Time     `json:"created_at"`
	ChangedBy   string   `json:"changed_by,omitempty" doc:"Who paused, resumed, cancelled or changed it last."`
	FinishedAt  Time     `json:"finished_at"`
}

// BackfillRange says how the dates of a backfill were asked for.
type BackfillRange struct {
	From     string `json:"from,omitempty" maxLength:"64" doc:"The first moment, itself included: a date, a date with a time on the timezone's calendar, or RFC 3339."`
	To       string `json:"to,omitempty" maxLength:"64" doc:"The last moment, itself included. A date alone is the whole day."`
	Every    string `json:"every,omitempty" enum:"1d,1h" doc:"The beginnings of the days or hours between them; absent is 1d."`
	Cron     string `json:"cron,omitempty" maxLength:"1024" doc:"The moments at which this expression fires between them, instead of every."`
	Timezone string `json:"timezone,omitempty" maxLength:"64" doc:"Whose calendar all of this is on, as an IANA name; absent is UTC."`
	Order    string `json:"order,omitempty" enum:"oldest,newest" doc:"Which dates start first; absent is oldest."`
	Only     string `json:"only,omitempty" enum:"all,missing,failed,missing_or_failed" doc:"Which dates are taken, by the runs that there are of them; absent is all."`
}

// Progress counts the dates of a backfill.
type Progress struct {
	Total     int  `json:"total"`
	Done      int  `json:"done" doc:"Dates whose instance has ended."`
	Success   int  `json:"success"`
	Failed    int  `json:"failed"`
	Running   int  `json:"running" doc:"Dates whose instance has begun and not ended."`
	Waiting   int  `json:"waiting"`
	Cancelled int  `json:"cancelled" doc:"Dates that never will have an instance."`
	ETA       Time `json:"eta,omitempty" doc:"When it is over if it goes on as so far; absent where that can't be said."`
}

// BackfillDate is one date of a backfill.
type BackfillDate struct {
	Project       string `json:"project"`
	Workflow      string `json:"workflow"`
	ScheduleTime  Time   `json:"schedule_time"`
	State         string `json:"state" enum:"waiting,running,stopping,success,failed,cancelled"`
	InstanceID    ID     `json:"instance_id,omitempty" doc:"Absent until it starts."`
	InstanceState string `json:"instance_state,omitempty"`
	Round         int    `json:"round,omitempty" doc:"Of the instance, as its commands name it."`
}

// BackfillPath names a backfill in a path.
type BackfillPath struct {
	WorkflowPath
	Backfill string `path:"backfill" maxLength:"512" doc:"The backfill's id."`
}

type createBackfill struct {
	WorkflowPath
	Preview bool `query:"preview" doc:"true works everything out, and starts nothing: the answer is 200 with the plan and its token."`
	Body    BackfillOptions
}

type createdBackfill struct {
	Status   int
	Location string `header:"Location" doc:"The backfill; absent in a preview."`
	Body     BackfillCreated
}

// BackfillCreated is a backfill and its plan.
type BackfillCreated struct {
	BackfillID StartedID `json:"backfill_id" doc:"Empty in a preview."`
	BackfillPlan
}

type listBackfills struct {
	WorkflowPath
	Paged
}

type listProjectBackfills struct {
	ProjectPath
	Paged
}

type backfillList struct{ Body List[Backfill] }

type backfillAnswer struct {
	Status int
	Body   Backfill
}

type listBackfillDates struct {
	BackfillPath
	Paged
	State string `query:"state" enum:"waiting,running,stopping,success,failed,cancelled" doc:"Only the dates in this state."`
}

type backfillDateList struct{ Body List[BackfillDate] }

type cancelBackfill struct {
	BackfillPath
	Body *struct {
		Running string `json:"running,omitempty" enum:"leave,stop" doc:"What becomes of the instances that run; absent is leave."`
	}
}

type widenBackfill struct {
	BackfillPath
	Body struct {
		Parallel int `json:"parallel" minimum:"1" maximum:"100" doc:"How many dates run at once from now on. Fewer stops none that runs."`
	}
}

func (s *Server) backfillRoutes() {
	const all = "/projects/{project}/workflows/{workflow}/backfills"
	const one = all + "/{backfill}"
	see, operate := access{need: roleViewer, object: ofWorkflow}, access{need: roleOperator, object: ofWorkflow}
	verb := func(name, summary string) spec {
		return spec{id: name + "-backfill", method: "POST", path: one + "/" + name, tag: "backfills", summary: summary, status: 202, body: jsonBody, optional: true, access: operate}
	}
	add(s, spec{
		id: "create-backfill", method: "POST", path: all, tag: "backfills", summary: "Run a workflow for many dates, or preview that", status: 202, body: jsonBody, access: operate,
	}, s.createBackfill)
	add(s, spec{id: "list-backfills", method: "GET", path: all, tag: "backfills", summary: "List a workflow's backfills, the newest first", access: see}, s.listBackfills)
	add(s, spec{
		id: "list-project-backfills", method: "GET", path: "/projects/{project}/backfills", tag: "backfills", summary: "List the backfills of all workflows of a project, the newest first",
		access: access{need: roleViewer, object: ofProject},
	}, s.listProjectBackfills)
	add(s, spec{id: "get-backfill", method: "GET", path: one, tag: "backfills", summary: "Show a backfill and its progress", access: see}, s.getBackfill)
	add(s, spec{id: "list-backfill-dates", method: "GET", path: one + "/dates", tag: "backfills", summary: "List the dates of a backfill in the order in which they start", access: see}, s.listBackfillDates)
	add(s, verb("pause", "Start no more dates; what runs goes on"), s.changeState(backfill.Paused))
	add(s, verb("resume", "Go on after a pause"), s.changeState(backfill.Running))
	add(s, verb("cancel", "Start no more dates, ever"), s.cancelBackfill)
	widen := verb("parallel", "Change how many dates run at once")
	widen.optional = false
	add(s, widen, s.widenBackfill)
}

func (s *Server) createBackfill(ctx context.Context, in *createBackfill) (*createdBackfill, error) {
	c := callOf(ctx)
	plan, err := s.planBackfill(ctx, c.workflow, in.Body)
	if err != nil {
		return nil, err
	}
	if in.Preview {
		return &createdBackfill{Status: http.StatusOK, Body: BackfillCreated{BackfillPlan: plan.face}}, nil
	}
	switch {
	case plan.face.Count == 0:
		return nil, wrongField(http.StatusUnprocessableEntity, "from", "no_dates", "", "there is no date to run")
	case in.Body.Preview == "":
		return nil, wrongField(http.StatusUnprocessableEntity, "preview", "required", "", "ask with ?preview=true what would run, and send the token of the answer as preview")
	case in.Body.Preview != plan.face.Token:
		return nil, planChanged()
	}
	made, err := s.store.CreateBackfill(ctx, plan.row, plan.parts, plan.dates, plan.newest)
	if errors.Is(err, sql.ErrExists) {
		return nil, planChanged()
	}
	if err != nil {
		return nil, fmt.Errorf("create backfill: %w", err)
	}
	return &createdBackfill{
		Status: http.StatusAccepted, Body: BackfillCreated{BackfillID: StartedID(made.ID), BackfillPlan: plan.face},
		Location: fmt.Sprintf("%s/api/v1/projects/%s/workflows/%s/backfills/%d", s.cfg.BasePath, url.PathEscape(made.Project), url.PathEscape(made.Workflow), made.ID),
	}, nil
}

func planChanged() *Problem {
	return wrongField(http.StatusConflict, "preview", "stale", "", "by now it would run something else: ask for a preview again")
}

func backfillFace(b sql.Backfill, now dag.Millis) Backfill {
	out := Backfill{
		ID: ID(b.ID), Project: b.Project, Workflow: b.Workflow, State: string(b.State), Active: b.Active, Parallel: b.Parallel, OnFailure: string(b.OnFailure),
		DryRun: b.DryRun, WorkerGroup: b.WorkerGroup, Priority: priorityName(b.Priority), CreatedBy: b.CreatedBy, CreatedAt: Time(b.CreatedAt),
		ChangedBy: b.ChangedBy, FinishedAt: Time(b.FinishedAt),
	}
	_ = json.Unmarshal([]byte(b.Asked), &out.BackfillRange) // it is for people: what cannot be read is not shown
	d := b.Dates
	p := Progress{
		Total: d.Total(), Success: d[backfill.DateSuccess], Failed: d[backfill.DateFailed], Running: d.Live(), Waiting: d[backfill.DateWaiting],
		Cancelled: d[backfill.DateCancelled],
	}
	p.Done = p.Success + p.Failed
	if b.State == backfill.Running {
		if left, ok := backfill.Left(now.Sub(b.CreatedAt), p.Done, p.Running+p.Waiting); ok {
			p.ETA = Time(now.Add(left))
		}
	}
	out.Progress = p
	return out
}

func (s *Server) listBackfills(ctx context.Context, in *listBackfills) (*backfillList, error) {
	rows, next, err := s.store.Backfills(ctx, callOf(ctx).workflow.ID, in.page())
	if err != nil {
		return nil, fmt.Errorf("list backfills: %w", err)
	}
	return &backfillList{Body: list(rows, next, func(b sql.Backfill) Backfill { return backfillFace(b, s.at()) })}, nil
}

func (s *Server) listProjectBackfills(ctx context.Context, in *listProjectBackfills) (*backfillList, error) {
	rows, next, err := s.store.ProjectBackfills(ctx, callOf(ctx).project.ID, in.page())
	if err != nil {
		return nil, fmt.Errorf("list backfills: %w", err)
	}
	return &backfillList{Body: list(rows, next, func(b sql.Backfill) Backfill { return backfillFace(b, s.at()) })}, nil
}

// backfillOf reads the backfill that a path names; one of another workflow is not there.
func (s *Server) backfillOf(ctx context.Context, text string) (sql.Backfill, error) {
	id, ok := parseID(text)
	if !ok {
		return sql.Backfill{}, badID("backfill", text)
	}
	b, err := s.store.Backfill(ctx, id)
	if err == nil && b.WorkflowID != callOf(ctx).workflow.ID {
		err = sql.ErrNotFound
	}
	if err != nil {
		return sql.Backfill{}, fmt.Errorf("read backfill: %w", err)
	}
	return b, nil
}

func (s *Server) getBackfill(ctx context.Context, in *BackfillPath) (*backfillAnswer, error) {
	b, err := s.backfillOf(ctx, in.Backfill)
	if err != nil {
		return nil, err
	}
	return &backfillAnswer{Status: http.StatusOK, Body: backfillFace(b, s.at())}, nil
}

func (s *Server) listBackfillDates(ctx context.Context, in *listBackfillDates) (*backfillDateList, error) {
	b, err := s.backfillOf(ctx, in.Backfill)
	if err != nil {
		return nil, err
	}
	rows, next, err := s.store.BackfillDates(ctx, b.ID, backfill.DateState(in.State), in.page())
	if err != nil {
		return nil, fmt.Errorf("list dates of backfill: %w", err)
	}
	return &backfillDateList{Body: list(rows, next, func(d sql.BackfillDate) BackfillDate {
		return BackfillDate{
			Project: d.Project, Workflow: d.Workflow, ScheduleTime: Time(d.ScheduleTime), State: string(d.State), InstanceID: ID(d.Instance),
			InstanceState: string(d.InstanceIs), Round: d.Round,
		}
	})}, nil
}

// changeState pauses or resumes.
func (s *Server) changeState(to backfill.State) func(ctx context.Context, in *BackfillPath) (*backfillAnswer, error) {
	return func(ctx context.Context, in *BackfillPath) (*backfillAnswer, error) {
		return s.changeBackfill(ctx, in.Backfill, sql.BackfillChange{State: to})
	}
}

func (s *Server) cancelBackfill(ctx context.Context, in *cancelBackfill) (*backfillAnswer, error) {
	stop := in.Body != nil && in.Body.Running == "stop"
	return s.changeBackfill(ctx, in.Backfill, sql.BackfillChange{State: backfill.Cancelled, StopRunning: stop})
}

func (s *Server) widenBackfill(ctx context.Context, in *widenBackfill) (*backfillAnswer, error) {
	return s.changeBackfill(ctx, in.Backfill, sql.BackfillChange{Parallel: in.Body.Parallel})
}

// changeBackfill writes a wish about a backfill: 200 where it is so already.
func (s *Server) changeBackfill(ctx context.Context, id string, change sql.BackfillChange) (*backfillAnswer, error) {
	b, err := s.backfillOf(ctx, id)
	if err != nil {
		return nil, err
	}
	change.By = callOf(ctx).who.name
	b, changed, err := s.store.ChangeBackfill(ctx, b.ID, change)
	if errors.Is(err, sql.ErrStale) {
		return nil, wrongField(http.StatusConflict, "backfill", "not_possible", strconv.FormatInt(b.ID, 10), "the backfill is over")
	}
	if err != nil {
		return nil, fmt.Errorf("change backfill: %w", err)
	}
	status := http.StatusOK
	if changed {
		status = http.StatusAccepted
	}
	return &backfillAnswer{Status: status, Body: backfillFace(b, s.at())}, nil
}
