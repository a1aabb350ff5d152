package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

type explainSchedule struct {
	SchedulePath
	At string `query:"at" maxLength:"64" doc:"Explain this moment instead, RFC 3339: what became of its fire, or why there is none."`
}

// fireSentences say what became of a fire, by its reason, or by its state where that is all.
var fireSentences = map[string]string{
	string(schedule.Planned):   "it is planned",
	string(schedule.Waiting):   "it waits for the end of the instance before it",
	string(schedule.Fired):     "it fired",
	string(schedule.Duplicate): "its instance was there already",
	string(schedule.Skipped):   "it was skipped",
	string(schedule.Missed):    "no master was there",
	schedule.ReasonCalendar:    "a calendar leaves the day out",
	schedule.ReasonNone:        "no master was there, and late fires are let go",
	schedule.ReasonOlder:       "no master was there, and only the latest of the late fires was run",
	schedule.ReasonMax:         "no master was there, and more late fires than the policy's max were newer",
	schedule.ReasonAge:         "no master was there, and it was later than the policy's max_age",
	schedule.ReasonOverlap:     "an instance of the schedule had not ended",
	schedule.ReasonNewer:       "it waited for the instance before it, and a newer fire took its turn",
	schedule.ReasonPaused:      "the schedule was paused when it was due",
	sql.ReasonUnpublished:      "no version of the workflow was published",
	schedule.ReasonChanged:     "the schedule was changed when it was due",
}

func (s *Server) explainSchedule(ctx context.Context, in *explainSchedule) (*explanationAnswer, error) {
	sch, err := s.scheduleOf(ctx, in.Schedule)
	if err != nil {
		return nil, err
	}
	calendars, err := s.store.ScheduleCalendars(ctx, sch.ProjectID)
	if err != nil {
		return nil, err
	}
	plan, wrong := sch.Spec.Compile(sch.ID, calendars, 0)
	if in.At != "" {
		return s.explainFire(ctx, sch, plan, in.At)
	}
	e := Explanation{Code: "schedule_fires"}
	var next, first schedule.Fire
	var fires, ever bool
	if plan != nil {
		next, fires = plan.NextOn(s.at())
		first, ever = plan.Next(s.at())
	}
	switch {
	case !sch.Enabled:
		e = paused(sch)
	case callOf(ctx).workflow.Published == 0:
		e = Explanation{Code: "schedule_unpublished", Text: "no version of the workflow is published: there is nothing to start"}
	case plan == nil:
		e = Explanation{Code: "schedule_broken", Text: "its rules can't be read any more: " + wrong[0].Error(), Args: brokenArgs(wrong[0])}
	case sch.Spec.After != nil:
		if e, err = s.explainAfter(ctx, sch); err != nil {
			return nil, err
		}
	case sch.Spec.Webhook != nil:
		if e, err = s.explainWebhook(ctx, sch); err != nil {
			return nil, err
		}
	case !ever:
		e = Explanation{Code: "schedule_ended", Text: "it never fires again by its rules"}
	case !fires:
		e = Explanation{Code: "schedule_left_out", Text: "calendars leave out all of its fires for years"}
	default:
		at := plannedFace(plan, next).Local
		e.Text, e.Args = "it fires next at "+at, map[string]string{"at": at}
	}
	if ever && first.Skip != "" && sch.Enabled {
		at := plannedFace(plan, first).Local
		e.Causes = append(e.Causes, Explanation{Code: "schedule_calendar", Text: "a calendar leaves out the fires before that, the first at " + at, Args: map[string]string{"at": at}})
	}
	if err := s.addLastFire(ctx, sch, &e); err != nil {
		return nil, err
	}
	return &explanationAnswer{Body: e}, nil
}

// brokenArgs name what is wrong, for who says it in another language.
func brokenArgs(wrong dag.FieldError) map[string]string {
	return map[string]string{"field": wrong.Field, "code": wrong.Code, "value": wrong.Value, "column": strconv.Itoa(max(1, wrong.Column))}
}

func paused(sch sql.Schedule) Explanation {
	e := Explanation{Code: "schedule_paused", Text: "it was paused by " + sch.ChangedBy, Since: Time(sch.ChangedAt), Args: map[string]string{"by": sch.ChangedBy}}
	if sch.Why != "" {
		e.Text, e.Args["reason"] = e.Text+": "+sch.Why, sch.Why
	}
	return e
}

// addLastFire says what became of the latest fire of the last day.
func (s *Server) addLastFire(ctx context.Context, sch sql.Schedule, e *Explanation) error {
	now := s.at()
	var last sql.Fire
	// The last minute first, then hour by hour: one that fires each second has no more than 3,600 in any of them.
	for from, to := now.Add(-time.Minute), now; last.At == 0 && now-to < defaultFires; from, to = from.Add(-time.Hour), from {
		rows, err := s.firesBetween(ctx, sch.ID, from, to)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			last = rows[len(rows)-1]
		}
	}
	if last.At != 0 {
		cause := fireExplanation(last)
		cause.Args["at"] = last.At.Time().Format(time.RFC3339)
		cause.Text = "of the last fire, at " + last.At.Time().Format(time.RFC3339) + ": " + cause.Text
		e.Causes = append(e.Causes, cause)
	}
	return nil
}

func fireExplanation(f sql.Fire) Explanation {
	e := Explanation{Code: "fire_" + string(f.State), Text: fireSentences[string(f.State)], Since: Time(f.FiredAt), Args: map[string]string{}}
	if f.Reason != "" {
		e.Args["reason"] = f.Reason
		if e.Text = fireSentences[f.Reason]; e.Text == "" {
			e.Text = f.Reason
		}
	}
	if f.After != 0 {
		e.Args["after_instance"] = fmt.Sprint(f.After)
		e.Text = fmt.Sprintf("for the end of instance %d: ", f.After) + e.Text
	}
	if f.Call != "" {
		e.Args["call"] = f.Call
		e.Text = "for the call " + f.Call + ": " + e.Text
	}
	if f.Instance != 0 {
		e.Args["instance"] = fmt.Sprint(f.Instance)
		if f.State == schedule.Fired {
			e.Text += fmt.Sprintf(", and started instance %d", f.Instance)
		} else {
			e.Text += fmt.Sprintf("; instance %d was started in its place", f.Instance)
		}
	}
	return e
}

// explainFire says what became of one moment.
func (s *Server) explainFire(ctx context.Context, sch sql.Schedule, plan *schedule.Plan, text string) (*explanationAnswer, error) {
	at, err := parseTime(text)
	if err != nil {
		return nil, wrongField(http.StatusBadRequest, "at", "invalid_time", text, "%v", err)
	}
	rows, _, err := s.store.Fires(ctx, sch.ID, at, at+1, "", sql.Page{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("read fires: %w", err)
	}
	if len(rows) > 0 {
		return &explanationAnswer{Body: fireExplanation(rows[0])}, nil
	}
	e := Explanation{Code: "fire_unknown", Text: "there is no fire of this moment: the rules of today don't name it"}
	if plan != nil {
		if f, ok := plan.Next(at - 1); ok && f.At == at {
			e = Explanation{Code: "fire_unplanned", Text: "the rules name it, and it is not planned"}
			switch {
			case !sch.Enabled:
				e.Causes = []Explanation{paused(sch)}
			case at >= sch.PlannedUntil:
				e.Code, e.Text = "fire_foretold", "the rules name it; its turn to be planned comes shortly before"
			case at < sch.ChangedAt:
				e.Causes = []Explanation{{
					Code: "schedule_changed", Since: Time(sch.ChangedAt), Args: map[string]string{"by": sch.ChangedBy},
					Text: "the schedule was changed, paused or resumed by " + sch.ChangedBy + " since",
				}}
			}
		}
	}
	return &explanationAnswer{Body: e}, nil
}
