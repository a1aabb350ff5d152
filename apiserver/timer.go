package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

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
	DeleteTimer(ctx context.Context, projectID, id int64) error
	TimerTasks(ctx context.Context, timerID int64, state timer.State, page sql.Page) ([]sql.TimerTask, string, error)
	TimerTotals(ctx context.Context, projectID int64, since dag.Millis) (sql.TimerTotals, error)
	TimerLoad(ctx context.Context, overdueAt dag.Millis) (sql.TimerLoad, error)
}

// TimerCall is the call that a timer makes.
type TimerCall struct {
	URL            string              `json:"url"`
	Method         string              `json:"method"`
	Header         map[string][]string `json:"header,omitempty"`
	Body           string              `json:"body,omitempty"`
	TimeoutSeconds int                 `json:"timeoutSeconds,omitempty"`
	MaxTries       int                 `json:"maxTries,omitempty"`
}

// TimerDef is a timer as it is created and shown. The fields from ID on are shown alone.
type TimerDef struct {
	App      string    `json:"app"`
	Name     string    `json:"name"`
	Cron     string    `json:"cron"`
	Dialect  string    `json:"dialect,omitempty"`
	Timezone string    `json:"timezone,omitempty"`
	Call     TimerCall `json:"notifyHTTPParam"`
}

// Timer is a timer as it is shown.
type Timer struct {
	TimerDef
	ID           int64  `json:"id"`
	Enabled      bool   `json:"enabled"`
	Failures     int    `json:"failures"`
	FailingSince *Time  `json:"failingSince,omitempty"`
	CreatedBy    string `json:"createdBy"`
	CreatedAt    Time   `json:"createdAt"`
	ChangedBy    string `json:"changedBy"`
	ChangedAt    Time   `json:"changedAt"`
}

// TimerRecord is one firing of a timer.
type TimerRecord struct {
	TimerID   int64  `json:"timerID"`
	PlannedAt Time   `json:"plannedAt"`
	Key       string `json:"idempotencyKey"`
	State     string `json:"state"`
	NextAt    *Time  `json:"nextAt,omitempty"`
	Tries     int    `json:"tries"`
	ClaimedBy string `json:"claimedBy"`
	CalledAt  *Time  `json:"calledAt,omitempty"`
	LateMS    int64  `json:"lateMS"`
	CostMS    int64  `json:"costMS"`
	Status    int    `json:"status"`
	Response  string `json:"response"`
	Error     string `json:"error"`
}

// TimerStats is what became of an app's tasks.
type TimerStats struct {
	Enabled    int              `json:"enabled"`
	Failing    int              `json:"failing"`
	Tasks      map[string]int64 `json:"tasks"`
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
	Data []Timer `json:"data"`
	More bool    `json:"more"`
}

type timerRecords struct {
	Coded
	Data   []TimerRecord `json:"data"`
	Cursor string        `json:"nextCursor,omitempty"`
}

type timerStats struct {
	Coded
	Data TimerStats `json:"data"`
}

// timerRef names a timer in a body.
type timerRef struct {
	ID  ID     `json:"id"`
	App string `json:"app"`
}

const (
	// maxTimerPage bounds how deep a list goes by its numbers; fuzzyName finds what is beyond.
	maxTimerPage  = 1000
	maxTimerList  = 200
	maxStatsDays  = 366
	timerListSize = 50
)

func (s *Server) timerRoutes() {
	// The app is in the query or the body: each handler finds it, and weighs the caller's role in it.
	any := access{object: perItem}
	const def, root = "/api/timer/v1/def", "/api/timer/v1"
	s.coded(spec{id: "create-timer", method: "POST", path: def, tag: "timers", access: any, body: jsonBody}, s.createTimer)
	s.coded(spec{id: "get-timer", method: "GET", path: def, tag: "timers", access: any}, s.getTimer)
	s.coded(spec{id: "delete-timer", method: "DELETE", path: def, tag: "timers", access: any, body: jsonBody}, s.deleteTimer)
	s.coded(spec{id: "enable-timer", method: "POST", path: root + "/enable", tag: "timers", access: any, body: jsonBody}, s.enableTimer)
	s.coded(spec{id: "disable-timer", method: "POST", path: root + "/unable", tag: "timers", access: any, body: jsonBody}, s.disableTimer)
	s.coded(spec{id: "list-timers", method: "GET", path: root + "/defs", tag: "timers", access: any}, s.listTimers)
	s.coded(spec{id: "find-timers", method: "GET", path: root + "/defsByName", tag: "timers", access: any}, s.findTimers)
	s.coded(spec{id: "sum-timers", method: "GET", path: root + "/stats", tag: "timers", access: any}, s.sumTimers)
	s.coded(spec{id: "list-timer-tasks", method: "GET", path: "/api/task/v1/records", tag: "timers", access: any}, s.listTimerTasks)
}

// app finds the project that an app is, and weighs what the caller may do there. Whoever may not see it is told that there
// is none.
func (s *Server) app(r *http.Request, name string, need role) (sql.Project, error) {
	c := callOf(r.Context())
	c.vars = map[string]string{"project": name}
	project, err := s.store.Project(r.Context(), name)
	if err != nil {
		return project, err
	}
	switch has := c.who.role(project.ID); {
	case has < roleViewer:
		return project, notFound()
	case has < need:
		return project, problem(http.StatusForbidden, "this needs the role "+need.String())
	}
	c.project = project
	return project, nil
}

func (s *Server) createTimer(r *http.Request) (any, error) {
	var in TimerDef
	if err := readCoded(r, &in); err != nil {
		return nil, err
	}
	spec := timer.Spec{
		Cron: in.Cron, Dialect: in.Dialect, Timezone: in.Timezone, Method: in.Call.Method, URL: in.Call.URL, Headers: in.Call.Header, Body: in.Call.Body,
		TimeoutSeconds: in.Call.TimeoutSeconds, MaxTries: in.Call.MaxTries,
	}
	var wrong []dag.FieldError
	if in.App == "" {
		wrong = append(wrong, dag.FieldError{Field: "app", Code: document.CodeRequired, Message: "is required"})
	}
	_, badURL := s.receiverOf(timer.FieldURL, spec.URL)
	wrong = slices.Concat(wrong, dag.CheckName("name", in.Name), spec.Check(s.at()), badURL)
	if len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	project, err := s.app(r, in.App, roleEditor)
	if err != nil {
		return nil, err
	}
	if wait := s.pace.take("define", project.ID); wait > 0 {
		return nil, paced(wait)
	}
	made, err := s.store.CreateTimer(r.Context(), sql.Timer{ProjectID: project.ID, Name: in.Name, Spec: spec, CreatedBy: callOf(r.Context()).who.name})
	switch {
	case errors.Is(err, sql.ErrExists):
		return nil, wrongField(http.StatusConflict, "name", "name_taken", in.Name, "the app has a timer of this name")
	case errors.Is(err, sql.ErrFull):
		return nil, wrongField(http.StatusConflict, "app", "too_many", in.App, "an app has at most %d timers", sql.MaxTimers)
	case err != nil:
		return nil, fmt.Errorf("create timer: %w", err)
	}
	return timerCreated{Coded{0, "ok"}, made.ID}, nil
}

// refer reads which timer a body is about, and finds its project.
func (s *Server) refer(r *http.Request, need role) (project sql.Project, id int64, err error) {
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
	if project, err = s.app(r, in.App, need); err == nil {
		callOf(r.Context()).vars["id"] = strconv.FormatInt(int64(in.ID), 10)
	}
	return project, int64(in.ID), err
}

func (s *Server) deleteTimer(r *http.Request) (any, error) {
	project, id, err := s.refer(r, roleEditor)
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
	project, id, err := s.refer(r, roleOperator)
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
		ID: t.ID, Enabled: t.Enabled, Failures: t.Failures, FailingSince: timeOrNone(t.FailingSince),
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
	project, err := s.app(r, app, roleViewer)
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
	project, err := s.app(r, app, roleViewer)
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
	project, err := s.app(r, app, roleViewer)
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
	return timerStats{Coded{0, "ok"}, out}, nil
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
	project, err := s.app(r, app, roleViewer)
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
