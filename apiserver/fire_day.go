package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"time"

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
}

type fireDaysAnswer struct{ Body FireDays }

func (s *Server) listFireDays(ctx context.Context, in *listFireDays) (*fireDaysAnswer, error) {
	from, to, err := in.moments(s.at())
	if err != nil {
		return nil, err
	}
	if to.Sub(from) > maxFireDays*24*time.Hour {
		return nil, wrongField(http.StatusBadRequest, "to", "out_of_range", in.To, "is more than %d days after from", maxFireDays)
	}
	sch, err := s.scheduleOf(ctx, in.Schedule)
	if err != nil {
		return nil, err
	}
	counts, err := s.store.CountFires(ctx, sch.ID, from, to)
	if err != nil {
		return nil, err
	}
	loc, wrong := location(sch.Spec.Timezone)
	if len(wrong) > 0 {
		loc = time.UTC // a zone that this binary does not know any more: explain says so
	}
	return &fireDaysAnswer{Body: FireDays{Timezone: loc.String(), Days: fireDays(counts, loc)}}, nil
}

// fireDays adds counts, the oldest first, up to the days of a timezone.
func fireDays(counts []sql.FireCount, loc *time.Location) []FireDay {
	out, at, late := []FireDay{}, map[string]int{}, []int64{}
	for _, c := range counts {
		// The sum of a day of UTC stays that of the date.
		day := c.At.Time().In(loc).Format(time.DateOnly)
		if c.Pruned {
			day = c.At.Time().UTC().Format(time.DateOnly)
		}
		i, ok := at[day]
		if !ok {
			i = len(out)
			at[day] = i
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
