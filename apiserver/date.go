package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/interval"
)

// DateValue is one date of a dependent task with the runs that it means at a moment.
type DateValue struct {
	Name      string         `json:"name"`
	Cycle     interval.Cycle `json:"cycle" enum:"hour,day,week,month"`
	About     string         `json:"about" doc:"What it means, in English."`
	Intervals []DateInterval `json:"intervals" nullable:"false" doc:"A run belongs to the interval that its moment is in; in each of them one must have succeeded."`
}

// DateInterval is a stretch of time: from belongs to it, to does not.
type DateInterval struct {
	From string `json:"from" format:"date-time" doc:"With the offset of the timezone at that moment."`
	To   string `json:"to" format:"date-time"`
}

// DateList is all date values at a moment.
type DateList struct {
	At       Time        `json:"at"`
	Timezone string      `json:"timezone"`
	Items    []DateValue `json:"items" nullable:"false" doc:"By cycle, in the order in which a form shows them."`
}

type listDates struct {
	At       string `query:"at" maxLength:"64" doc:"The schedule time that dates are reckoned from, RFC 3339; absent is now."`
	Timezone string `query:"timezone" maxLength:"64" doc:"Whose calendar it is, as an IANA name; absent is UTC."`
}

type dateListAnswer struct{ Body DateList }

func (s *Server) dateRoutes() {
	add(s, spec{
		id: "list-dates", method: "GET", path: "/dates", tag: "workflows", summary: "Say which intervals the dates of dependent tasks mean at a schedule time",
		access: access{object: noObject},
	}, s.listDates)
}

func (s *Server) listDates(_ context.Context, in *listDates) (*dateListAnswer, error) {
	loc, wrong := location(in.Timezone)
	at := s.at()
	if in.At != "" {
		var err error
		if at, err = parseTime(in.At); err != nil {
			wrong = append(wrong, dag.FieldError{Field: "at", Code: document.CodeInvalid, Value: shown(in.At), Message: err.Error()})
		}
		for _, e := range scheduleTimeErrors(at) {
			e.Field = "at"
			wrong = append(wrong, e)
		}
	}
	if len(wrong) > 0 {
		return nil, problem(http.StatusBadRequest, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	out := DateList{At: Time(at), Timezone: loc.String(), Items: []DateValue{}}
	for _, name := range interval.Names() {
		intervals, err := interval.Of(name, time.UnixMilli(int64(at)).In(loc))
		if err != nil {
			return nil, fmt.Errorf("reckon date %s: %w", name, err)
		}
		value := DateValue{Name: name, Cycle: interval.CycleOf(name), About: interval.About(name), Intervals: make([]DateInterval, len(intervals))}
		for i, one := range intervals {
			value.Intervals[i] = DateInterval{one.From.Format(time.RFC3339), one.To.Format(time.RFC3339)}
		}
		out.Items = append(out.Items, value)
	}
	return &dateListAnswer{Body: out}, nil
}
