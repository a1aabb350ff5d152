package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/porpoise/porpoise/dag/schedule"
)

// FireDays are the days on which a schedule has fires.
type FireDays struct {
	Timezone string `json:"timezone"`
	Days     []struct {
		Day        string                   `json:"day"`
		States     map[schedule.State]int64 `json:"states"`
		MeanLateMS int64                    `json:"mean_late_ms,omitempty"`
		Pruned     int64                    `json:"pruned,omitempty"`
	} `json:"days"`
}

// FireDays counts a schedule's fires by the days of its timezone: of a span, such as 2026-03, or between two moments.
func (c *Client) FireDays(ctx context.Context, project, workflow, name, from, to, span string) (FireDays, error) {
	var out FireDays
	_, err := c.do(ctx, call{method: http.MethodGet, path: schedulePath(project, workflow, name, "fires", "days"), query: between(from, to, "span", span)}, &out)
	return out, err
}

// Heat is how many fires schedules plan, hour by hour, for a week.
type Heat struct {
	Timezone string `json:"timezone"`
	Days     []struct {
		Day   string  `json:"day"`
		Fires []int64 `json:"fires"` // -1 is an hour that the clocks leave out
	} `json:"days"`
	Schedules int64 `json:"schedules"`
	Walked    int64 `json:"walked"`
	Estimated bool  `json:"estimated"`
}

// Heat counts the fires of seven days; "" is every project, UTC and today.
func (c *Client) Heat(ctx context.Context, project, timezone, from string) (Heat, error) {
	var out Heat
	_, err := c.do(ctx, call{method: http.MethodGet, path: []string{"schedules", "heat"}, query: given("project", project, "timezone", timezone, "from", from)}, &out)
	return out, err
}

// HourSchedule is a schedule that fires within an hour.
type HourSchedule struct {
	ID        string `json:"id"`
	Project   string `json:"project"`
	Workflow  string `json:"workflow"`
	Name      string `json:"name"`
	Cron      string `json:"cron,omitempty"`
	First     Time   `json:"first"`
	Fires     int64  `json:"fires"`
	Estimated bool   `json:"estimated,omitempty"`
}

// SchedulesOfHour lists the schedules that fire within an hour of a day.
func (c *Client) SchedulesOfHour(ctx context.Context, project, timezone, day, hour string, limit int) ([]HourSchedule, error) {
	return all[HourSchedule](ctx, c, call{
		method: http.MethodGet, path: []string{"schedules", "hour"}, query: given("project", project, "timezone", timezone, "day", day, "hour", hour),
	}, limit)
}

// PreviewSchedule says when a schedule would fire next; it changes nothing.
func (c *Client) PreviewSchedule(ctx context.Context, project string, one schedule.Named, n int) ([]PlannedFire, error) {
	var out struct {
		Next []PlannedFire `json:"next"`
	}
	body := struct {
		schedule.Spec
		Workflow string `json:"workflow,omitempty"`
		N        int    `json:"n,omitempty"`
	}{one.Spec, one.Workflow, n}
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"projects", project, "schedules", "preview"}, body: body}, &out)
	return out.Next, err
}

// Calendar reads a calendar.
func (c *Client) Calendar(ctx context.Context, project, name string) (Calendar, error) {
	var out Calendar
	_, err := c.do(ctx, call{method: http.MethodGet, path: calendarPath(project, name)}, &out)
	return out, err
}

// TimerSlices are the firings of all timers that are due soon.
type TimerSlices struct {
	At      Time `json:"at"`
	Minutes []struct {
		At      Time    `json:"at"`
		Due     []int64 `json:"due"`
		Buckets int     `json:"buckets,omitempty"`
	} `json:"minutes"`
	Overdue int              `json:"overdue"`
	Enabled int              `json:"enabled"`
	Tasks   map[string]int64 `json:"tasks"`
}

// TimerSlices counts them.
func (c *Client) TimerSlices(ctx context.Context) (TimerSlices, error) {
	var out TimerSlices
	_, err := c.do(ctx, call{method: http.MethodGet, path: []string{"cluster", "timers"}}, &out)
	return out, err
}

// ReplaceTimer puts another timer in the place of one, enabled where that was, and returns its id.
func (c *Client) ReplaceTimer(ctx context.Context, id string, def TimerDef) (int64, error) {
	old, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0, err
	}
	var out struct{ ID int64 }
	body := struct {
		ID int64 `json:"id"`
		TimerDef
	}{old, def}
	_, err = c.do(ctx, call{method: http.MethodPut, root: timerRoot, path: []string{"def"}, body: body}, &out)
	return out.ID, err
}

// given is a query of names and values; those that are empty are left out.
func given(pairs ...string) url.Values {
	query := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return query
}
