package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/cron"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// ScheduleRules is the document of a schedule: when it fires, and what it starts.
type ScheduleRules struct {
	Cron     string           `json:"cron,omitempty" maxLength:"1024" doc:"When it fires: five, six (seconds first) or seven fields (with a year), or a word such as @daily or @every 90s."`
	Dialect  string           `json:"dialect,omitempty" enum:"unix,quartz" doc:"Of cron. Absent: five fields are unix, six and seven are quartz."`
	At       []string         `json:"at,omitempty" maxItems:"1000" doc:"When it fires, instead of cron: moments, each a date with or without a time on the timezone's calendar, or RFC 3339."`
	After    *ScheduleAfter   `json:"after,omitempty" doc:"Fires when an instance of another workflow ends, instead of cron. Nothing else that is about moments goes with it but timezone."`
	Webhook  *ScheduleWebhook `json:"webhook,omitempty" doc:"Fires when somebody calls POST /hooks/{id} with a signature, instead of cron. Nothing else that is about moments goes with it but timezone."`
	Timezone string           `json:"timezone,omitempty" maxLength:"64" doc:"Whose clock all of this is about, as an IANA name such as Europe/Berlin; absent is UTC."`
	Start    string           `json:"start,omitempty" maxLength:"64" doc:"The first moment that it may fire at, itself included. @every counts from it."`
	End      string           `json:"end,omitempty" maxLength:"64" doc:"The last moment that it may fire at, itself included; a date alone is the whole day."`

	Calendar *ScheduleCalendar `json:"calendar,omitempty" doc:"On which days it fires."`
	Jitter   string            `json:"jitter,omitempty" maxLength:"32" doc:"Each fire is later than planned by a part of this, the same for the same fire: 90s 10m. The schedule time stays as planned."`
	Misfire  *ScheduleMisfire  `json:"misfire,omitempty" doc:"What becomes of fires for whose moment no master was there; absent is the latest of them."`
	Overlap  string            `json:"overlap,omitempty" enum:"allow,wait,skip,replace" doc:"What a fire does while an instance of the schedule has not ended: start all the same (absent), wait for its end, be skipped, or stop it and start."`

	Params      map[string]Text `json:"params,omitempty" maxProperties:"1000" doc:"Values of declared parameters."`
	WorkerGroup string          `json:"worker_group,omitempty" maxLength:"512" doc:"For tasks that name none."`
	Priority    string          `json:"priority,omitempty" enum:"highest,high,medium,low,lowest"`
	OnFailure   string          `json:"on_failure,omitempty" enum:"continue,end,compensate" doc:"Instead of the definition's."`
	DryRun      bool            `json:"dry_run,omitempty" doc:"Go through the graph without running a task."`
}

// ScheduleCalendar says on which days a schedule fires.
type ScheduleCalendar struct {
	Skip     []string `json:"skip,omitempty" maxItems:"20" doc:"Calendars of the project on whose days it does not fire."`
	Only     []string `json:"only,omitempty" maxItems:"20" doc:"Calendars on whose days alone it fires, all of them. business_days is always there: Monday to Friday."`
	Excluded string   `json:"excluded,omitempty" enum:"skip,next,previous" doc:"What becomes of a fire on a day that is left out: it is skipped (absent), or moved to the same time of the next or previous day that counts."`
}

// ScheduleMisfire is the policy for late fires.
type ScheduleMisfire struct {
	Policy string `json:"policy" enum:"all,latest,none" doc:"Which of those that are late together still fire."`
	Max    int    `json:"max,omitempty" minimum:"0" maximum:"10000" doc:"Of all: at most so many, the newest; absent is 100."`
	MaxAge string `json:"max_age,omitempty" maxLength:"32" doc:"None that is later than this: 90s 10m 2h."`
	Grace  string `json:"grace,omitempty" maxLength:"32" doc:"What is no later than this is not late; absent is 30s."`
}

// PlannedFire is one fire that the rules of a schedule plan.
type PlannedFire struct {
	At      Time   `json:"at" doc:"The moment that it is planned for: the schedule time of its instance."`
	Due     Time   `json:"due" doc:"When it starts: the moment and its jitter."`
	Local   string `json:"local" format:"date-time" doc:"The moment in the timezone, with its offset."`
	Mark    string `json:"mark,omitempty" enum:"gap,repeated" doc:"gap: the clock leaves the time out, and this is the first instant after it. repeated: the clock shows this time twice."`
	LeftOut string `json:"left_out,omitempty" doc:"With gap: the time that the clock leaves out, such as 02:30:00."`
	Skip    string `json:"skip,omitempty" doc:"The rule that leaves it out: calendar."`
}

type previewSchedule struct {
	ProjectPath
	Body struct {
		ScheduleRules
		Workflow string `json:"workflow,omitempty" maxLength:"512" doc:"Check it against this workflow too: its parameters, and that a version is published."`
		Schedule ID     `json:"id,omitempty" doc:"Of an existing schedule: its jitter is shown."`
		From     Time   `json:"from,omitempty" doc:"Fires later than this; absent is now."`
		N        int    `json:"n,omitempty" minimum:"0" maximum:"100" doc:"How many fires; absent is 5."`
	}
}

// Usual is how long an instance of a schedule's workflow takes. Where that is longer than the time between two fires, they meet.
type Usual struct {
	MedianMs int64 `json:"median_ms,omitempty" doc:"Of the workflow's last successes; absent where there is none, or no workflow is named."`
	Samples  int   `json:"samples,omitempty" doc:"How many successes the median is of, 20 at most."`
}

// SchedulePreview is what a schedule's document means.
type SchedulePreview struct {
	Usual
	Timezone string `json:"timezone"`
	ScheduleCron
	Next []PlannedFire `json:"next" nullable:"false" doc:"The next fires; those that a calendar leaves out are among them, at most 20 in a row."`
}

type schedulePreviewAnswer struct{ Body SchedulePreview }

func rulesFace(spec schedule.Spec) ScheduleRules {
	out := ScheduleRules{
		Cron: spec.Cron, Dialect: spec.Dialect, At: spec.At, Timezone: spec.Timezone, Start: spec.Start, End: spec.End, Jitter: spec.Jitter,
		Overlap: string(spec.Overlap), WorkerGroup: spec.WorkerGroup, Priority: spec.Priority, OnFailure: string(spec.OnFailure), DryRun: spec.DryRun,
	}
	out.After, out.Webhook = afterFace(spec.After), webhookFace(spec.Webhook)
	if c := spec.Calendar; c != nil {
		out.Calendar = &ScheduleCalendar{Skip: c.Skip, Only: c.Only, Excluded: c.Excluded}
	}
	if m := spec.Misfire; m != nil {
		out.Misfire = &ScheduleMisfire{Policy: string(m.Policy), Max: m.Max, MaxAge: m.MaxAge, Grace: m.Grace}
	}
	if len(spec.Params) > 0 {
		out.Params = make(map[string]Text, len(spec.Params))
		for name, value := range spec.Params {
			out.Params[name] = Text(value)
		}
	}
	return out
}

func (r *ScheduleRules) spec() schedule.Spec {
	out := schedule.Spec{
		Cron: r.Cron, Dialect: r.Dialect, At: r.At, Timezone: r.Timezone, Start: r.Start, End: r.End, Jitter: r.Jitter,
		Overlap: schedule.Overlap(r.Overlap), Params: startParams(r.Params), WorkerGroup: r.WorkerGroup, Priority: r.Priority,
		OnFailure: dag.OnFailure(r.OnFailure), DryRun: r.DryRun,
	}
	out.After, out.Webhook = r.After.spec(), r.Webhook.spec()
	if c := r.Calendar; c != nil {
		out.Calendar = &schedule.CalendarRule{Skip: c.Skip, Only: c.Only, Excluded: c.Excluded}
	}
	if m := r.Misfire; m != nil {
		out.Misfire = &schedule.Misfire{Policy: schedule.Late(m.Policy), Max: m.Max, MaxAge: m.MaxAge, Grace: m.Grace}
	}
	return out
}

// scheduleCheck checks documents against what there is in their project.
type scheduleCheck struct {
	server    *Server
	calendars map[string]schedule.Calendar
	found     map[string]int64  // workflows whose ends are waited for, as schedules name them
	before    map[int64][]int64 // by workflow, those whose ends start it by a schedule that was checked
}

func (s *Server) newScheduleCheck(ctx context.Context, projectID int64) (*scheduleCheck, error) {
	calendars, err := s.store.ScheduleCalendars(ctx, projectID)
	return &scheduleCheck{server: s, calendars: calendars, found: map[string]int64{}, before: map[int64][]int64{}}, err
}

// of returns everything that is wrong with a schedule of a workflow.
func (c *scheduleCheck) of(ctx context.Context, w sql.Workflow, rules ScheduleRules) ([]dag.FieldError, error) {
	spec := rules.spec()
	_, wrong := spec.Compile(0, c.calendars, c.server.cfg.LeastInterval)
	if rules.After != nil && len(wrong) == 0 {
		var err error
		if wrong, err = c.after(ctx, w, &rules); err != nil {
			return nil, err
		}
	}
	if w.Published == 0 {
		return append(wrong, notPublished(http.StatusUnprocessableEntity).Errors...), nil
	}
	plan, err := c.server.plans.get(ctx, w.ID, w.Published)
	if err != nil {
		return nil, fmt.Errorf("read version %d of workflow %d: %w", w.Published, w.ID, err)
	}
	if spec.Webhook != nil && len(wrong) == 0 {
		if wrong, err = c.webhook(ctx, w, spec.Webhook, plan.Definition); err != nil {
			return nil, err
		}
	}
	return append(wrong, withoutGiven(dag.CheckParams(plan.Definition, spec.Params), spec.Webhook)...), nil
}

// never returns what keeps an enabled schedule from ever firing, where it is new. One that is there may be changed all the
// same: it has fired, and who reads it is told that it is over.
func (c *scheduleCheck) never(ctx context.Context, w sql.Workflow, name string, rules ScheduleRules, enabled *bool) ([]dag.FieldError, error) {
	if enabled != nil && !*enabled {
		return nil, nil
	}
	wrong := rules.spec().NeverAgain(c.server.at(), c.calendars)
	if wrong == nil {
		return nil, nil
	}
	_, err := c.server.store.Schedule(ctx, w.ID, name)
	if errors.Is(err, sql.ErrNotFound) {
		return []dag.FieldError{*wrong}, nil
	}
	return nil, err
}

// maxLeftOut is how many fires in a row that a calendar leaves out are shown before the next that it does not.
const maxLeftOut = 20

// plannedFires are the next n fires after a moment, and among them what calendars leave out, some of it.
func plannedFires(plan *schedule.Plan, after dag.Millis, n int) []PlannedFire {
	out := []PlannedFire{}
	for fired, left := 0, 0; fired < n; {
		next := plan.Next
		if left == maxLeftOut {
			next = plan.NextOn
		}
		f, ok := next(after)
		if !ok {
			break
		}
		out = append(out, plannedFace(plan, f))
		if after = f.At; f.Skip == "" {
			fired, left = fired+1, 0
		} else {
			left++
		}
	}
	return out
}

func plannedFace(plan *schedule.Plan, f schedule.Fire) PlannedFire {
	mark, leftOut := plan.Mark(f.At)
	return PlannedFire{
		At: Time(f.At), Due: Time(f.Due), Local: f.At.Time().In(plan.Location()).Format(time.RFC3339), Mark: string(mark), LeftOut: leftOut, Skip: f.Skip,
	}
}

func (s *Server) previewSchedule(ctx context.Context, in *previewSchedule) (*schedulePreviewAnswer, error) {
	c := callOf(ctx)
	check, err := s.newScheduleCheck(ctx, c.project.ID)
	if err != nil {
		return nil, err
	}
	plan, wrong := in.Body.spec().Compile(int64(in.Body.Schedule), check.calendars, s.cfg.LeastInterval)
	var usual Usual
	if in.Body.Workflow != "" {
		w, err := s.store.Workflow(ctx, c.project.ID, in.Body.Workflow)
		if err != nil {
			return nil, fmt.Errorf("read workflow: %w", err)
		}
		if wrong, err = check.of(ctx, w, in.Body.ScheduleRules); err != nil {
			return nil, err
		}
		if usual, err = s.usual(ctx, w.ID); err != nil {
			return nil, err
		}
	}
	wrong = append(wrong, fromErrors(dag.Millis(in.Body.From))...)
	if len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	after, n := dag.Millis(in.Body.From), in.Body.N
	if after == 0 {
		after = s.at()
	}
	if n == 0 {
		n = 5
	}
	return &schedulePreviewAnswer{Body: SchedulePreview{Usual: usual, Timezone: plan.Location().String(), ScheduleCron: cronOf(in.Body.spec()), Next: plannedFires(plan, after, n)}}, nil
}

func (s *Server) usual(ctx context.Context, workflowID int64) (Usual, error) {
	took, err := s.store.Took(ctx, workflowID)
	return Usual{MedianMs: sql.Median(took).Milliseconds(), Samples: len(took)}, err
}

// ScheduleCron is what a schedule's cron means; nothing where it has none, or one that can't be read any more.
type ScheduleCron struct {
	Words   *CronWords   `json:"words,omitempty" doc:"Its cron, where it has one."`
	Reading *CronReading `json:"reading,omitempty" doc:"By which rules its cron is read, and why by those, where it has one."`
}

func cronOf(spec schedule.Spec) ScheduleCron {
	expression, err := cron.Parse(spec.Cron, cron.Dialect(spec.Dialect))
	if spec.Cron == "" || err != nil {
		return ScheduleCron{}
	}
	reading := readingOf(expression, spec.Dialect)
	return ScheduleCron{&CronWords{expression.Words(cron.English), expression.Words(cron.Chinese)}, &reading}
}

// fromErrors holds a moment named from to the bounds of schedule times.
func fromErrors(from dag.Millis) []dag.FieldError {
	wrong := scheduleTimeErrors(from)
	for i := range wrong {
		wrong[i].Field = "from"
	}
	return wrong
}
