package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/timer"
	"github.com/porpoise/porpoise/sql"
)

// TimerStore keeps timers and what became of their tasks.
type TimerStore interface {
	CreateTimer(ctx context.Context, t sql.Timer) (sql.Timer, error)
	Timer(ctx context.Context, projectID, id int64) (sql.Timer, error)
	Timers(ctx context.Context, f sql.TimerFilter, skip, limit int) ([]sql.Timer, error)
	EnableTimer(ctx context.Context, projectID, id int64, by string) error
	DisableTimer(ctx context.Context, projectID, id int64, by string) error
	ReplaceTimer(ctx context.Context, old int64, t sql.Timer) (sql.Timer, error)
	DeleteTimer(ctx context.Context, projectID, id int64) error
	TimerTasks(ctx context.Context, timerID int64, state timer.State, page sql.Page) ([]sql.TimerTask, string, error)
	TimerTotals(ctx context.Context, projectID int64, since dag.Millis) (sql.TimerTotals, error)
	TimerLoad(ctx context.Context, overdueAt dag.Millis) (sql.TimerLoad, error)
	TimerSlices(ctx context.Context, from dag.Millis, minutes int) (out []sql.TimerSlice, oldest dag.Millis, err error)
}

// TimerCall is the call that a timer makes.
type TimerCall struct {
	URL            string              `json:"url" doc:"Who is called: http or https."`
	Method         string              `json:"method" enum:"GET,POST,DELETE,PATCH"`
	Header         map[string][]string `json:"header,omitempty" doc:"Headers of the call, 8 KiB in all."`
	Body           string              `json:"body,omitempty" maxLength:"65536" doc:"What is sent, 64 KiB at most."`
	TimeoutSeconds int                 `json:"timeoutSeconds,omitempty" minimum:"0" maximum:"60" doc:"Of one try; 0 or absent is 10."`
	MaxTries       int                 `json:"maxTries,omitempty" minimum:"0" maximum:"20" doc:"0 or absent is 5."`
}

// TimerDef is a timer as it is created.
type TimerDef struct {
	App      string    `json:"app" minLength:"1" maxLength:"512" doc:"The project that it belongs to."`
	Name     string    `json:"name" minLength:"1" maxLength:"512" doc:"Unique in the app, however it is written."`
	Cron     string    `json:"cron" maxLength:"1024" doc:"When it calls; a field of seconds may come first."`
	Dialect  string    `json:"dialect,omitempty" enum:"unix,quartz" doc:"Of the cron; absent is told by its form."`
	Timezone string    `json:"timezone,omitempty" maxLength:"64" doc:"An IANA name; absent is UTC."`
	Call     TimerCall `json:"notifyHTTPParam"`
}

// Timer is a timer as it is shown.
type Timer struct {
	TimerDef
	ID           int64  `json:"id"`
	Enabled      bool   `json:"enabled"`
	Why          string `json:"why,omitempty" doc:"Where it is not enabled, and it was not a person who disabled it: why."`
	Failures     int    `json:"failures" doc:"Firings that failed in a row."`
	FailingSince *Time  `json:"failingSince,omitempty" doc:"The moment of the first of them."`
	CreatedBy    string `json:"createdBy"`
	CreatedAt    Time   `json:"createdAt"`
	ChangedBy    string `json:"changedBy"`
	ChangedAt    Time   `json:"changedAt"`
}

// TimerRecord is one firing of a timer.
type TimerRecord struct {
	TimerID   int64  `json:"timerID"`
	PlannedAt Time   `json:"plannedAt"`
	Key       string `json:"idempotencyKey" doc:"Sent with every try as Idempotency-Key."`
	State     string `json:"state" enum:"planned,calling,retry,success,failed,skipped"`
	NextAt    *Time  `json:"nextAt,omitempty" doc:"When the next try is due, of one that is open."`
	Tries     int    `json:"tries"`
	ClaimedBy string `json:"claimedBy" doc:"The master that called last."`
	CalledAt  *Time  `json:"calledAt,omitempty"`
	LateMS    int64  `json:"lateMS"`
	CostMS    int64  `json:"costMS" doc:"How long the last try took."`
	Status    int    `json:"status" doc:"Of the answer; 0 where none came."`
	Response  string `json:"response" doc:"The first 4 KiB of the answer's body."`
	Error     string `json:"error" doc:"Why the last try failed."`
}

// TimerStats is what became of an app's tasks.
type TimerStats struct {
	Enabled    int              `json:"enabled"`
	Failing    int              `json:"failing"`
	Tasks      map[string]int64 `json:"tasks" doc:"Firings by state."`
	Tries      int64            `json:"tries"`
	MeanLateMS int64            `json:"meanLateMS"`
}

type timerCreated struct {
	Coded
	ID int64 `json:"id"`
}

type timerAnswer struct {
	Coded
	Data Timer `json:"data"`
}

type timerList struct {
	Coded
	Data []Timer `json:"data" nullable:"false"`
	More bool    `json:"more" doc:"There is another page."`
}

type timerRecords struct {
	Coded
	Data   []TimerRecord `json:"data" nullable:"false"`
	Cursor string        `json:"nextCursor,omitempty" doc:"Sent as cursor it gives the next page; absent at the end."`
}

type timerSums struct {
	Coded
	Data TimerStats `json:"data"`
}

// timerRef names a timer in a body.
type timerRef struct {
	ID  timerNumber `json:"id"`
	App string      `json:"app" minLength:"1" maxLength:"512"`
}

// timerReplaced is a timer that is put in the place of another.
type timerReplaced struct {
	ID timerNumber `json:"id" doc:"The one that it replaces. It has an id of its own, which is answered."`
	TimerDef
}

// timerNumber is a timer's id, which clients of the service that this stands in for send as a number.
type timerNumber int64

// UnmarshalJSON reads it as a number or as text.
func (n *timerNumber) UnmarshalJSON(text []byte) error { return (*ID)(n).UnmarshalJSON(text) }

// Schema describes it; huma asks for it.
func (timerNumber) Schema(huma.Registry) *huma.Schema {
	least := 1.0
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: &least, Examples: []any{42}}
}

// What the timers' routes take, for the OpenAPI document: their handlers read it, see coded.

// TimerApp names a project in a query.
type TimerApp struct {
	App string `query:"app" required:"true" doc:"The project."`
}

// TimerPage is a page of a list by its number.
type TimerPage struct {
	TimerApp
	Page int `query:"page" minimum:"1" maximum:"1000" default:"1"`
	Size int `query:"pageSize" minimum:"1" maximum:"199" default:"50"`
}

// TimerQuery names a timer in a query.
type TimerQuery struct {
	TimerApp
	ID int64 `query:"id" required:"true" minimum:"1" doc:"The timer's id."`
}

type findTimers struct {
	TimerPage
	Name string `query:"fuzzyName" required:"true" doc:"A part of the name, however it is written."`
}

type askTimerStats struct {
	TimerApp
	Days int `query:"days" minimum:"1" maximum:"366" default:"1" doc:"How many days (UTC), today included."`
}

type askTimerTasks struct {
	TimerQuery
	State  string `query:"state" enum:"planned,calling,retry,success,failed,skipped" doc:"Only the firings in this state."`
	Cursor string `query:"cursor" doc:"The nextCursor of the page before."`
	Size   int    `query:"pageSize" minimum:"1" maximum:"200" default:"50"`
}

type giveTimer struct{ Body TimerDef }

type giveTimerAnew struct{ Body timerReplaced }

type nameTimer struct{ Body timerRef }

// answers is an answer of a coded route.
type answers[T any] struct{ Body T }

const (
	// maxTimerPage bounds how deep a list goes by its numbers; fuzzyName finds what is beyond.
	maxTimerPage  = 1000
	maxTimerList  = 200
	maxStatsDays  = 366
	timerListSize = 50
)

func (s *Server) timerRoutes() {
	const def, root = "/api/timer/v1/def", "/api/timer/v1"
	// The app is in the query or the body: each handler finds it, and weighs the caller's role in it.
	get := func(id, path, summary string) spec {
		return spec{id: id, method: "GET", path: path, tag: "timers", summary: summary, access: access{object: perItem}, within: roleViewer}
	}
	change := func(id, method, path, summary string, need role) spec {
		return spec{id: id, method: method, path: path, tag: "timers", summary: summary, access: access{object: perItem}, within: need, body: jsonBody}
	}
	coded[giveTimer, answers[timerCreated]](s, change("create-timer", "POST", def, "Make a timer, which is not enabled yet", roleEditor), s.createTimer)
	coded[giveTimerAnew, answers[timerCreated]](s, change("replace-timer", "PUT", def, "Put another timer in the place of one, enabled where that was", roleEditor), s.replaceTimer)
	coded[TimerQuery, answers[timerAnswer]](s, get("get-timer", def, "Show a timer, and how it stands"), s.getTimer)
	coded[nameTimer, answers[Coded]](s, change("delete-timer", "DELETE", def, "Delete a timer", roleEditor), s.deleteTimer)
	coded[nameTimer, answers[Coded]](s, change("enable-timer", "POST", root+"/enable", "Enable a timer", roleOperator), s.enableTimer)
	coded[nameTimer, answers[Coded]](s, change("disable-timer", "POST", root+"/unable", "Disable a timer", roleOperator), s.disableTimer)
	coded[TimerPage, answers[timerList]](s, get("list-timers", root+"/defs", "List an app's timers, by name"), s.listTimers)
	coded[findTimers, answers[timerList]](s, get("find-timers", root+"/defsByName", "List the timers with a text in their name"), s.findTimers)
	coded[askTimerStats, answers[timerSums]](s, get("sum-timers", root+"/stats", "Sum what became of an app's firings"), s.sumTimers)
	coded[askTimerTasks, answers[timerRecords]](s, get("list-timer-tasks", "/api/task/v1/records", "List a timer's firings, the newest first"), s.listTimerTasks)
}

// app finds the project that an app is, and weighs what the caller may do there. Whoever may not see it is told that there
// is none.
func (s *Server) app(r *http.Request, name string) (sql.Project, error) {
	c := callOf(r.Context())
	c.vars = map[string]string{"project": name}
	project, err := s.store.Project(r.Context(), name)
	if err != nil {
		return project, err
	}
	need := c.spec.within
	switch has := c.who.role(project.ID); {
	case has < roleViewer:
		return project, notFound()
	case has < need:
		return project, problem(http.StatusForbidden, "this needs the role "+need.String())
	}
	c.project = project
	return project, nil
}

// timerOf checks a definition, and finds its project.
func (s *Server) timerOf(r *http.Request, in TimerDef, more ...dag.FieldError) (sql.Timer, error) {
	t := sql.Timer{Name: in.Name, CreatedBy: callOf(r.Context()).who.name, Spec: timer.Spec{
		Cron: in.Cron, Dialect: in.Dialect, Timezone: in.Timezone, Method: in.Call.Method, URL: in.Call.URL, Headers: in.Call.Header, Body: in.Call.Body,
		TimeoutSeconds: in.Call.TimeoutSeconds, MaxTries: in.Call.MaxTries,
	}}
	wrong := more
	if in.App == "" {
		wrong = append(wrong, dag.FieldError{Field: "app", Code: document.CodeRequired, Message: "is required"})
	}
	_, badURL := s.receiverOf(timer.FieldURL, t.Spec.URL)
	wrong = slices.Concat(wrong, dag.CheckName("name", in.Name), t.Spec.Check(s.at()), badURL)
	if len(wrong) > 0 {
		return t, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	project, err := s.app(r, in.App)
	if err != nil {
		return t, err
	}
	if wait := s.pace.take("define", project.ID); wait > 0 {
		return t, paced(wait)
	}
	t.ProjectID = project.ID
	return t, nil
}

func timerNotSaved(in TimerDef, err error) error {
	switch {
	case errors.Is(err, sql.ErrExists):
		return wrongField(http.StatusConflict, "name", "name_taken", in.Name, "the app has a timer of this name")
	case errors.Is(err, sql.ErrFull):
		return wrongField(http.StatusConflict, "app", "too_many", in.App, "an app has at most %d timers", sql.MaxTimers)
	}
	return fmt.Errorf("save timer: %w", err)
}

func (s *Server) createTimer(r *http.Request) (any, error) {
	var in TimerDef
	if err := readCoded(r, &in); err != nil {
		return nil, err
	}
	t, err := s.timerOf(r, in)
	if err != nil {
		return nil, err
	}
	made, err := s.store.CreateTimer(r.Context(), t)
	if err != nil {
		return nil, timerNotSaved(in, err)
	}
	return timerCreated{Coded{0, "ok"}, made.ID}, nil
}

func (s *Server) replaceTimer(r *http.Request) (any, error) {
	var in timerReplaced
	if err := readCoded(r, &in); err != nil {
		return nil, err
	}
	var missing []dag.FieldError
	if in.ID == 0 {
		missing = append(missing, dag.FieldError{Field: "id", Code: document.CodeRequired, Message: "is required"})
	}
	t, err := s.timerOf(r, in.TimerDef, missing...)
	if err != nil {
		return nil, err
	}
	callOf(r.Context()).vars["id"] = strconv.FormatInt(int64(in.ID), 10)
	made, err := s.store.ReplaceTimer(r.Context(), int64(in.ID), t)
	if err != nil {
		return nil, timerNotSaved(in.TimerDef, err)
	}
	return timerCreated{Coded{0, "ok"}, made.ID}, nil
}

// refer reads which timer a body is about, and finds its project.
func (s *Server) refer(r *http.Request) (project sql.Project, id int64, err error) {
	var in timerRef
	if err := readCoded(r, &in); err != nil {
		return project, 0, err
	}
	var wrong []dag.FieldError
	for field, absent := range map[string]bool{"id": in.ID == 0, "app": in.App == ""} {
		if absent {
			wrong = append(wrong, dag.FieldError{Field: field, Code: document.CodeRequired, Message: "is required"})
		}
	}
	if len(wrong) > 0 {
		slices.SortFunc(wrong, func(a, b dag.FieldError) int { return len(a.Field) - len(b.Field) })
		return project, 0, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	if project, err = s.app(r, in.App); err == nil {
		callOf(r.Context()).vars["id"] = strconv.FormatInt(int64(in.ID), 10)
	}
	return project, int64(in.ID), err
}

func (s *Server) deleteTimer(r *http.Request) (any, error) {
	project, id, err := s.refer(r)
	if err != nil {
		return nil, err
	}
	if wait := s.pace.take("define", project.ID); wait > 0 {
		return nil, paced(wait)
	}
	if err := s.store.DeleteTimer(r.Context(), project.ID, id); err != nil {
		return nil, fmt.Errorf("delete timer: %w", err)
	}
	return Coded{0, "ok"}, nil
}

func (s *Server) enableTimer(r *http.Request) (any, error) {
	return s.switchTimer(r, s.store.EnableTimer)
}

func (s *Server) disableTimer(r *http.Request) (any, error) {
	return s.switchTimer(r, s.store.DisableTimer)
}

func (s *Server) switchTimer(r *http.Request, do func(ctx context.Context, project, id int64, by string) error) (any, error) {
	project, id, err := s.refer(r)
	if err != nil {
		return nil, err
	}
	if wait := s.pace.take("switch", project.ID); wait > 0 {
		return nil, paced(wait)
	}
	if err := do(r.Context(), project.ID, id, callOf(r.Context()).who.name); err != nil {
		return nil, fmt.Errorf("switch timer: %w", err)
	}
	return Coded{0, "ok"}, nil
}

func timerFace(t *sql.Timer, app string) Timer {
	return Timer{
		TimerDef: TimerDef{
			App: app, Name: t.Name, Cron: t.Spec.Cron, Dialect: t.Spec.Dialect, Timezone: t.Spec.Timezone, Call: TimerCall{
				URL: t.Spec.URL, Method: t.Spec.Method, Header: t.Spec.Headers, Body: t.Spec.Body, TimeoutSeconds: t.Spec.TimeoutSeconds, MaxTries: t.Spec.MaxTries,
			},
		},
		ID: t.ID, Enabled: t.Enabled, Why: t.Why, Failures: t.Failures, FailingSince: timeOrNone(t.FailingSince),
		CreatedBy: t.CreatedBy, CreatedAt: Time(t.CreatedAt), ChangedBy: t.ChangedBy, ChangedAt: Time(t.ChangedAt),
	}
}

func timeOrNone(at dag.Millis) *Time {
	if at == 0 {
		return nil
	}
	t := Time(at)
	return &t
}

func (s *Server) getTimer(r *http.Request) (any, error) {
	q := queryOf(r, "id", "app")
	id, app := q.id("id"), q.required("app")
	if err := q.err(); err != nil {
		return nil, err
	}
	project, err := s.app(r, app)
	if err != nil {
		return nil, err
	}
	t, err := s.store.Timer(r.Context(), project.ID, id)
	if err != nil {
		return nil, fmt.Errorf("read timer: %w", err)
	}
	return timerAnswer{Coded{0, "ok"}, timerFace(&t, project.Name)}, nil
}

func (s *Server) listTimers(r *http.Request) (any, error) {
	return s.timersPage(r, queryOf(r, "app", "page", "pageSize"), "")
}

func (s *Server) findTimers(r *http.Request) (any, error) {
	q := queryOf(r, "app", "fuzzyName", "page", "pageSize")
	return s.timersPage(r, q, q.required("fuzzyName"))
}

func (s *Server) timersPage(r *http.Request, q *query, name string) (any, error) {
	app, page, size := q.required("app"), q.number("page", 1, maxTimerPage), q.number("pageSize", timerListSize, maxTimerList-1)
	if err := q.err(); err != nil {
		return nil, err
	}
	project, err := s.app(r, app)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.Timers(r.Context(), sql.TimerFilter{ProjectID: project.ID, Name: name}, (page-1)*size, size+1)
	if err != nil {
		return nil, fmt.Errorf("list timers: %w", err)
	}
	out := timerList{Coded: Coded{0, "ok"}, Data: []Timer{}, More: len(rows) > size}
	for i := range rows[:min(size, len(rows))] {
		out.Data = append(out.Data, timerFace(&rows[i], project.Name))
	}
	return out, nil
}

func (s *Server) sumTimers(r *http.Request) (any, error) {
	q := queryOf(r, "app", "days")
	app, days := q.required("app"), q.number("days", 1, maxStatsDays)
	if err := q.err(); err != nil {
		return nil, err
	}
	project, err := s.app(r, app)
	if err != nil {
		return nil, err
	}
	totals, err := s.store.TimerTotals(r.Context(), project.ID, s.at().Add(-time.Duration(days-1)*24*time.Hour))
	if err != nil {
		return nil, fmt.Errorf("sum timers: %w", err)
	}
	out := TimerStats{Enabled: totals.Enabled, Failing: totals.Failing, Tries: totals.Tries, Tasks: map[string]int64{}}
	called := totals.Tasks[timer.Success] + totals.Tasks[timer.Failed]
	for state, n := range totals.Tasks {
		out.Tasks[string(state)] = n
	}
	if called > 0 {
		out.MeanLateMS = totals.LateMS / called
	}
	return timerSums{Coded{0, "ok"}, out}, nil
}

func (s *Server) listTimerTasks(r *http.Request) (any, error) {
	q := queryOf(r, "app", "id", "state", "cursor", "pageSize")
	app, id, state, size := q.required("app"), q.id("id"), timer.State(q.text("state")), q.number("pageSize", timerListSize, maxTimerList)
	if state != "" && !slices.Contains(timer.States(), state) {
		q.fail("state", document.CodeNotInEnum, string(state), "must be one of %v", timer.States())
	}
	if err := q.err(); err != nil {
		return nil, err
	}
	project, err := s.app(r, app)
	if err != nil {
		return nil, err
	}
	if _, err := s.store.Timer(r.Context(), project.ID, id); err != nil {
		return nil, fmt.Errorf("read timer: %w", err)
	}
	rows, next, err := s.store.TimerTasks(r.Context(), id, state, sql.Page{Cursor: q.text("cursor"), Limit: size})
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	out := timerRecords{Coded: Coded{0, "ok"}, Data: []TimerRecord{}, Cursor: next}
	for i := range rows {
		out.Data = append(out.Data, timerRecord(&rows[i]))
	}
	return out, nil
}

func timerRecord(t *sql.TimerTask) TimerRecord {
	out := TimerRecord{
		TimerID: t.TimerID, PlannedAt: Time(t.PlannedAt), Key: timer.Key(t.TimerID, t.PlannedAt), State: string(t.State), Tries: t.Tries, ClaimedBy: t.ClaimedBy,
		CalledAt: timeOrNone(t.CalledAt), CostMS: t.CostMS, Status: t.Status, Response: t.Response, Error: t.Error,
	}
	if t.CalledAt > 0 {
		out.LateMS = max(0, int64(t.CalledAt-t.PlannedAt))
	}
	if t.Open() {
		out.NextAt = timeOrNone(t.DueAt)
	}
	return out
}
