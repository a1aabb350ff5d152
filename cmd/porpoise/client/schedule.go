package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

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
