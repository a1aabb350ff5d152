package apiserver

import (
	"fmt"
	"strings"
	"testing"
)

func TestHeatOfSchedulesIsByTheHoursOfAClock(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	b.must(201, "PUT", schedules+"/nightly", `{"cron": "30 2 * * *", "timezone": "Europe/Berlin"}`)
	b.must(201, "PUT", schedules+"/hourly", `{"cron": "0,30 * * * *"}`)
	b.must(201, "PUT", schedules+"/paused", `{"cron": "* * * * *", "enabled": false}`)
	got := decode[ScheduleHeat](t, b.must(200, "GET", "/api/v1/schedules/heat?timezone=Europe/Berlin&from=2026-03-28", ""))
	if len(got.Days) != 7 || got.Timezone != "Europe/Berlin" || got.Schedules != 3 || got.Walked != 3 || got.Estimated {
		t.Fatalf("the heat is %+v", got)
	}
	// On 29 March the clocks leave 02:00 to 03:00 out: the nightly fire is at 03:00.
	for _, c := range []struct {
		day, hour int
		want      int64
	}{{0, 1, 2}, {0, 2, 3}, {0, 3, 2}, {1, 1, 2}, {1, 2, -1}, {1, 3, 3}, {2, 2, 3}, {6, 23, 2}} {
		if n := got.Days[c.day].Fires[c.hour]; n != c.want {
			t.Errorf("%s at %d: %d fires, want %d", got.Days[c.day].Day, c.hour, n, c.want)
		}
	}
	// On 25 October they repeat 02:00 to 03:00: both hours are in one.
	got = decode[ScheduleHeat](t, b.must(200, "GET", "/api/v1/schedules/heat?timezone=Europe/Berlin&from=2026-10-25&project=alpha", ""))
	if n := got.Days[0].Fires[2]; n != 5 {
		t.Errorf("the repeated hour has %d fires, want 5", n)
	}
	hour := func(query string) (names []string) {
		for _, s := range decode[List[HourSchedule]](t, b.must(200, "GET", "/api/v1/schedules/hour?timezone=Europe/Berlin&"+query, "")).Items {
			names = append(names, fmt.Sprintf("%s %d", s.Name, s.Fires))
		}
		return names
	}
	for query, want := range map[string]string{
		"day=2026-03-28&hour=2": "nightly 1, hourly 2",
		"day=2026-03-29&hour=2": "",
		"day=2026-03-29&hour=3": "nightly 1, hourly 2",
		"day=2026-10-25&hour=2": "nightly 1, hourly 4",
		"day=2026-10-25&hour=5": "hourly 2",
	} {
		if got := strings.Join(hour(query), ", "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, bad := range []string{"heat?timezone=Mars", "heat?from=2026-02-30", "hour?day=2026-03-28&hour=24", "hour?hour=2", "heat?from=1900-01-01"} {
		if rec := b.do(asked{method: "GET", path: "/api/v1/schedules/" + bad, token: b.admin}); rec.Code != 400 && rec.Code != 422 {
			t.Errorf("%s is answered %d %s", bad, rec.Code, rec.Body)
		}
	}
	b.must(404, "GET", "/api/v1/schedules/heat?project=nowhere", "")
}

func TestHeatOfManySchedulesIsForetoldFromSome(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	b.must(201, "PUT", schedules+"/hourly", `{"cron": "0 * * * *"}`)
	// As many again as are read at most, every second of which is paused.
	const part = 500 // the database answers nobody else while it writes one
	for from := 1; from < 2*maxHeat; from += part {
		b.exec(`INSERT INTO schedule (id, project_id, workflow_id, name, name_key, spec, revision, enabled, why, planned_until, after_workflow, created_by, created_at, changed_by, changed_at)
			WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			SELECT s.id + i, project_id, workflow_id, 'n' || i, 'n' || i, spec, 1, i % 2, '', 0, 0, '', 0, '', 0
			FROM n, (SELECT * FROM schedule ORDER BY id LIMIT 1) s`, from, min(from+part, 2*maxHeat)-1)
	}
	got := decode[ScheduleHeat](t, b.must(200, "GET", "/api/v1/schedules/heat?from=2026-03-28", ""))
	if got.Schedules != 2*maxHeat || got.Walked < maxHeat*9/10 || got.Walked > maxHeat || !got.Estimated {
		t.Fatalf("of %d schedules %d were looked at, estimated: %v", got.Schedules, got.Walked, got.Estimated)
	}
	if n := got.Days[3].Fires[12]; n < maxHeat*98/100 || n > maxHeat*102/100 {
		t.Errorf("an hour has about %d fires, want %d", n, maxHeat)
	}
	// Only who may see the project is told of its schedules.
	eve := b.person("eve", "", 0, false)
	if none := decode[ScheduleHeat](t, b.do(asked{method: "GET", path: "/api/v1/schedules/heat", token: eve})); none.Schedules != 0 {
		t.Errorf("a stranger is told of %d schedules", none.Schedules)
	}
	if w := b.do(asked{method: "GET", path: "/api/v1/schedules/heat?project=alpha", token: eve}); w.Code != 404 {
		t.Errorf("a stranger's question about a project is answered %d", w.Code)
	}
}
