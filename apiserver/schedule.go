package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// ScheduleStore keeps schedules, their fires and calendars.
type ScheduleStore interface {
	SchedulesAfter(ctx context.Context, limit int) ([]sql.AfterEdge, error)
	SaveSchedule(ctx context.Context, sch sql.Schedule, match int64) (saved sql.Schedule, created bool, err error)
	SaveSchedules(ctx context.Context, list []sql.Schedule) (made, bad int, err error)
	Schedule(ctx context.Context, workflowID int64, name string) (sql.Schedule, error)
	ScheduleByID(ctx context.Context, id int64) (sql.Schedule, error)
	Schedules(ctx context.Context, f sql.ScheduleFilter, page sql.Page) ([]sql.Schedule, string, error)
	SampleSchedules(ctx context.Context, projects []int64, limit int) (list []sql.Schedule, total int64, err error)
	EnableSchedules(ctx context.Context, ids []int64, enabled bool, why, by string) (changed int, err error)
	DeleteSchedule(ctx context.Context, id int64) error
	Took(ctx context.Context, workflowID int64) ([]time.Duration, error)
	StartedBy(ctx context.Context, workflows []int64) (before []int64, err error)
	CallOf(ctx context.Context, scheduleID int64, call string) (sql.Fire, error)
	CallSchedule(ctx context.Context, sch sql.Schedule, call sql.Call, by string) (sql.Called, error)
	TriggerSchedule(ctx context.Context, id int64, by string) (instance int64, err error)
	RunFires(ctx context.Context, scheduleID int64, at []dag.Millis, by string) (fires []sql.Fire, started []int64, err error)
	Fires(ctx context.Context, scheduleID int64, from, to dag.Millis, state schedule.State, page sql.Page) ([]sql.Fire, string, error)
	LastFires(ctx context.Context, schedules []int64, until dag.Millis) (map[int64]sql.Fire, error)
	CountFires(ctx context.Context, scheduleID int64, stretches []sql.FireStretch) ([]sql.FireCount, error)
	SumFires(ctx context.Context, scheduleID int64, from, to dag.Millis) (sql.FireSums, error)
	SaveCalendar(ctx context.Context, c sql.Calendar) (saved sql.Calendar, created bool, err error)
	Calendar(ctx context.Context, projectID int64, name string) (sql.Calendar, error)
	Calendars(ctx context.Context, projectID int64) ([]sql.Calendar, error)
	ScheduleCalendars(ctx context.Context, projectID int64) (map[string]schedule.Calendar, error)
	DeleteCalendar(ctx context.Context, projectID int64, name string) error
}

// Schedule starts instances of a workflow at the moments that it says.
type Schedule struct {
	ID       ID     `json:"id"`
	Project  string `json:"project"`
	Workflow string `json:"workflow"`
	Name     string `json:"name"`
	ScheduleRules
	ScheduleCron
	Enabled   bool   `json:"enabled"`
	Why       string `json:"why,omitempty" doc:"Where it is not enabled: why it was paused."`
	Revision  int64  `json:"revision" doc:"Rises with each change of what it does."`
	NextAt    Time   `json:"next_at" doc:"The next moment that it fires at; absent where it is paused or never fires again."`
	Last      *Fire  `json:"last,omitempty" doc:"The latest fire that came to an outcome, where the ledger has its row yet; not in the answer to a change."`
	CreatedBy string `json:"created_by"`
	CreatedAt Time   `json:"created_at"`
	ChangedBy string `json:"changed_by" doc:"Who changed, paused or resumed it last."`
	ChangedAt Time   `json:"changed_at"`
}

// ScheduleDetail is a schedule and its next fires.
type ScheduleDetail struct {
	Schedule
	Usual
	Next []PlannedFire `json:"next" nullable:"false" doc:"The next fires by its rules, also while it is paused; those that a calendar leaves out are among them, at most 20 in a row."`
}

// SchedulePath names a schedule of a workflow in a path.
type SchedulePath struct {
	WorkflowPath
	Schedule string `path:"schedule" maxLength:"512" doc:"The schedule's name."`
}

type putSchedule struct {
	SchedulePath
	IfMatch string `header:"If-Match" doc:"The revision as ETag gave it; * overwrites whatever there is. Without it a schedule is created."`
	Body    struct {
		ScheduleRules
		Enabled *bool `json:"enabled,omitempty" doc:"Absent leaves it as it is; a new one is enabled."`
	}
}

type getSchedule struct {
	SchedulePath
	N int `query:"n" default:"5" minimum:"0" maximum:"100" doc:"How many of the next fires."`
}

type pauseSchedule struct {
	SchedulePath
	Body *struct {
		Reason string `json:"reason,omitempty" maxLength:"500" doc:"Why, for those who find it paused."`
	}
}

type listWorkflowSchedules struct {
	WorkflowPath
	Paged
}

type listSchedules struct {
	Paged
	Project  string `query:"project" maxLength:"512"`
	Workflow string `query:"workflow" maxLength:"512" doc:"Of the project; needs project."`
	Enabled  string `query:"enabled" enum:"true,false"`
	Text     string `query:"q" maxLength:"512" doc:"In the schedule's name."`
}

type scheduleList struct{ Body List[Schedule] }

type scheduleAnswer struct {
	Status int
	ETag   string `header:"ETag" doc:"The revision, for If-Match."`
	Body   Schedule
}

type scheduleDetailAnswer struct {
	ETag string `header:"ETag" doc:"The revision, for If-Match."`
	Body ScheduleDetail
}

type triggeredAnswer struct {
	Location string `header:"Location" doc:"The instance."`
	Body     struct {
		InstanceID ID `json:"instance_id"`
	}
}

func (s *Server) scheduleRoutes() {
	const all = "/projects/{project}/workflows/{workflow}/schedules"
	const one = all + "/{schedule}"
	may := func(need role) access { return access{need: need, object: ofWorkflow} }
	add(s, spec{id: "find-schedules", method: "GET", path: "/schedules", tag: "schedules", summary: "List the schedules that the caller may see", access: access{object: perItem}}, s.findSchedules)
	add(s, spec{id: "list-schedules", method: "GET", path: all, tag: "schedules", summary: "List a workflow's schedules", access: may(roleViewer)}, s.listSchedules)
	add(s, spec{id: "get-schedule", method: "GET", path: one, tag: "schedules", summary: "Show a schedule and when it fires next", access: may(roleViewer)}, s.getSchedule)
	add(s, spec{id: "put-schedule", method: "PUT", path: one, tag: "schedules", summary: "Make a schedule, or change it from its next fire on", body: jsonBody, access: may(roleEditor)}, s.putSchedule)
	add(s, spec{id: "delete-schedule", method: "DELETE", path: one, tag: "schedules", summary: "Delete a schedule; its instances stay", access: may(roleEditor)}, s.deleteSchedule)
	add(s, spec{
		id: "pause-schedule", method: "POST", path: one + "/pause", tag: "schedules", summary: "Fire no more until it is resumed", status: 200,
		body: jsonBody, optional: true, access: may(roleOperator),
	}, s.pauseSchedule)
	add(s, spec{id: "resume-schedule", method: "POST", path: one + "/resume", tag: "schedules", summary: "Fire again, from now on", status: 200, access: may(roleOperator)}, s.resumeSchedule)
	add(s, spec{id: "trigger-schedule", method: "POST", path: one + "/trigger", tag: "schedules", summary: "Start an instance now, as a fire would", status: 202, access: may(roleOperator)}, s.triggerSchedule)
	s.webhookRoutes()
	s.heatRoutes()
	s.scheduleBulkRoutes()
	s.fireRoutes()
}

func (s *Server) scheduleFace(sch sql.Schedule, calendars map[string]schedule.Calendar) Schedule {
	out := Schedule{
		ID: ID(sch.ID), Project: sch.Project, Workflow: sch.Workflow, Name: sch.Name, ScheduleRules: rulesFace(sch.Spec), ScheduleCron: cronOf(sch.Spec), Enabled: sch.Enabled, Why: sch.Why,
		Revision: sch.Revision, CreatedBy: sch.CreatedBy, CreatedAt: Time(sch.CreatedAt), ChangedBy: sch.ChangedBy, ChangedAt: Time(sch.ChangedAt),
	}
	if plan, wrong := sch.Spec.Compile(sch.ID, calendars, 0); sch.Enabled && len(wrong) == 0 {
		if next, ok := plan.NextOn(s.at()); ok {
			out.NextAt = Time(next.At)
		}
	}
	return out
}

// faces are schedules with their last and next fires, for which the calendars of each project are read once.
func (s *Server) faces(ctx context.Context, rows []sql.Schedule) ([]Schedule, error) {
	last, err := s.lastFires(ctx, rows)
	if err != nil {
		return nil, err
	}
	known := map[int64]map[string]schedule.Calendar{}
	out := make([]Schedule, len(rows))
	for i, sch := range rows {
		if known[sch.ProjectID] == nil && len(sch.Spec.CalendarNames()) > 0 {
			calendars, err := s.store.ScheduleCalendars(ctx, sch.ProjectID)
			if err != nil {
				return nil, err
			}
			known[sch.ProjectID] = calendars
		}
		out[i] = s.scheduleFace(sch, known[sch.ProjectID])
		out[i].Last = last[sch.ID]
	}
	return out, nil
}

func (s *Server) listSchedules(ctx context.Context, in *listWorkflowSchedules) (*scheduleList, error) {
	rows, next, err := s.store.Schedules(ctx, sql.ScheduleFilter{WorkflowID: callOf(ctx).workflow.ID}, in.page())
	if err != nil {
		return nil, fmt.Errorf("list schedules: %w", err)
	}
	items, err := s.faces(ctx, rows)
	return &scheduleList{Body: List[Schedule]{Items: items, NextCursor: next}}, err
}

func (s *Server) findSchedules(ctx context.Context, in *listSchedules) (*scheduleList, error) {
	who := callOf(ctx).who
	if in.Workflow != "" && in.Project == "" {
		return nil, wrongField(http.StatusBadRequest, "workflow", "needs_project", in.Workflow, "a workflow's name is unique in its project only: give project too")
	}
	f := sql.ScheduleFilter{Text: in.Text}
	if in.Enabled != "" {
		enabled := in.Enabled == "true"
		f.Enabled = &enabled
	}
	if in.Project != "" {
		p, err := s.store.Project(ctx, in.Project)
		if err == nil && who.role(p.ID) < roleViewer {
			err = sql.ErrNotFound
		}
		f.ProjectID = p.ID
		if err == nil && in.Workflow != "" {
			var w sql.Workflow
			w, err = s.store.Workflow(ctx, p.ID, in.Workflow)
			f.WorkflowID = w.ID
		}
		if err != nil {
			return nil, fmt.Errorf("find schedules: %w", err)
		}
	}
	rows, next, err := s.store.Schedules(ctx, f, in.page())
	if err != nil {
		return nil, fmt.Errorf("find schedules: %w", err)
	}
	// Without a project a page may hold fewer than its limit: what the caller may not see is not shown.
	mine := rows[:0]
	for _, sch := range rows {
		if who.role(sch.ProjectID) >= roleViewer {
			mine = append(mine, sch)
		}
	}
	items, err := s.faces(ctx, mine)
	return &scheduleList{Body: List[Schedule]{Items: items, NextCursor: next}}, err
}

// scheduleOf reads the schedule that a path names.
func (s *Server) scheduleOf(ctx context.Context, name string) (sql.Schedule, error) {
	sch, err := s.store.Schedule(ctx, callOf(ctx).workflow.ID, name)
	if err != nil {
		return sch, fmt.Errorf("read schedule: %w", err)
	}
	return sch, nil
}

func (s *Server) getSchedule(ctx context.Context, in *getSchedule) (*scheduleDetailAnswer, error) {
	sch, err := s.scheduleOf(ctx, in.Schedule)
	if err != nil {
		return nil, err
	}
	calendars, err := s.store.ScheduleCalendars(ctx, sch.ProjectID)
	if err != nil {
		return nil, err
	}
	last, err := s.lastFires(ctx, []sql.Schedule{sch})
	if err != nil {
		return nil, err
	}
	out := &scheduleDetailAnswer{ETag: etag(int(sch.Revision)), Body: ScheduleDetail{Schedule: s.scheduleFace(sch, calendars), Next: []PlannedFire{}}}
	out.Body.Last = last[sch.ID]
	if out.Body.Usual, err = s.usual(ctx, sch.WorkflowID); err != nil {
		return nil, err
	}
	// One that cannot be read any more has no next fires; explain says why.
	if plan, wrong := sch.Spec.Compile(sch.ID, calendars, 0); len(wrong) == 0 {
		out.Body.Next = plannedFires(plan, s.at(), in.N)
	}
	return out, nil
}

func (s *Server) putSchedule(ctx context.Context, in *putSchedule) (*scheduleAnswer, error) {
	c := callOf(ctx)
	match, p := parseIfMatch(in.IfMatch)
	if p != nil {
		return nil, p
	}
	check, err := s.newScheduleCheck(ctx, c.project.ID)
	if err != nil {
		return nil, err
	}
	wrong := dag.CheckName("schedule", in.Schedule)
	more, err := check.of(ctx, c.workflow, in.Body.ScheduleRules)
	if err != nil {
		return nil, err
	}
	if wrong = append(wrong, more...); len(wrong) == 0 {
		if wrong, err = check.never(ctx, c.workflow, in.Schedule, in.Body.ScheduleRules, in.Body.Enabled); err != nil {
			return nil, err
		}
	}
	if len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	sch, err := check.toSave(ctx, c.workflow, in.Schedule, in.Body.ScheduleRules, in.Body.Enabled)
	if err != nil {
		return nil, err
	}
	revision := int64(0)
	if match != nil {
		revision = int64(*match)
	}
	saved, created, err := s.store.SaveSchedule(ctx, sch, revision)
	if err != nil {
		return nil, s.scheduleNotSaved(ctx, sch, match, err)
	}
	out := &scheduleAnswer{Status: http.StatusOK, ETag: etag(int(saved.Revision)), Body: s.scheduleFace(saved, check.calendars)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

// toSave is the row of a schedule that was checked. Where it is not said whether it is enabled, one that is there stays as it
// is when it is saved: it may be paused until then.
func (c *scheduleCheck) toSave(ctx context.Context, w sql.Workflow, name string, rules ScheduleRules, enabled *bool) (sql.Schedule, error) {
	sch := sql.Schedule{ProjectID: w.ProjectID, WorkflowID: w.ID, Name: name, Spec: rules.spec(), Enabled: true, ChangedBy: callOf(ctx).who.name}
	if rules.After != nil {
		sch.AfterWorkflow = c.found[rules.After.Workflow]
	}
	known, err := c.server.store.Schedule(ctx, w.ID, name)
	switch {
	case errors.Is(err, sql.ErrNotFound):
	case err != nil:
		return sch, fmt.Errorf("read schedule: %w", err)
	case known.Name != name:
		return sch, nameTaken("schedule", name, known.Name)
	case enabled != nil && *enabled == known.Enabled:
		sch.Why = known.Why
	}
	if sch.Stays = enabled == nil; !sch.Stays {
		sch.Enabled = *enabled
	}
	return sch, nil
}

// scheduleNotSaved says what stands in the way of a save: what is there now.
func (s *Server) scheduleNotSaved(ctx context.Context, sch sql.Schedule, match *int, cause error) error {
	switch {
	case errors.Is(cause, sql.ErrFull):
		return wrongField(http.StatusConflict, "schedule", "too_many", sch.Name, "a workflow has at most %d schedules", sql.MaxSchedules)
	case errors.Is(cause, sql.ErrCircle):
		return startsItself(http.StatusConflict, afterFace(sch.Spec.After))
	case !errors.Is(cause, sql.ErrStale) && !errors.Is(cause, sql.ErrExists) && !errors.Is(cause, sql.ErrNotFound):
		return fmt.Errorf("save schedule: %w", cause)
	}
	now, err := s.store.Schedule(ctx, sch.WorkflowID, sch.Name)
	if errors.Is(err, sql.ErrNotFound) {
		return problem(http.StatusPreconditionFailed, "the schedule does not exist: leave If-Match out to create it")
	}
	if err != nil {
		return fmt.Errorf("read schedule: %w", err)
	}
	if match == nil {
		return problem(http.StatusPreconditionRequired, "the schedule exists: send If-Match with the revision that you have read, or * to overwrite").
			with("ETag", etag(int(now.Revision)))
	}
	return wrongField(http.StatusPreconditionFailed, "If-Match", "stale", strconv.Itoa(*match), "it is revision %d by now: read it and change that", now.Revision).
		with("ETag", etag(int(now.Revision)))
}

func (s *Server) deleteSchedule(ctx context.Context, in *SchedulePath) (*struct{}, error) {
	sch, err := s.scheduleOf(ctx, in.Schedule)
	if err != nil {
		return nil, err
	}
	if err := s.store.DeleteSchedule(ctx, sch.ID); err != nil {
		return nil, fmt.Errorf("delete schedule: %w", err)
	}
	return nil, nil
}

func (s *Server) pauseSchedule(ctx context.Context, in *pauseSchedule) (*scheduleAnswer, error) {
	reason := ""
	if in.Body != nil {
		reason = in.Body.Reason
	}
	if p := checkMessage("reason", reason); p != nil {
		return nil, p
	}
	return s.enable(ctx, in.Schedule, false, reason)
}

func (s *Server) resumeSchedule(ctx context.Context, in *SchedulePath) (*scheduleAnswer, error) {
	return s.enable(ctx, in.Schedule, true, "")
}

func (s *Server) enable(ctx context.Context, name string, enabled bool, why string) (*scheduleAnswer, error) {
	sch, err := s.scheduleOf(ctx, name)
	if err != nil {
		return nil, err
	}
	if _, err := s.store.EnableSchedules(ctx, []int64{sch.ID}, enabled, why, callOf(ctx).who.name); err != nil {
		return nil, fmt.Errorf("enable schedule: %w", err)
	}
	if sch, err = s.scheduleOf(ctx, name); err != nil {
		return nil, err
	}
	items, err := s.faces(ctx, []sql.Schedule{sch})
	if err != nil {
		return nil, err
	}
	return &scheduleAnswer{Status: http.StatusOK, ETag: etag(int(sch.Revision)), Body: items[0]}, nil
}

func (s *Server) triggerSchedule(ctx context.Context, in *SchedulePath) (*triggeredAnswer, error) {
	c := callOf(ctx)
	sch, err := s.scheduleOf(ctx, in.Schedule)
	if err != nil {
		return nil, err
	}
	def, err := s.publishedOf(ctx, c.workflow.ID)
	if err != nil {
		return nil, err
	}
	if wrong := dag.CheckParams(def, sch.Spec.Params); sch.Spec.Webhook != nil && len(wrong) > 0 {
		return nil, problem(http.StatusConflict, "nobody calls here, so that no body gives a value: "+wrong[0].Message, wrong...)
	}
	id, err := s.store.TriggerSchedule(ctx, sch.ID, c.who.name)
	if err != nil {
		return nil, fmt.Errorf("trigger schedule: %w", err)
	}
	if s.cfg.Hints != nil {
		s.cfg.Hints.Command(id)
	}
	out := &triggeredAnswer{Location: s.cfg.BasePath + "/api/v1/instances/" + strconv.FormatInt(id, 10)}
	out.Body.InstanceID = ID(id)
	return out, nil
}

func notPublished(status int) *Problem {
	return wrongField(status, "workflow", "not_published", "", "no version of the workflow is published: a schedule would have nothing to start")
}
