package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// maxFireDays bounds the days of one answer: a leap year, and the days at its ends that another zone cuts in two.
const maxFireDays = 370

// FireDay is what became of a schedule's fires of one day.
type FireDay struct {
	Day      string           `json:"day" format:"date"`
	States   map[string]int64 `json:"states" nullable:"false" doc:"How many fires are in each state."`
	MeanLate int64            `json:"mean_late_ms,omitempty" doc:"How much later than due those fired that did, on average."`
	Pruned   int64            `json:"pruned,omitempty" doc:"How many of them are left as the sums of their day (UTC) alone."`
}

// FireDays are the days on which a schedule has fires.
type FireDays struct {
	Timezone string    `json:"timezone" doc:"The schedule's, whose days these are."`
	Days     []FireDay `json:"days" nullable:"false" doc:"The oldest first; a day without fires is left out."`
}

type listFireDays struct {
	SchedulePath
	FireRange
	Span string `query:"span" pattern:"^[0-9]{4}(-[0-9]{2})?$" doc:"A year, 2026, or a month, 2026-03, of the schedule's timezone, in place of from and to: who asks need not know the timezone."`
}

type fireDaysAnswer struct{ Body FireDays }

func (s *Server) listFireDays(ctx context.Context, in *listFireDays) (*fireDaysAnswer, error) {
	if in.Span != "" && in.From+in.To != "" {
		return nil, wrongField(http.StatusBadRequest, "span", "excludes", in.Span, "goes without from and to")
	}
	from, to, err := in.moments(s.at())
	if err != nil {
		return nil, err
	}
	sch, err := s.scheduleOf(ctx, in.Schedule)
	if err != nil {
		return nil, err
	}
	loc, wrong := location(sch.Spec.Timezone)
	if len(wrong) > 0 {
		loc = time.UTC // a zone that this binary does not know any more: explain says so
	}
	if in.Span != "" {
		if from, to, err = spanOf(in.Span, loc); err != nil {
			return nil, err
		}
	}
	if to.Sub(from) > maxFireDays*24*time.Hour {
		return nil, wrongField(http.StatusBadRequest, "to", "out_of_range", in.To, "is more than %d days after from", maxFireDays)
	}
	counts, err := s.store.CountFires(ctx, sch.ID, stretchesOf(from, to, loc))
	if err != nil {
		return nil, err
	}
	return &fireDaysAnswer{Body: FireDays{Timezone: loc.String(), Days: fireDays(counts)}}, nil
}

// spanOf is where a year or a month of a clock begins and ends.
func spanOf(text string, loc *time.Location) (from, to dag.Millis, err error) {
	months, layout := 12, "2006"
	if len(text) > len(layout) {
		months, layout = 1, "2006-01"
	}
	at, err := time.Parse(layout, text)
	if err != nil || at.Year() < 1970 || at.Year() > 2199 {
		return 0, 0, wrongField(http.StatusBadRequest, "span", "invalid_date", text, "is not a year or a month from 1970 to 2199")
	}
	return dag.MillisOf(midnightOf(at.Year(), at.Month(), 1, loc)), dag.MillisOf(midnightOf(at.Year(), at.Month()+time.Month(months), 1, loc)), nil
}

// maxStretches bounds the changes of a clock within a span: no zone has had more in a year.
const maxStretches = 16

// stretchesOf cuts a time where a clock changes its offset.
func stretchesOf(from, to dag.Millis, loc *time.Location) (out []sql.FireStretch) {
	for from < to {
		at := from.Time().In(loc)
		_, offset := at.Zone()
		_, change := at.ZoneBounds()
		end := to
		if !change.IsZero() && len(out) < maxStretches-1 {
			end = min(to, dag.MillisOf(change))
		}
		out = append(out, sql.FireStretch{From: from, To: end, Offset: int64(offset) * 1000})
		from = end
	}
	return out
}

// fireDays adds counts, the oldest day first, up to days.
func fireDays(counts []sql.FireCount) []FireDay {
	out, late := []FireDay{}, []int64{}
	for _, c := range counts {
		day := time.Unix(c.Day*86_400, 0).UTC().Format(time.DateOnly)
		i := len(out) - 1
		if i < 0 || out[i].Day != day {
			i++
			out, late = append(out, FireDay{Day: day, States: map[string]int64{}}), append(late, 0)
		}
		out[i].States[string(c.State)] += c.Fires
		late[i] += c.LateMs
		if c.Pruned {
			out[i].Pruned += c.Fires
		}
	}
	for i := range out {
		if fired := out[i].States[string(schedule.Fired)]; fired > 0 {
			out[i].MeanLate = late[i] / fired
		}
	}
	return out
}

// lastFires are the latest outcomes of schedules, as they are shown.
func (s *Server) lastFires(ctx context.Context, rows []sql.Schedule) (map[int64]*Fire, error) {
	ids := make([]int64, len(rows))
	for i, sch := range rows {
		ids[i] = sch.ID
	}
	fires, err := s.store.LastFires(ctx, ids, s.at())
	if err != nil {
		return nil, fmt.Errorf("list schedules: %w", err)
	}
	out := make(map[int64]*Fire, len(fires))
	for id, f := range fires {
		face := fireFace(f)
		out[id] = &face
	}
	return out, nil
}
