package apiserver

import (
	"net/url"
	"strings"
	"testing"
)

func previewPath(query ...string) string {
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	return "/api/v1/schedules/preview?" + values.Encode()
}

func TestAnExpressionIsPreviewedWithItsDialectAndTheChangesOfClocks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := decode[CronPreview](t, b.must(200, "GET", previewPath("cron", "30 2 * * *", "timezone", "Europe/Berlin", "from", "2026-03-28T12:00:00Z", "n", "2"), ""))
	if p.Dialect != "unix" || p.DialectFrom != "fields" || p.Timezone != "Europe/Berlin" || p.FollowsRealTime || p.ShortestSeconds != 86400 ||
		p.Words.English != "at 02:30 every day" || p.Words.Chinese != "每天 02:30" {
		t.Errorf("preview = %+v", p)
	}
	if len(p.Fires) != 2 || p.Fires[0].Mark != "gap" || p.Fires[0].LeftOut != "02:30:00" || p.Fires[0].Local != "2026-03-29T03:00:00+02:00" ||
		p.Fires[1].Mark != "" || p.Fires[1].Local != "2026-03-30T02:30:00+02:00" {
		t.Errorf("fires = %+v", p.Fires)
	}
	p = decode[CronPreview](t, b.must(200, "GET", previewPath("cron", "0 0 12 ? * 1"), ""))
	if p.Dialect != "quartz" || p.Timezone != "UTC" || len(p.Fires) != 5 || p.Words.English != "at 12:00 on Sunday" {
		t.Errorf("preview = %+v", p)
	}
	p = decode[CronPreview](t, b.must(200, "GET", previewPath("cron", "0 0 12 ? * 1", "dialect", "unix"), ""))
	if p.Dialect != "unix" || p.DialectFrom != "given" || p.Words.English != "at 12:00 on Monday" {
		t.Errorf("preview = %+v", p)
	}
	p = decode[CronPreview](t, b.must(200, "GET", previewPath("cron", "0 0 12 1 1 ? 2020"), ""))
	if at := decode[CronPreview](t, b.must(200, "GET", previewPath("cron", "@daily", "from", "1970-01-01T00:00:00Z"), "")).Fires[0].Local; at != "1970-01-02T00:00:00Z" {
		t.Errorf("the first day after 1970 began is %s", at)
	}
	if p.Fires == nil || len(p.Fires) != 0 || p.ShortestSeconds != 0 {
		t.Errorf("what is over has the preview %+v", p)
	}
}

func TestAWrongExpressionIsRefusedAtItsColumns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := decode[Problem](t, b.must(400, "GET", previewPath("cron", "61 * * * MOM", "timezone", "Berlin", "from", "noon"), ""))
	var got []string
	for _, e := range p.Errors {
		got = append(got, e.Field+" "+e.Message)
	}
	if text := strings.Join(got, "\n"); len(p.Errors) != 4 || p.Errors[0].Column != 1 || p.Errors[1].Column != 10 || p.Errors[1].Line != 1 ||
		!strings.Contains(text, "cron minute 61 is not in 0-59") || !strings.Contains(text, "did you mean MON?") || !strings.Contains(text, "timezone there is no timezone") || !strings.Contains(text, "from ") {
		t.Errorf("errors = %+v", p.Errors)
	}
	for _, path := range []string{
		"/api/v1/schedules/preview", previewPath("cron", ""), previewPath("cron", "0 0 30 2 *"), previewPath("cron", "@daily", "n", "0"), previewPath("cron", "@daily", "from", "2201-01-01T00:00:00Z"), previewPath("cron", "@daily", "n", "101"),
		previewPath("cron", "@daily", "dialect", "vixie"), previewPath("cron", "@daily", "zone", "UTC"), previewPath("cron", strings.Repeat("0,", 300)),
	} {
		b.must(400, "GET", path, "")
	}
}
