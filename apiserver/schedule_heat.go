package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

const (
	// heatDays is how many days the heat of schedules shows: every pattern of weekdays once.
	heatDays = 7
	// maxHeat bounds the schedules that one answer reads: what there are more of is foretold from them.
	maxHeat = 5_000
	// maxHourFires bounds the fires that are walked of one schedule and hour: one of every 15 seconds is counted, a denser one foretold.
	maxHourFires = 240
	// maxHeatSteps bounds the fires that are walked for one answer, about a quarter of a second of work; schedules that say the same
	// are walked once.
	maxHeatSteps = 1_000_000
	// maxHeatPages bounds the pages of schedules that are looked through for those that fire in an hour.
	maxHeatPages = 50
)

// HeatDay is what schedules plan for one day.
type HeatDay struct {
	Day   string  `json:"day" format:"date"`
	Fires []int64 `json:"fires" nullable:"false" doc:"By the 24 hours of the clock; -1 is an hour that the clocks leave out, and one that they repeat has the fires of both."`
}

// ScheduleHeat is how many fires schedules plan, hour by hour, for a week.
type ScheduleHeat struct {
	Timezone  string    `json:"timezone" doc:"Whose days and hours these are."`
	Days      []HeatDay `json:"days" nullable:"false"`
	Schedules int64     `json:"schedules" doc:"How many schedules it is about, those that are paused or that no clock fires among them."`
	Walked    int64     `json:"walked" doc:"How many of them were looked at: where it is fewer, the counts are foretold from these."`
	Estimated bool      `json:"estimated" doc:"Not every fire was counted one by one: there are too many schedules, or some fire too often."`
}

// HeatOf says of which schedules, and by which clock.
type HeatOf struct {
	Project  string `query:"project" maxLength:"512" doc:"Of this project alone; absent is all that the caller may see."`
	Timezone string `query:"timezone" maxLength:"64" doc:"As an IANA name; absent is UTC."`
}

type scheduleHeat struct {
	HeatOf
	From string `query:"from" maxLength:"10" doc:"The first of seven days; absent is today."`
}

type scheduleHeatAnswer struct{ Body ScheduleHeat }

// HourSchedule is a schedule that fires within an hour.
type HourSchedule struct {
	ID        ID     `json:"id"`
	Project   string `json:"project"`
	Workflow  string `json:"workflow"`
	Name      string `json:"name"`
	Cron      string `json:"cron,omitempty" doc:"Where it has one."`
	First     Time   `json:"first" doc:"The first moment of the hour that it fires at."`
	Fires     int64  `json:"fires"`
	Estimated bool   `json:"estimated,omitempty" doc:"It fires too often to be counted one by one."`
}

type hourSchedules struct {
	HeatOf
	Paged
	Day  string `query:"day" required:"true" maxLength:"10" doc:"A date."`
	Hour int    `query:"hour" required:"true" minimum:"0" maximum:"23" doc:"Of its clock."`
}

type hourScheduleList struct{ Body List[HourSchedule] }

func (s *Server) heatRoutes() {
	add(s, spec{
		id: "heat-of-schedules", method: "GET", many: true, path: "/schedules/heat", tag: "schedules", summary: "Count the fires that schedules plan, by the hours of a week",
		access: access{object: perItem},
	}, s.scheduleHeat)
	add(s, spec{
		id: "schedules-of-hour", method: "GET", path: "/schedules/hour", tag: "schedules", summary: "List the schedules that fire within an hour; a page may be short though there are more",
		access: access{object: perItem},
	}, s.schedulesOfHour)
}

func (s *Server) scheduleHeat(ctx context.Context, in *scheduleHeat) (*scheduleHeatAnswer, error) {
	projects, loc, err := s.heatOf(ctx, &in.HeatOf)
	if err != nil {
		return nil, err
	}
	today := s.now().In(loc)
	if in.From != "" {
		if today, err = heatDay("from", in.From, loc); err != nil {
			return nil, err
		}
	}
	week := newHeatWeek(today, loc)
	list, total, err := s.store.SampleSchedules(ctx, projects, maxHeat)
	if err != nil {
		return nil, err
	}
	out := ScheduleHeat{Timezone: loc.String(), Schedules: total}
	counts, walked, exact, err := s.countHeat(ctx, list, week.bounds)
	if err != nil {
		return nil, err
	}
	out.Walked, out.Estimated = int64(walked), !exact || int64(walked) < total
	for i := range counts {
		if int64(walked) < total && walked > 0 {
			counts[i] = (counts[i]*total + int64(walked)/2) / int64(walked)
		}
	}
	out.Days = week.days(counts)
	return &scheduleHeatAnswer{Body: out}, nil
}

// heatOf are the projects that a heat is about, nil for all, and its clock.
func (s *Server) heatOf(ctx context.Context, in *HeatOf) ([]int64, *time.Location, error) {
	loc, wrong := location(in.Timezone)
	if len(wrong) > 0 {
		return nil, nil, problem(http.StatusBadRequest, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	who := callOf(ctx).who
	if in.Project == "" {
		ids, all := who.projects()
		if all {
			return nil, loc, nil
		}
		return append([]int64{}, ids...), loc, nil
	}
	p, err := s.store.Project(ctx, in.Project)
	if err == nil && who.role(p.ID) < roleViewer {
		err = sql.ErrNotFound
	}
	if errors.Is(err, sql.ErrNotFound) {
		return nil, nil, notFound()
	}
	return []int64{p.ID}, loc, err
}

func heatDay(field, text string, loc *time.Location) (time.Time, error) {
	day, err := time.ParseInLocation(time.DateOnly, text, loc)
	if err != nil || day.Year() < 1970 || day.Year() > 2199 {
		return day, wrongField(http.StatusBadRequest, field, "invalid_date", text, "is not a date like 2026-03-29, from 1970 to 2199")
	}
	return day, nil
}

// countHeat adds up what the rules of schedules plan between bounds, and how many of them it came to.
func (s *Server) countHeat(ctx context.Context, list []sql.Schedule, bounds []dag.Millis) (sums []int64, walked int, exact bool, err error) {
	type known struct {
		counts []int64
		exact  bool
	}
	calendars, same := map[int64]map[string]schedule.Calendar{}, map[string]known{}
	sums, exact = make([]int64, len(bounds)-1), true
	steps := 0
	for _, sch := range list {
		if steps >= maxHeatSteps || ctx.Err() != nil {
			break
		}
		walked++
		if !sch.Enabled || !sch.Spec.ByClock() {
			continue
		}
		project, named := int64(0), len(sch.Spec.CalendarNames()) > 0
		if named {
			project = sch.ProjectID
			if calendars[project] == nil {
				if calendars[project], err = s.store.ScheduleCalendars(ctx, project); err != nil {
					return nil, 0, false, err
				}
			}
		}
		// What says the same fires at the same moments.
		key := fmt.Sprint(project) + string(marshalJSON([]any{sch.Spec.Cron, sch.Spec.Dialect, sch.Spec.At, sch.Spec.Timezone, sch.Spec.Start, sch.Spec.End, sch.Spec.Calendar}))
		k, ok := same[key]
		if !ok {
			// One that can't be read any more fires never; explain says why.
			if plan, wrong := sch.Spec.Compile(sch.ID, calendars[project], 0); len(wrong) == 0 {
				var n int
				k.counts, n, k.exact = plan.Count(bounds, maxHourFires)
				steps += n
			}
			same[key] = k
		}
		for i, n := range k.counts {
			sums[i] += n
		}
		exact = exact && (k.exact || k.counts == nil)
	}
	return sums, walked, exact, ctx.Err()
}

// heatWeek are the hours of seven days by a clock.
type heatWeek struct {
	bounds []dag.Millis // where hours begin, and the end of the last
	at     [][2]int     // the day and the hour of each
	dates  []string
}

func newHeatWeek(first time.Time, loc *time.Location) heatWeek {
	w := heatWeek{}
	y, m, d := first.Date()
	for day := range heatDays {
		begin, end := midnightOf(y, m, d+day, loc), midnightOf(y, m, d+day+1, loc)
		w.dates = append(w.dates, time.Date(y, m, d+day, 12, 0, 0, 0, time.UTC).Format(time.DateOnly))
		// Clocks change by quarters of an hour: an hour of theirs ends where they show another.
		for at, hour := begin, -1; at.Before(end); at = at.Add(15 * time.Minute) {
			if h := at.Hour(); h != hour {
				hour = h
				w.bounds, w.at = append(w.bounds, dag.MillisOf(at)), append(w.at, [2]int{day, h})
			}
		}
	}
	w.bounds = append(w.bounds, dag.MillisOf(midnightOf(y, m, d+heatDays, loc)))
	return w
}

// midnightOf is the first moment of a date: where the clocks leave midnight out, the hour after.
func midnightOf(y int, m time.Month, d int, loc *time.Location) time.Time {
	at := time.Date(y, m, d, 0, 0, 0, 0, loc)
	for at.Day() != time.Date(y, m, d, 12, 0, 0, 0, time.UTC).Day() {
		at = at.Add(15 * time.Minute)
	}
	return at
}

// days puts the counts of the hours where the clock shows them.
func (w *heatWeek) days(counts []int64) []HeatDay {
	out := make([]HeatDay, heatDays)
	for i := range out {
		out[i] = HeatDay{Day: w.dates[i], Fires: make([]int64, 24)}
		for h := range out[i].Fires {
			out[i].Fires[h] = -1
		}
	}
	for i, n := range counts {
		cell := &out[w.at[i][0]].Fires[w.at[i][1]]
		*cell = max(*cell, 0) + n
	}
	return out
}

func (s *Server) schedulesOfHour(ctx context.Context, in *hourSchedules) (*hourScheduleList, error) {
	projects, loc, err := s.heatOf(ctx, &in.HeatOf)
	if err != nil {
		return nil, err
	}
	day, err := heatDay("day", in.Day, loc)
	if err != nil {
		return nil, err
	}
	week, spans := newHeatWeek(day, loc), [][]dag.Millis(nil)
	for i, at := range week.at {
		if at == [2]int{0, in.Hour} {
			spans = append(spans, week.bounds[i:i+2])
		}
	}
	enabled := true
	f := sql.ScheduleFilter{Enabled: &enabled}
	if in.Project != "" {
		f.ProjectID = projects[0]
	}
	page := in.page()
	most := page.Limit
	page.Limit = max(1, min(most, (most+1)/2))
	out, calendars := List[HourSchedule]{Items: []HourSchedule{}}, map[int64]map[string]schedule.Calendar{}
	for range maxHeatPages {
		rows, next, err := s.store.Schedules(ctx, f, page)
		if err != nil {
			return nil, fmt.Errorf("list schedules: %w", err)
		}
		for _, sch := range rows {
			if callOf(ctx).who.role(sch.ProjectID) < roleViewer {
				continue
			}
			if calendars[sch.ProjectID] == nil && len(sch.Spec.CalendarNames()) > 0 {
				if calendars[sch.ProjectID], err = s.store.ScheduleCalendars(ctx, sch.ProjectID); err != nil {
					return nil, err
				}
			}
			if face, ok := hourFace(sch, calendars[sch.ProjectID], spans); ok {
				out.Items = append(out.Items, face)
			}
		}
		if out.NextCursor = next; next == "" || len(out.Items)+page.Limit > most {
			break
		}
		page.Cursor = next
	}
	return &hourScheduleList{Body: out}, nil
}

// hourFace is a schedule as it fires within stretches of time, if it does.
func hourFace(sch sql.Schedule, calendars map[string]schedule.Calendar, spans [][]dag.Millis) (HourSchedule, bool) {
	out := HourSchedule{ID: ID(sch.ID), Project: sch.Project, Workflow: sch.Workflow, Name: sch.Name, Cron: sch.Spec.Cron}
	plan, wrong := sch.Spec.Compile(sch.ID, calendars, 0)
	if len(wrong) > 0 {
		return out, false
	}
	for _, span := range spans {
		counts, _, exact := plan.Count(span, maxHourFires)
		if counts[0] == 0 {
			continue
		}
		if out.Fires == 0 {
			f, _ := plan.NextOn(span[0] - 1)
			out.First = Time(f.At)
		}
		out.Fires += counts[0]
		out.Estimated = out.Estimated || !exact
	}
	return out, out.Fires > 0
}
