package apiserver

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/internal/webhook"
	"github.com/porpoise/porpoise/sql"
)

// callTolerance is by how much the timestamp of a call may differ from this clock: one that somebody has overheard is worth
// nothing later, and as long as it is worth something its fire is kept, so that it starts nothing again.
const callTolerance = 5 * time.Minute

// ScheduleWebhook makes a signed call a fire.
type ScheduleWebhook struct {
	Secret string            `json:"secret" minLength:"1" maxLength:"128" doc:"The name of the secret, of the project or of all projects, that signs the calls."`
	Params map[string]string `json:"params,omitempty" maxProperties:"1000" doc:"Values of declared parameters from the body: the parameter's name to the path of a field, such as release.day; a number counts into a list."`
}

func webhookFace(w *schedule.Webhook) *ScheduleWebhook {
	if w == nil {
		return nil
	}
	return &ScheduleWebhook{Secret: w.Secret, Params: w.Params}
}

func (w *ScheduleWebhook) spec() *schedule.Webhook {
	if w == nil {
		return nil
	}
	return &schedule.Webhook{Secret: w.Secret, Params: w.Params}
}

type callSchedule struct {
	ID        string         `path:"id" maxLength:"512" doc:"The schedule's id."`
	Call      string         `header:"Porpoise-Event" maxLength:"255" doc:"What the sender calls this call: one that comes again has the same. Required."`
	Timestamp string         `header:"Porpoise-Timestamp" maxLength:"32" doc:"Seconds since 1970, at most 5 minutes from now. Required."`
	Signature string         `header:"Porpoise-Signature" maxLength:"128" doc:"v1= and, in hex, the HMAC-SHA256 of the timestamp, a dot and the body, by the schedule's secret. Required."`
	Body      map[string]any `doc:"Any object."`
	RawBody   []byte
}

// TakenCall is what became of a call of a schedule's webhook.
type TakenCall struct {
	At         Time   `json:"at" doc:"The schedule time, and the moment of the fire in the ledger."`
	State      string `json:"state" enum:"waiting,fired,skipped,missed,duplicate" doc:"fired; waiting for the end of the instance before it; or skipped by the schedule's overlap policy."`
	Reason     string `json:"reason,omitempty" doc:"The rule that it was skipped by."`
	InstanceID ID     `json:"instance_id,omitempty" doc:"The instance that it started; absent where it started none."`
}

type takenCallAnswer struct {
	Status   int
	Location string `header:"Location" doc:"The instance."`
	Body     TakenCall
}

func (s *Server) webhookRoutes() {
	add(s, spec{
		id: "call-schedule", method: "POST", path: "/hooks/{id}", tag: "schedules", status: 202, body: jsonBody, starts: true, access: access{open: true},
		summary: "Fire a schedule by a signed call; 200 says that the call came before",
	}, s.callSchedule)
}

// errUnsigned says that a call has not shown that its sender knows the secret.
var errUnsigned = errors.New("no webhook takes this signature")

// unsigned is the one answer to whoever has not shown that he knows the secret, whatever there is at the id. It slows down
// with each, by schedule and not by sender, of whom there may be many; a right signature is never asked to wait, so that
// nobody keeps others' calls away with wrong ones. What has to wait is no row of the audit any more.
func (s *Server) unsigned(id string) *Problem {
	if _, ok := parseID(id); !ok {
		id = "" // what is no id shares one record
	}
	if wait := s.signatures.wrong(id, freeSignatures); wait > 0 {
		return throttled(wait, webhook.SignatureHeader, "too many calls with a wrong signature")
	}
	return wrongField(http.StatusUnauthorized, webhook.SignatureHeader, "not_signed", "", "no webhook takes this signature: it is %s, see docs/schedules.md", "v1=HEX(HMAC-SHA256(secret, timestamp.body))")
}

func (s *Server) callSchedule(ctx context.Context, in *callSchedule) (*takenCallAnswer, error) {
	sch, err := s.signedFor(ctx, in)
	if errors.Is(err, errUnsigned) {
		return nil, s.unsigned(in.ID)
	}
	if err != nil {
		return nil, err
	}
	// From here on the caller knows the secret, and is told what is wrong.
	callOf(ctx).who = &principal{name: "webhook of schedule " + in.ID}
	if p := s.checkCall(in); p != nil {
		return nil, p
	}
	before, err := s.store.CallOf(ctx, sch.ID, in.Call)
	if err == nil {
		return s.takenCall(http.StatusOK, &before), nil
	}
	if !errors.Is(err, sql.ErrNotFound) {
		return nil, err
	}
	if !sch.Enabled {
		return nil, wrongField(http.StatusConflict, "schedule", "paused", "", "the schedule is paused: call again later")
	}
	given, err := s.givenBy(ctx, &sch, in.RawBody)
	if err != nil {
		return nil, err
	}
	if err := s.surges.take(ctx, sch.ProjectID); err != nil {
		return nil, err
	}
	taken, err := s.store.CallSchedule(ctx, sch, sql.Call{ID: in.Call, Signature: in.Signature, Params: given}, s.cfg.Node)
	switch {
	case errors.Is(err, sql.ErrExists):
		return nil, wrongField(http.StatusConflict, webhook.EventHeader, "replayed", in.Call, "a call of this very signature came before, with another id")
	case errors.Is(err, sql.ErrStale):
		return nil, wrongField(http.StatusConflict, "schedule", "stale", "", "the schedule was changed or paused just now: call again")
	case err != nil:
		return nil, err
	case taken.Repeated:
		return s.takenCall(http.StatusOK, &taken.Fire), nil
	}
	if s.cfg.Hints != nil {
		for _, id := range taken.Started {
			s.cfg.Hints.Command(id)
		}
		for _, id := range taken.Stopped {
			s.cfg.Hints.Control(id)
		}
	}
	return s.takenCall(http.StatusAccepted, &taken.Fire), nil
}

// signedFor returns the schedule that a call is for, where its signature is right. Everything else is errUnsigned, so
// that nobody can find out which ids there are.
func (s *Server) signedFor(ctx context.Context, in *callSchedule) (sch sql.Schedule, err error) {
	id, ok := parseID(in.ID)
	if !ok {
		return sch, errUnsigned
	}
	sch, err = s.store.ScheduleByID(ctx, id)
	if errors.Is(err, sql.ErrNotFound) || err == nil && sch.Spec.Webhook == nil {
		return sch, errUnsigned
	}
	if err != nil {
		return sch, err
	}
	secret, err := s.namedSecret(ctx, sch.ProjectID, sch.Spec.Webhook.Secret)
	if p, ok := errors.AsType[*Problem](err); ok {
		s.log.Warn("webhook not verified", "schedule", id, "error", p)
		if p.Status == http.StatusConflict { // the secret is gone
			return sch, errUnsigned
		}
	}
	if err != nil {
		return sch, err
	}
	if !hmac.Equal([]byte(webhook.Sign(secret, in.Timestamp, in.RawBody)), []byte(in.Signature)) {
		return sch, errUnsigned
	}
	return sch, nil
}

// checkCall holds what is signed, and the id of the call, against the rules.
func (s *Server) checkCall(in *callSchedule) *Problem {
	at, err := strconv.ParseInt(in.Timestamp, 10, 64)
	if err != nil || s.now().Sub(time.Unix(at, 0)).Abs() > callTolerance {
		return wrongField(http.StatusUnauthorized, webhook.TimestampHeader, "out_of_range", in.Timestamp, "the timestamp is no moment within %d minutes from now", int(callTolerance/time.Minute))
	}
	if in.Call == "" {
		return wrongField(http.StatusUnprocessableEntity, webhook.EventHeader, document.CodeRequired, "", "give the call an id, which it keeps where it is sent again")
	}
	return nil
}

// givenBy returns what the body of a call gives to parameters, where an instance can be started by that.
func (s *Server) givenBy(ctx context.Context, sch *sql.Schedule, body []byte) (map[string]string, error) {
	given, err := sch.Spec.Webhook.Given(body)
	if err != nil {
		return nil, wrongField(http.StatusBadRequest, "body", document.CodeInvalid, "", "the body is not read: %v", err)
	}
	def, err := s.publishedOf(ctx, sch.WorkflowID)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(given)
	for name, value := range sch.Spec.Params {
		if _, ok := all[name]; !ok {
			all[name] = value
		}
	}
	if wrong := dag.CheckParams(def, all); len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	return given, nil
}

// publishedOf returns the published definition of a workflow, or a Problem where it has none.
func (s *Server) publishedOf(ctx context.Context, workflow int64) (*dag.Definition, error) {
	w, err := s.store.WorkflowByID(ctx, workflow)
	if err != nil {
		return nil, fmt.Errorf("read workflow: %w", err)
	}
	if w.Published == 0 {
		return nil, notPublished(http.StatusConflict)
	}
	plan, err := s.plans.get(ctx, w.ID, w.Published)
	if err != nil {
		return nil, fmt.Errorf("read version %d of workflow %d: %w", w.Published, w.ID, err)
	}
	return plan.Definition, nil
}

func (s *Server) takenCall(status int, f *sql.Fire) *takenCallAnswer {
	out := &takenCallAnswer{Status: status, Body: TakenCall{At: Time(f.At), State: string(f.State), Reason: f.Reason, InstanceID: ID(f.Instance)}}
	if f.Instance != 0 {
		out.Location = s.cfg.BasePath + "/api/v1/instances/" + strconv.FormatInt(f.Instance, 10)
	}
	return out
}

// webhook returns what is wrong with a webhook beyond its own text: its secret is not there, or a parameter is not declared.
func (c *scheduleCheck) webhook(ctx context.Context, w sql.Workflow, hook *schedule.Webhook, def *dag.Definition) (wrong []dag.FieldError, err error) {
	rows, err := c.server.store.SecretsNamed(ctx, w.ProjectID, []string{hook.Secret})
	if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	if _, known := rows[hook.Secret]; !known {
		wrong = append(wrong, unknownSecret("webhook.secret", hook.Secret))
	}
	for _, name := range slices.Sorted(maps.Keys(hook.Params)) {
		if !slices.ContainsFunc(def.Params, func(p dag.Param) bool { return p.Name == name }) {
			wrong = append(wrong, dag.FieldError{
				Field: document.FieldKey("webhook.params", name), Code: dag.CodeUnknownParam, Value: shown(name), Message: "the workflow has no parameter " + document.Quoted(name),
			})
		}
	}
	return wrong, nil
}

// withoutGiven drops the errors of parameters that have no value before a call gives them one.
func withoutGiven(wrong []dag.FieldError, hook *schedule.Webhook) []dag.FieldError {
	if hook == nil {
		return wrong
	}
	return slices.DeleteFunc(wrong, func(e dag.FieldError) bool {
		for name := range hook.Params {
			if e.Code == document.CodeRequired && e.Field == document.FieldKey("params", name) {
				return true
			}
		}
		return false
	})
}

// explainWebhook says what fires a schedule that has a webhook.
func (s *Server) explainWebhook(ctx context.Context, sch sql.Schedule) (Explanation, error) {
	secret := sch.Spec.Webhook.Secret
	path := s.cfg.BasePath + "/api/v1/hooks/" + strconv.FormatInt(sch.ID, 10)
	args := map[string]string{"path": path, "secret": secret}
	rows, err := s.store.SecretsNamed(ctx, sch.ProjectID, []string{secret})
	if err != nil {
		return Explanation{}, fmt.Errorf("read secret: %w", err)
	}
	if _, known := rows[secret]; !known {
		return Explanation{Code: "schedule_webhook_unsigned", Text: "it fires by calls of " + path + " that are signed by the secret " + secret + ", which is not there: none is taken", Args: args}, nil
	}
	return Explanation{Code: "schedule_webhook", Text: "it fires by calls of " + path + " that are signed by the secret " + secret, Args: args}, nil
}
