package apiserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/internal/webhook"
	"github.com/porpoise/porpoise/sql"
)

// ListenerStore keeps listeners and how far they have heard.
type ListenerStore interface {
	PutListener(ctx context.Context, l sql.Listener) (sql.Listener, bool, error)
	Listener(ctx context.Context, projectID int64, name string) (sql.Listener, error)
	ListenerByID(ctx context.Context, id int64) (sql.Listener, error)
	Listeners(ctx context.Context, projectID int64, page sql.Page) ([]sql.Listener, string, error)
	ListenersOf(ctx context.Context, projects []int64, limit int) ([]sql.Listener, error)
	DeleteListener(ctx context.Context, projectID int64, name string) error
	Deliveries(ctx context.Context, listenerID int64, state sql.DeliveryState, page sql.Page) ([]sql.Delivery, string, error)
	Delivery(ctx context.Context, listenerID, instanceID int64) (sql.Delivery, error)
	Redeliver(ctx context.Context, listenerID, instanceID int64, skip bool) error
}

// ListenerFilter picks events: those that fit every list that is not empty, and the condition.
type ListenerFilter struct {
	Events    []string `json:"events,omitempty" maxItems:"100" doc:"Kinds of events: submitted, started, instance_state, ended, task_state, task_ended, task_timeout, workflow_timeout, approved, rejected, pause_overdue, stop_overdue, schedule_broken, schedule_missed, timer_failing, timer_broken."`
	Workflows []string `json:"workflows,omitempty" maxItems:"100" doc:"Names of workflows."`
	Schedules []string `json:"schedules,omitempty" maxItems:"100" doc:"Names of schedules: only instances that one of them started fit."`
	Tasks     []string `json:"tasks,omitempty" maxItems:"100" doc:"Names of tasks: events of the instance itself then don't fit."`
	States    []string `json:"states,omitempty" maxItems:"100" doc:"States of instances or tasks."`
	Reasons   []string `json:"reasons,omitempty" maxItems:"100" doc:"Reasons of states."`
	When      string   `json:"when,omitempty" maxLength:"4096" doc:"A condition over event, workflow, task, state, reason, message, attempt, round and warning."`
}

// Listener is who is told of a project's events.
type Listener struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	URL         string         `json:"url"`
	Signed      bool           `json:"signed" doc:"Calls are signed. The secret itself is never shown."`
	Filter      ListenerFilter `json:"filter"`
	Enabled     bool           `json:"enabled"`
	Dead        int            `json:"dead" doc:"How many instances' deliveries were given up."`
	CreatedBy   string         `json:"created_by"`
	CreatedAt   Time           `json:"created_at"`
	UpdatedAt   Time           `json:"updated_at"`
}

// Delivery is how far a listener has heard of an instance, or of an alert.
type Delivery struct {
	InstanceID ID     `json:"instance_id,omitempty" doc:"The instance whose events are told; absent where it is about an alert."`
	AlertID    ID     `json:"alert_id,omitempty" doc:"The alert that is told; absent where it is about an instance."`
	Event      string `json:"event,omitempty" doc:"What the alert is: schedule_broken, schedule_missed, timer_failing, timer_broken."`
	Subject    string `json:"subject,omitempty" doc:"The schedule or the timer that the alert is about."`
	Workflow   string `json:"workflow"`
	State      string `json:"state" enum:"idle,due,dead" doc:"idle: all is delivered; due: there is something to deliver, or to deliver again; dead: given up."`
	Seq        int64  `json:"seq" doc:"The last event that was delivered, or that the listener doesn't want; -1 for none."`
	Attempts   int    `json:"attempts" doc:"Failed calls for the next event."`
	NextAt     Time   `json:"next_at" doc:"When it is tried again; absent where it is not due."`
	FailingAt  Time   `json:"failing_at" doc:"When the first of the failed calls was made; absent for none."`
	Status     int    `json:"status" doc:"The HTTP status of the last answer; 0 for none."`
	Error      string `json:"error" doc:"Why the last call failed; empty where it didn't."`
	UpdatedAt  Time   `json:"updated_at"`
}

// ListenerTest is what came of a call that somebody asked for.
type ListenerTest struct {
	Delivered bool   `json:"delivered"`
	Status    int    `json:"status" doc:"The HTTP status of the answer; 0 for none."`
	Error     string `json:"error"`
	TookMS    int64  `json:"took_ms"`
}

// ListenerPath names a listener of a project in a path.
type ListenerPath struct {
	ProjectPath
	Listener string `path:"listener" maxLength:"512" doc:"The listener's name."`
}

type putListener struct {
	ListenerPath
	Body struct {
		URL         string          `json:"url" minLength:"1" maxLength:"2048" doc:"Who is called: http or https."`
		Secret      *string         `json:"secret,omitempty" maxLength:"1024" doc:"Signs the calls, or ${secret.NAME}: one that the project has. Absent keeps the one that there is, empty takes it away."`
		Filter      *ListenerFilter `json:"filter,omitempty" doc:"Absent picks everything."`
		Enabled     *bool           `json:"enabled,omitempty" doc:"Absent is true. What happens meanwhile is not delivered later."`
		Description string          `json:"description,omitempty" maxLength:"65536"`
	}
}

type listenerList struct{ Body List[Listener] }

// ProjectListener is a listener with whose it is.
type ProjectListener struct {
	Project string `json:"project"`
	Listener
}

// AllListeners are the listeners of several projects.
type AllListeners struct {
	Items []ProjectListener `json:"items" nullable:"false" doc:"By project and name."`
	Cut   bool              `json:"cut" doc:"There are more than are listed."`
}

type allListenersAnswer struct{ Body AllListeners }

// maxAllListeners bounds the listeners of one answer.
const maxAllListeners = 5000

type listenerPage struct {
	ProjectPath
	Paged
}

type listenerAnswer struct {
	Status int
	Body   Listener
}

type deliveryPage struct {
	ListenerPath
	State string `query:"state" enum:"idle,due,dead"`
	Paged
}

type deliveryList struct{ Body List[Delivery] }

type deliveryAnswer struct{ Body Delivery }

type redeliverToListener struct {
	ListenerPath
	Body struct {
		InstanceID ID   `json:"instance_id,omitempty" doc:"The instance whose delivery was given up."`
		AlertID    ID   `json:"alert_id,omitempty" doc:"The alert whose delivery was, in place of an instance."`
		Skip       bool `json:"skip,omitempty" doc:"Go on behind the event that could not be delivered."`
	}
}

type listenerTestAnswer struct{ Body ListenerTest }

func (s *Server) listenerRoutes() {
	may := func(need role) access { return access{need: need, object: ofProject} }
	const all, one = "/projects/{project}/listeners", "/projects/{project}/listeners/{listener}"
	add(s, spec{id: "list-listeners", method: "GET", path: all, tag: "listeners", summary: "List a project's listeners", access: may(roleOperator)}, s.listListeners)
	add(s, spec{
		id: "list-all-listeners", method: "GET", path: "/listeners", tag: "listeners", summary: "List the listeners of all projects that one operates",
		access: access{object: perItem},
	}, s.listAllListeners)
	add(s, spec{id: "get-listener", method: "GET", path: one, tag: "listeners", summary: "Show a listener", access: may(roleOperator)}, s.getListener)
	add(s, spec{id: "put-listener", method: "PUT", path: one, tag: "listeners", summary: "Make or change a listener", body: jsonBody, access: may(roleEditor)}, s.putListener)
	add(s, spec{id: "delete-listener", method: "DELETE", path: one, tag: "listeners", summary: "Delete a listener", access: may(roleEditor)}, s.deleteListener)
	add(s, spec{id: "test-listener", method: "POST", path: one + "/test", tag: "listeners", summary: "Call a listener once, now", status: 200, access: may(roleOperator)}, s.testListener)
	add(s, spec{id: "list-deliveries", method: "GET", path: one + "/deliveries", tag: "listeners", summary: "List how far a listener has heard of each instance, the newest first", access: may(roleOperator)}, s.listDeliveries)
	add(s, spec{
		id: "redeliver", method: "POST", path: one + "/redeliver", tag: "listeners", summary: "Deliver again what was given up", status: 202, body: jsonBody, access: may(roleOperator),
	}, s.redeliver)
}

func filterFace(f listen.Filter) ListenerFilter {
	return ListenerFilter{
		Events: words[string](f.Events), Workflows: f.Workflows, Schedules: f.Schedules, Tasks: f.Tasks, States: f.States, Reasons: words[string](f.Reasons), When: f.When,
	}
}

func (f *ListenerFilter) filter() listen.Filter {
	if f == nil {
		return listen.Filter{}
	}
	return listen.Filter{
		Events: words[listen.Kind](f.Events), Workflows: f.Workflows, Schedules: f.Schedules, Tasks: f.Tasks, States: f.States, Reasons: words[dag.Reason](f.Reasons), When: f.When,
	}
}

// words takes words as those of another type.
func words[To, From ~string](list []From) []To {
	if len(list) == 0 {
		return nil
	}
	out := make([]To, len(list))
	for i, w := range list {
		out[i] = To(w)
	}
	return out
}

func listenerFace(l sql.Listener) Listener {
	return Listener{
		Name: l.Name, Description: l.Description, URL: l.URL, Signed: len(l.Secret) > 0, Filter: filterFace(l.Filter), Enabled: l.Enabled, Dead: l.Dead,
		CreatedBy: l.CreatedBy, CreatedAt: Time(l.CreatedAt), UpdatedAt: Time(l.UpdatedAt),
	}
}

func deliveryFace(d sql.Delivery) Delivery {
	out := Delivery{
		InstanceID: ID(d.InstanceID), Event: d.Kind, Subject: d.Subject, Workflow: d.Workflow, State: string(d.State), Seq: d.Seq, Attempts: d.Attempts, FailingAt: Time(d.Since),
		Status: d.Status, Error: d.Error, UpdatedAt: Time(d.UpdatedAt),
	}
	if d.Alert {
		out.InstanceID, out.AlertID = 0, ID(d.InstanceID)
	}
	if d.State == sql.DeliveryDue {
		out.NextAt = Time(d.NextAt)
	}
	return out
}

// receiverOf checks a URL that users name; field is its path.
func (s *Server) receiverOf(field, text string) (receiver string, wrong []dag.FieldError) {
	receiver, err := webhook.Receiver(text)
	if err == nil {
		if u, perr := url.Parse(text); perr == nil {
			err = s.cfg.Egress.Check(u.Hostname())
		}
	}
	if err != nil {
		return "", []dag.FieldError{{Field: field, Code: document.CodeInvalid, Message: err.Error()}}
	}
	return receiver, nil
}

func (s *Server) listListeners(ctx context.Context, in *listenerPage) (*listenerList, error) {
	rows, next, err := s.store.Listeners(ctx, callOf(ctx).project.ID, in.page())
	if err != nil {
		return nil, fmt.Errorf("list listeners: %w", err)
	}
	return &listenerList{Body: list(rows, next, listenerFace)}, nil
}

func (s *Server) listAllListeners(ctx context.Context, _ *struct{}) (*allListenersAnswer, error) {
	projects, err := s.visibleProjects(ctx)
	if err != nil {
		return nil, err
	}
	names, ids := map[int64]string{}, make([]int64, 0, len(projects))
	for _, p := range projects {
		if callOf(ctx).who.role(p.ID) >= roleOperator {
			names[p.ID] = p.Name
			ids = append(ids, p.ID)
		}
	}
	rows, err := s.store.ListenersOf(ctx, ids, maxAllListeners)
	if err != nil {
		return nil, fmt.Errorf("list listeners: %w", err)
	}
	out := AllListeners{Items: make([]ProjectListener, len(rows)), Cut: len(rows) == maxAllListeners}
	for i, r := range rows {
		out.Items[i] = ProjectListener{Project: names[r.ProjectID], Listener: listenerFace(r)}
	}
	slices.SortStableFunc(out.Items, func(a, b ProjectListener) int { return cmp.Compare(a.Project, b.Project) })
	return &allListenersAnswer{Body: out}, nil
}

func (s *Server) getListener(ctx context.Context, in *ListenerPath) (*listenerAnswer, error) {
	l, err := s.store.Listener(ctx, callOf(ctx).project.ID, in.Listener)
	if err != nil {
		return nil, fmt.Errorf("read listener: %w", err)
	}
	return &listenerAnswer{Status: http.StatusOK, Body: listenerFace(l)}, nil
}

func (s *Server) putListener(ctx context.Context, in *putListener) (*listenerAnswer, error) {
	c := callOf(ctx)
	l := sql.Listener{
		ProjectID: c.project.ID, Name: in.Listener, Description: in.Body.Description, URL: in.Body.URL, Filter: in.Body.Filter.filter(),
		Enabled: in.Body.Enabled == nil || *in.Body.Enabled, CreatedBy: c.who.name,
	}
	_, badURL := s.receiverOf("url", l.URL)
	wrong := append(append(dag.CheckName("listener", l.Name), badURL...), l.Filter.Check("filter")...)
	if in.Body.Secret != nil {
		sealed, badSecret, err := s.seal(ctx, l.ProjectID, "secret", *in.Body.Secret)
		if err != nil {
			return nil, err
		}
		l.Secret, wrong = sealed, append(wrong, badSecret...)
	}
	if len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	known, err := s.store.Listener(ctx, l.ProjectID, l.Name)
	switch {
	case err == nil && known.Name != l.Name:
		return nil, nameTaken("listener", l.Name, known.Name)
	case err != nil && !errors.Is(err, sql.ErrNotFound):
		return nil, fmt.Errorf("read listener: %w", err)
	}
	put, made, err := s.store.PutListener(ctx, l)
	if errors.Is(err, sql.ErrFull) {
		return nil, wrongField(http.StatusConflict, "listener", "too_many", l.Name, "a project has at most %d listeners", sql.MaxListeners)
	}
	if err != nil {
		return nil, fmt.Errorf("put listener: %w", err)
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	return &listenerAnswer{Status: status, Body: listenerFace(put)}, nil
}

func (s *Server) deleteListener(ctx context.Context, in *ListenerPath) (*struct{}, error) {
	if err := s.store.DeleteListener(ctx, callOf(ctx).project.ID, in.Listener); err != nil {
		return nil, fmt.Errorf("delete listener: %w", err)
	}
	return nil, nil
}

// testListener calls from this process, where the masters call otherwise: it tells whether the URL and the
// signature are right, not whether every master reaches it.
func (s *Server) testListener(ctx context.Context, in *ListenerPath) (*listenerTestAnswer, error) {
	c := callOf(ctx)
	l, err := s.store.Listener(ctx, c.project.ID, in.Listener)
	if err != nil {
		return nil, fmt.Errorf("read listener: %w", err)
	}
	secret, err := s.signedBy(ctx, &l)
	if err != nil {
		return nil, err
	}
	event := webhook.Event{ID: "test-" + c.id, Event: webhook.TestKind, Listener: l.Name, Project: c.project.Name, At: webhook.Moment(s.at()), By: c.who.name}
	began := time.Now()
	sender := webhook.Sender{Rule: s.cfg.Egress, Now: s.now}
	status, err := sender.Send(ctx, event.To(l.URL, secret))
	out := ListenerTest{Delivered: err == nil, Status: status, TookMS: time.Since(began).Milliseconds()}
	if err != nil {
		out.Error = err.Error()
	}
	return &listenerTestAnswer{Body: out}, nil
}

func (s *Server) listDeliveries(ctx context.Context, in *deliveryPage) (*deliveryList, error) {
	l, err := s.store.Listener(ctx, callOf(ctx).project.ID, in.Listener)
	if err != nil {
		return nil, fmt.Errorf("read listener: %w", err)
	}
	rows, next, err := s.store.Deliveries(ctx, l.ID, sql.DeliveryState(in.State), in.page())
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	return &deliveryList{Body: list(rows, next, deliveryFace)}, nil
}

func (s *Server) redeliver(ctx context.Context, in *redeliverToListener) (*deliveryAnswer, error) {
	l, err := s.store.Listener(ctx, callOf(ctx).project.ID, in.Listener)
	if err != nil {
		return nil, fmt.Errorf("read listener: %w", err)
	}
	field, id := "instance_id", int64(in.Body.InstanceID)
	switch alert := int64(in.Body.AlertID); {
	case alert != 0 && id != 0:
		return nil, wrongField(http.StatusUnprocessableEntity, "alert_id", "conflict", fmt.Sprint(alert), "give it or instance_id, not both")
	case alert != 0:
		field, id = "alert_id", alert
	case id == 0:
		return nil, wrongField(http.StatusUnprocessableEntity, field, document.CodeRequired, "", "is required, or alert_id")
	}
	// Both have their ids from one row of numbers: what is of the other kind was not given up under this name.
	d, err := s.store.Delivery(ctx, l.ID, id)
	if errors.Is(err, sql.ErrNotFound) || err == nil && d.Alert != (field == "alert_id") {
		return nil, notDead(field, id)
	}
	if err != nil {
		return nil, fmt.Errorf("read delivery: %w", err)
	}
	return s.deliverAgain(ctx, l.ID, field, id, in.Body.Skip)
}

func notDead(field string, id int64) *Problem {
	return wrongField(http.StatusConflict, field, "not_dead", fmt.Sprint(id), "no delivery of %s %d was given up", strings.TrimSuffix(field, "_id"), id)
}

// deliverAgain makes a dead delivery due; field names what id is of in a refusal.
func (s *Server) deliverAgain(ctx context.Context, listener int64, field string, id int64, skip bool) (*deliveryAnswer, error) {
	err := s.store.Redeliver(ctx, listener, id, skip)
	if errors.Is(err, sql.ErrNotFound) {
		return nil, notDead(field, id)
	}
	if err != nil {
		return nil, fmt.Errorf("redeliver: %w", err)
	}
	d, err := s.store.Delivery(ctx, listener, id)
	if err != nil {
		return nil, fmt.Errorf("read delivery: %w", err)
	}
	return &deliveryAnswer{Body: deliveryFace(d)}, nil
}
