package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// TimerCall is the call that a timer makes.
type TimerCall struct {
	URL            string              `json:"url"`
	Method         string              `json:"method"`
	Header         map[string][]string `json:"header,omitempty"`
	Body           string              `json:"body,omitempty"`
	TimeoutSeconds int                 `json:"timeoutSeconds,omitempty"`
	MaxTries       int                 `json:"maxTries,omitempty"`
}

// TimerDef is what a timer is to be.
type TimerDef struct {
	App      string    `json:"app"`
	Name     string    `json:"name"`
	Cron     string    `json:"cron"`
	Dialect  string    `json:"dialect,omitempty"`
	Timezone string    `json:"timezone,omitempty"`
	Call     TimerCall `json:"notifyHTTPParam"`
}

// Timer is a timer.
type Timer struct {
	TimerDef
	ID           int64  `json:"id"`
	Enabled      bool   `json:"enabled"`
	Why          string `json:"why,omitempty"` // where it was not a person who disabled it
	Failures     int    `json:"failures"`
	FailingSince Time   `json:"failingSince,omitzero"`
	CreatedBy    string `json:"createdBy"`
	CreatedAt    Time   `json:"createdAt"`
	ChangedBy    string `json:"changedBy"`
	ChangedAt    Time   `json:"changedAt"`
}

// TimerRecord is one firing of a timer.
type TimerRecord struct {
	TimerID   int64  `json:"timerID"`
	PlannedAt Time   `json:"plannedAt"`
	Key       string `json:"idempotencyKey"`
	State     string `json:"state"`
	NextAt    Time   `json:"nextAt,omitzero"`
	Tries     int    `json:"tries"`
	ClaimedBy string `json:"claimedBy"`
	CalledAt  Time   `json:"calledAt,omitzero"`
	LateMS    int64  `json:"lateMS"`
	CostMS    int64  `json:"costMS"`
	Status    int    `json:"status"`
	Response  string `json:"response"`
	Error     string `json:"error"`
}

// TimerStats is what became of an app's tasks.
type TimerStats struct {
	Enabled    int              `json:"enabled"`
	Failing    int              `json:"failing"`
	Tasks      map[string]int64 `json:"tasks"`
	Tries      int64            `json:"tries"`
	MeanLateMS int64            `json:"meanLateMS"`
}

// The timers' own part of the API.
const (
	timerRoot     = "/api/timer/v1"
	timerTaskRoot = "/api/task/v1"
)

// CreateTimer makes a timer, not enabled, and returns its id.
func (c *Client) CreateTimer(ctx context.Context, def TimerDef) (int64, error) {
	var out struct{ ID int64 }
	_, err := c.do(ctx, call{method: http.MethodPost, root: timerRoot, path: []string{"def"}, body: def}, &out)
	return out.ID, err
}

// Timer reads a timer.
func (c *Client) Timer(ctx context.Context, app, id string) (Timer, error) {
	var out struct{ Data Timer }
	_, err := c.do(ctx, call{method: http.MethodGet, root: timerRoot, path: []string{"def"}, query: url.Values{"app": {app}, "id": {id}}}, &out)
	return out.Data, err
}

// Timers lists an app's timers whose names have a part, "" for all.
func (c *Client) Timers(ctx context.Context, app, part string) ([]Timer, error) {
	path, query := "defs", url.Values{"app": {app}, "pageSize": {strconv.Itoa(pageSize - 1)}}
	if part != "" {
		path = "defsByName"
		query.Set("fuzzyName", part)
	}
	var list []Timer
	for page := 1; ; page++ {
		query.Set("page", strconv.Itoa(page))
		var out struct {
			Data []Timer
			More bool
		}
		if _, err := c.do(ctx, call{method: http.MethodGet, root: timerRoot, path: []string{path}, query: query}, &out); err != nil {
			return list, err
		}
		if list = append(list, out.Data...); !out.More {
			return list, nil
		}
	}
}

func (c *Client) changeTimer(ctx context.Context, method, path, app, id string) error {
	_, err := c.do(ctx, call{method: method, root: timerRoot, path: []string{path}, body: map[string]string{"app": app, "id": id}}, nil)
	return err
}

// EnableTimer lets a timer fire.
func (c *Client) EnableTimer(ctx context.Context, app, id string) error {
	return c.changeTimer(ctx, http.MethodPost, "enable", app, id)
}

// DisableTimer lets a timer fire no more.
func (c *Client) DisableTimer(ctx context.Context, app, id string) error {
	return c.changeTimer(ctx, http.MethodPost, "unable", app, id)
}

// DeleteTimer deletes a timer.
func (c *Client) DeleteTimer(ctx context.Context, app, id string) error {
	return c.changeTimer(ctx, http.MethodDelete, "def", app, id)
}

// TimerRecords lists the newest firings of a timer, at most limit; state "" is every one.
func (c *Client) TimerRecords(ctx context.Context, app, id, state string, limit int) ([]TimerRecord, error) {
	query := url.Values{"app": {app}, "id": {id}}
	if state != "" {
		query.Set("state", state)
	}
	var list []TimerRecord
	for len(list) < limit {
		query.Set("pageSize", strconv.Itoa(min(limit-len(list), pageSize)))
		var out struct {
			Data       []TimerRecord
			NextCursor string
		}
		if _, err := c.do(ctx, call{method: http.MethodGet, root: timerTaskRoot, path: []string{"records"}, query: query}, &out); err != nil {
			return list, err
		}
		list = append(list, out.Data...)
		if out.NextCursor == "" {
			break
		}
		query.Set("cursor", out.NextCursor)
	}
	return list, nil
}

// TimerStats sums what became of an app's tasks in the last days.
func (c *Client) TimerStats(ctx context.Context, app string, days int) (TimerStats, error) {
	var out struct{ Data TimerStats }
	_, err := c.do(ctx, call{method: http.MethodGet, root: timerRoot, path: []string{"stats"}, query: url.Values{"app": {app}, "days": {strconv.Itoa(days)}}}, &out)
	return out.Data, err
}
