package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/porpoise/porpoise/dag/schedule"
)

// Schedule starts instances of a workflow at the moments that it says.
type Schedule struct {
	ID       string `json:"id"`
	Project  string `json:"project"`
	Workflow string `json:"workflow"`
	Name     string `json:"name"`
	schedule.Spec
	Enabled   bool          `json:"enabled"`
	Why       string        `json:"why,omitempty"`
	Revision  int64         `json:"revision"`
	NextAt    Time          `json:"next_at,omitzero"`
	CreatedBy string        `json:"created_by"`
	CreatedAt Time          `json:"created_at"`
	ChangedBy string        `json:"changed_by"`
	ChangedAt Time          `json:"changed_at"`
	Next      []PlannedFire `json:"next,omitempty"` // of one schedule alone
}

// PlannedFire is one fire that the rules of a schedule plan.
type PlannedFire struct {
	At      Time   `json:"at"`
	Due     Time   `json:"due"`
	Local   string `json:"local"`
	Mark    string `json:"mark,omitempty"`
	LeftOut string `json:"left_out,omitempty"`
	Skip    string `json:"skip,omitempty"`
}

// Fire is one moment of a schedule as the ledger has it.
type Fire struct {
	At         Time           `json:"at"`
	Due        Time           `json:"due"`
	State      schedule.State `json:"state"`
	Reason     string         `json:"reason,omitempty"`
	InstanceID string         `json:"instance_id,omitempty"`
	FiredAt    Time           `json:"fired_at,omitzero"`
	LateMS     int64          `json:"late_ms,omitempty"`
	Revision   int64          `json:"revision"`
	Master     string         `json:"master,omitempty"`
	Epoch      int64          `json:"epoch,omitempty"`
	AfterID    string         `json:"after_instance_id,omitempty"` // the instance whose end it is
	Call       string         `json:"call,omitempty"`              // the call whose fire it is
}

// ScheduleProof adds up what became of a schedule's fires.
type ScheduleProof struct {
	From       Time                     `json:"from"`
	To         Time                     `json:"to"`
	Verdict    string                   `json:"verdict"` // holds, fails or unproven
	Holds      bool                     `json:"holds"`
	Planned    int64                    `json:"planned"`
	Outcomes   map[schedule.State]int64 `json:"outcomes"`
	Open       int64                    `json:"open"`
	MeanLateMS int64                    `json:"mean_late_ms"`
	Pruned     int64                    `json:"pruned"`
	Retired    int64                    `json:"retired"`
	Compared   bool                     `json:"compared"`
	Why        string                   `json:"why,omitempty"`
	Since      Time                     `json:"since,omitzero"`
	Until      Time                     `json:"until,omitzero"`
	Missing    []Time                   `json:"missing"`
	Unexpected []Time                   `json:"unexpected"`
	NoInstance []Time                   `json:"no_instance"`
	NoFire     []Time                   `json:"no_fire"`
	WrongDays  []ProofDay               `json:"wrong_days"`
}

// ProofDay is a day of pruned fires that has others than the rules name.
type ProofDay struct {
	Day     string `json:"day"`
	Planned int64  `json:"planned"`
	Counted int64  `json:"counted"`
}

// Calendar is a named set of days of a project.
type Calendar struct {
	Name      string   `json:"name"`
	Days      []string `json:"days"`
	ChangedBy string   `json:"changed_by"`
	ChangedAt Time     `json:"changed_at"`
}

// ScheduleFilter says which schedules are wanted; an empty field asks for nothing.
type ScheduleFilter struct {
	Project, Workflow, Text string
	Enabled                 string // true or false
	Limit                   int    // 0 is all
}

// EnableSchedules pauses or resumes what a filter wants.
type EnableSchedules struct {
	Workflow string `json:"workflow,omitempty"`
	Text     string `json:"q,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Preview  bool   `json:"preview,omitempty"`
}

// Enabled counts what a pause or a resume of many was about.
type Enabled struct {
	Matched int `json:"matched"`
	Changed int `json:"changed"`
}

// SavedSchedules counts what a save of many was about.
type SavedSchedules struct {
	Created int `json:"created"`
	Changed int `json:"changed"`
}

func schedulePath(project, workflow, name string, more ...string) []string {
	return append([]string{"projects", project, "workflows", workflow, "schedules", name}, more...)
}

// Schedules lists the schedules that a filter wants.
func (c *Client) Schedules(ctx context.Context, f ScheduleFilter) ([]Schedule, error) {
	query := url.Values{}
	for name, value := range map[string]string{"project": f.Project, "workflow": f.Workflow, "q": f.Text, "enabled": f.Enabled} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return all[Schedule](ctx, c, call{method: http.MethodGet, path: []string{"schedules"}, query: query}, f.Limit)
}

// Schedule reads one schedule with its next n fires.
func (c *Client) Schedule(ctx context.Context, project, workflow, name string, n int) (Schedule, error) {
	var out Schedule
	_, err := c.do(ctx, call{method: http.MethodGet, path: schedulePath(project, workflow, name), query: url.Values{"n": {strconv.Itoa(n)}}}, &out)
	return out, err
}

// CheckSchedules has the server check schedules and calendars together, and saves nothing: where one is wrong, the error
// names it.
func (c *Client) CheckSchedules(ctx context.Context, project string, doc *schedule.Document) error {
	body := map[string]any{"schedules": doc.Schedules, "calendars": doc.Calendars, "preview": true}
	_, err := c.do(ctx, call{method: http.MethodPut, path: []string{"projects", project, "schedules"}, body: body}, &SavedSchedules{})
	return err
}

// PutSchedules makes or changes many schedules of a project: where one is wrong, or is not saved, none is.
func (c *Client) PutSchedules(ctx context.Context, project string, list []schedule.Named) (SavedSchedules, error) {
	var out SavedSchedules
	body := map[string]any{"schedules": list, "together": true}
	_, err := c.do(ctx, call{method: http.MethodPut, path: []string{"projects", project, "schedules"}, body: body}, &out)
	return out, err
}

// DeleteSchedule deletes a schedule; its instances stay.
func (c *Client) DeleteSchedule(ctx context.Context, project, workflow, name string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: schedulePath(project, workflow, name)}, nil)
	return err
}

// EnableSchedule pauses or resumes a schedule: verb is pause or resume.
func (c *Client) EnableSchedule(ctx context.Context, project, workflow, name, verb, reason string) (Schedule, error) {
	in := call{method: http.MethodPost, path: schedulePath(project, workflow, name, verb)}
	if reason != "" {
		in.body = map[string]string{"reason": reason}
	}
	var out Schedule
	_, err := c.do(ctx, in, &out)
	return out, err
}

// EnableSchedules pauses or resumes what a filter wants of a project: verb is pause or resume.
func (c *Client) EnableSchedules(ctx context.Context, project, verb string, wish EnableSchedules) (Enabled, error) {
	var out Enabled
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"projects", project, "schedules", verb}, body: wish}, &out)
	return out, err
}

// TriggerSchedule starts an instance now, as a fire would, and returns its id.
func (c *Client) TriggerSchedule(ctx context.Context, project, workflow, name string) (string, error) {
	var out struct {
		InstanceID string `json:"instance_id"`
	}
	_, err := c.do(ctx, call{method: http.MethodPost, path: schedulePath(project, workflow, name, "trigger")}, &out)
	return out.InstanceID, err
}

// RanFires is what became of a wish to run fires that were missed or skipped.
type RanFires struct {
	Fires []struct {
		At         Time   `json:"at"`
		InstanceID string `json:"instance_id"`
		Started    bool   `json:"started"`
	} `json:"fires"`
	LeftOut []Time `json:"left_out"`
}

// RunFires starts the instances of fires that were missed or skipped; what has one keeps it.
func (c *Client) RunFires(ctx context.Context, project, workflow, name string, at []string) (RanFires, error) {
	var out RanFires
	body := map[string]any{"at": at}
	_, err := c.do(ctx, call{method: http.MethodPost, path: schedulePath(project, workflow, name, "fires", "run"), body: body}, &out)
	return out, err
}

// Fires lists what became of the fires of a schedule between two moments; "" is the server's choice.
func (c *Client) Fires(ctx context.Context, project, workflow, name, from, to, state string, limit int) ([]Fire, error) {
	return all[Fire](ctx, c, call{method: http.MethodGet, path: schedulePath(project, workflow, name, "fires"), query: between(from, to, "state", state)}, limit)
}

// ProveSchedule adds up what became of the fires of a schedule between two moments.
func (c *Client) ProveSchedule(ctx context.Context, project, workflow, name, from, to string) (ScheduleProof, error) {
	var out ScheduleProof
	_, err := c.do(ctx, call{method: http.MethodGet, path: schedulePath(project, workflow, name, "proof"), query: between(from, to, "", "")}, &out)
	return out, err
}

// UnheldProof is a schedule whose proof does not hold.
type UnheldProof struct {
	Project    string `json:"project"`
	Workflow   string `json:"workflow"`
	Name       string `json:"name"`
	Verdict    string `json:"verdict"`
	Why        string `json:"why,omitempty"`
	Missing    int    `json:"missing"`
	Unexpected int    `json:"unexpected"`
	NoInstance int    `json:"no_instance"`
	NoFire     int    `json:"no_fire"`
	WrongDays  int    `json:"wrong_days"`
}

// ProofOfSchedules adds up the proofs of many schedules.
type ProofOfSchedules struct {
	From      Time                     `json:"from"`
	To        Time                     `json:"to"`
	Verdict   string                   `json:"verdict"`
	Schedules int64                    `json:"schedules"`
	Held      int64                    `json:"held"`
	Planned   int64                    `json:"planned"`
	Outcomes  map[schedule.State]int64 `json:"outcomes"`
	Open      int64                    `json:"open"`
	Pruned    int64                    `json:"pruned"`
	Retired   int64                    `json:"retired"`
	Items     []UnheldProof            `json:"items"` // those whose proof does not hold
	Next      string                   `json:"next_cursor,omitempty"`
}

// ProveSchedules adds up the proofs of all schedules of a project, "" for all that the caller may see, between two moments.
func (c *Client) ProveSchedules(ctx context.Context, project, from, to string) (ProofOfSchedules, error) {
	sum := ProofOfSchedules{Verdict: "holds", Outcomes: map[schedule.State]int64{}, Items: []UnheldProof{}}
	for cursor := ""; ; {
		query := between(from, to, "project", project)
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		var part ProofOfSchedules
		if _, err := c.do(ctx, call{method: http.MethodGet, path: []string{"schedules", "proof"}, query: query}, &part); err != nil {
			return sum, err
		}
		sum.From, sum.To = part.From, part.To
		from, to = part.From.Format(time.RFC3339Nano), part.To.Format(time.RFC3339Nano)
		if part.Verdict != "holds" && sum.Verdict != "fails" {
			sum.Verdict = part.Verdict
		}
		sum.Schedules, sum.Held, sum.Planned, sum.Open = sum.Schedules+part.Schedules, sum.Held+part.Held, sum.Planned+part.Planned, sum.Open+part.Open
		sum.Pruned, sum.Retired, sum.Items = sum.Pruned+part.Pruned, sum.Retired+part.Retired, append(sum.Items, part.Items...)
		for state, n := range part.Outcomes {
			sum.Outcomes[state] += n
		}
		if cursor = part.Next; cursor == "" {
			return sum, nil
		}
	}
}

// ExplainSchedule says why a schedule fires or does not; with a moment what became of that one.
func (c *Client) ExplainSchedule(ctx context.Context, project, workflow, name, at string) (Explanation, error) {
	var out Explanation
	_, err := c.do(ctx, call{method: http.MethodGet, path: schedulePath(project, workflow, name, "explain"), query: between("", "", "at", at)}, &out)
	return out, err
}

func between(from, to, more, value string) url.Values {
	query := url.Values{}
	for name, text := range map[string]string{"from": from, "to": to, more: value} {
		if text != "" {
			query.Set(name, text)
		}
	}
	return query
}

func calendarPath(project string, more ...string) []string {
	return append([]string{"projects", project, "calendars"}, more...)
}

// Calendars lists a project's calendars.
func (c *Client) Calendars(ctx context.Context, project string) ([]Calendar, error) {
	return all[Calendar](ctx, c, call{method: http.MethodGet, path: calendarPath(project)}, 0)
}

// PutCalendar makes a calendar, or gives it other days.
func (c *Client) PutCalendar(ctx context.Context, project, name string, days []string) (Calendar, error) {
	var out Calendar
	_, err := c.do(ctx, call{method: http.MethodPut, path: calendarPath(project, name), body: map[string][]string{"days": days}}, &out)
	return out, err
}

// DeleteCalendar deletes a calendar that no schedule asks for.
func (c *Client) DeleteCalendar(ctx context.Context, project, name string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: calendarPath(project, name)}, nil)
	return err
}

// Cron asks what a cron expression means.
type Cron struct {
	Text     string
	Dialect  string // unix or quartz; "" is by the number of fields
	Timezone string // "" is UTC
	From     string // RFC 3339; "" is now
	N        int    // how many fires; 0 is the server's choice
}

// CronPreview is what an expression means, and when it fires next.
type CronPreview struct {
	Cron        string `json:"cron"`
	Dialect     string `json:"dialect"`
	DialectFrom string `json:"dialect_from"`
	Timezone    string `json:"timezone"`
	Words       struct {
		English string `json:"en"`
		Chinese string `json:"zh-CN"`
	} `json:"words"`
	FollowsRealTime bool       `json:"follows_real_time"`
	ShortestSeconds int64      `json:"shortest_seconds"`
	Fires           []CronFire `json:"fires"`
}

// CronFire is one moment at which a schedule would fire.
type CronFire struct {
	At      Time   `json:"at"`
	Local   string `json:"local"`
	Mark    string `json:"mark,omitempty"`
	LeftOut string `json:"left_out,omitempty"`
}

// PreviewCron says what an expression means; it changes nothing.
func (c *Client) PreviewCron(ctx context.Context, p Cron) (CronPreview, error) {
	query := url.Values{"cron": {p.Text}}
	for name, value := range map[string]string{"dialect": p.Dialect, "timezone": p.Timezone, "from": p.From} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if p.N != 0 {
		query.Set("n", strconv.Itoa(p.N))
	}
	var out CronPreview
	_, err := c.do(ctx, call{method: http.MethodGet, path: []string{"schedules", "preview"}, query: query}, &out)
	return out, err
}
