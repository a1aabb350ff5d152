package apiserver

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

const (
	schedules = "/api/v1/projects/alpha/workflows/daily/schedules"
	calendars = "/api/v1/projects/alpha/calendars"
)

func newScheduleBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.seed("alpha")
	return b
}

// wrongFields are the fields of a problem with their codes.
func wrongFields(b *bench, status int, method, path, body string) string {
	b.t.Helper()
	var got []string
	for _, e := range decode[Problem](b.t, b.must(status, method, path, body)).Errors {
		got = append(got, e.Field+" "+e.Code)
	}
	return strings.Join(got, ", ")
}

// pausing is a store in which somebody pauses what was read just now.
type pausing struct{ Store }

func (p pausing) Schedule(ctx context.Context, workflowID int64, name string) (sql.Schedule, error) {
	sch, err := p.Store.Schedule(ctx, workflowID, name)
	if err == nil && sch.Enabled {
		_, err = p.EnableSchedules(ctx, []int64{sch.ID}, false, "it broke", "ben")
	}
	return sch, err
}

func TestAPauseThatComesBetweenIsNotUndone(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Store = pausing{c.Store} })
	b.seed("alpha")
	const one = schedules + "/nightly"
	for _, save := range []func(){
		func() { b.must(200, "PUT", one, `{"cron": "0 5 * * *"}`, "If-Match", "*") },
		func() {
			b.must(200, "PUT", "/api/v1/projects/alpha/schedules", `{"schedules": [{"workflow": "daily", "name": "nightly", "cron": "0 6 * * *"}]}`)
		},
		func() {
			b.must(200, "PUT", "/api/v1/projects/alpha/schedules", `{"together": true, "schedules": [{"workflow": "daily", "name": "nightly", "cron": "0 7 * * *"}]}`)
		},
	} {
		if list := decode[List[Schedule]](t, b.must(200, "GET", schedules, "")); len(list.Items) == 0 {
			b.must(201, "PUT", one, `{"cron": "0 4 * * *"}`)
		}
		b.must(200, "POST", "/api/v1/projects/alpha/schedules/resume", `{}`)
		save()
		list := decode[List[Schedule]](t, b.must(200, "GET", schedules, "")).Items
		if len(list) != 1 || list[0].Enabled || list[0].Why != "it broke" {
			t.Errorf("saved over a pause that came after its read: %+v", list)
		}
	}
}

func TestSchedulesAreMadeChangedPausedAndDeleted(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	const one = schedules + "/nightly"
	const rules = `"cron": "30 2 * * *", "timezone": "Europe/Berlin", "params": {"day": 7}, "priority": "high", "overlap": "wait", "jitter": "1m", "misfire": {"policy": "all", "max": 3}`
	made := b.must(201, "PUT", one, `{`+rules+`}`)
	got := decode[Schedule](t, made)
	if !got.Enabled || got.Revision != 1 || got.Params["day"] != "7" || got.Misfire.Max != 3 || got.NextAt == 0 || made.Header().Get("ETag") != `"1"` {
		t.Errorf("made %s", made.Body)
	}
	b.must(428, "PUT", one, `{`+rules+`}`)
	b.must(412, "PUT", one, `{`+rules+`}`, "If-Match", `"7"`)
	b.must(412, "PUT", schedules+"/other", `{`+rules+`}`, "If-Match", `"1"`)
	b.must(409, "PUT", schedules+"/NIGHTLY", `{`+rules+`}`, "If-Match", `"1"`)
	paused := decode[Schedule](t, b.must(200, "POST", one+"/pause", `{"reason": "month end"}`))
	if paused.Enabled || paused.Why != "month end" || paused.NextAt != 0 || paused.Revision != 2 {
		t.Errorf("paused %+v", paused)
	}
	changed := decode[Schedule](t, b.must(200, "PUT", one, `{"cron": "0 5 * * *"}`, "If-Match", `"2"`))
	if changed.Enabled || changed.Why != "month end" || changed.Cron != "0 5 * * *" || changed.Params != nil {
		t.Errorf("a change of a paused one made it %+v", changed)
	}
	if resumed := decode[Schedule](t, b.must(200, "POST", one+"/resume", "")); !resumed.Enabled || resumed.Why != "" || resumed.NextAt == 0 {
		t.Errorf("resumed %+v", resumed)
	}
	if off := decode[Schedule](t, b.must(200, "PUT", one, `{"cron": "0 5 * * *", "enabled": false}`, "If-Match", "*")); off.Enabled {
		t.Errorf("put as not enabled: %+v", off)
	}
	b.must(201, "PUT", schedules+"/weekly", `{"cron": "0 5 * * 1", "enabled": false}`)
	for query, want := range map[string]string{
		"": "nightly weekly", "?project=alpha&workflow=daily": "nightly weekly", "?project=alpha&q=WEEK": "weekly", "?enabled=true": "",
	} {
		var names []string
		for _, sch := range decode[List[Schedule]](t, b.must(200, "GET", "/api/v1/schedules"+query, "")).Items {
			names = append(names, sch.Name)
		}
		if s := strings.Join(names, " "); s != want {
			t.Errorf("schedules%s are %q, want %q", query, s, want)
		}
	}
	b.must(204, "DELETE", one, "")
	b.must(404, "GET", one, "")
	if all := decode[List[Schedule]](t, b.must(200, "GET", schedules, "")).Items; len(all) != 1 {
		t.Errorf("after the delete there are %+v", all)
	}
	b.must(400, "GET", "/api/v1/schedules?workflow=daily", "")
	stranger := b.person("stranger", "", roleNone, false)
	if w := b.do(asked{method: "GET", path: "/api/v1/schedules", token: stranger}); w.Code != 200 || len(decode[List[Schedule]](t, w).Items) != 0 {
		t.Errorf("a stranger sees %s", w.Body)
	}
	if w := b.do(asked{method: "GET", path: "/api/v1/schedules?project=alpha", token: stranger}); w.Code != 404 {
		t.Errorf("a stranger asks for the project: %d", w.Code)
	}
}

func TestABadScheduleIsRefusedWithAllThatIsWrong(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	got := wrongFields(b, 422, "PUT", schedules+"/x", `{"cron": "61 * * * *", "timezone": "Mars", "end": "soon", "jitter": "-1s", "calendar": {"skip": ["holidays"]}, "params": {"nights": 1}}`)
	if want := "timezone invalid, end invalid, cron out_of_range, calendar.skip[0] unknown_calendar, jitter out_of_range, params.nights unknown_param"; got != want {
		t.Errorf("wrong are %s, want %s", got, want)
	}
	for body, want := range map[string]string{
		`{"cron": "0 0 31 2 *"}`: "cron never_fires",
		`{"cron": "0 0 * * *", "end": "2020-01-01", "start": "2021-01-01"}`: "end out_of_range",
		`{}`: "cron required",
		`{"cron": "0 0 * * *", "at": ["2030-01-01"]}`: "at conflict",
	} {
		if got := wrongFields(b, 422, "PUT", schedules+"/x", body); got != want {
			t.Errorf("%s: wrong are %s, want %s", body, got, want)
		}
	}
	for _, body := range []string{`{"cron": "0 0 * * *", "overlap": "dance"}`, `{"cron": "0 0 * * *", "cronn": 1}`, `{"cron": 5}`, `[]`} {
		if w := b.do(asked{method: "PUT", path: schedules + "/x", body: body, token: b.admin}); w.Code != 422 && w.Code != 400 {
			t.Errorf("%s = %d", body, w.Code)
		}
	}
	b.must(404, "GET", schedules+"/x", "")
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/later?publish=false", strings.ReplaceAll(twoTasks, "daily", "later"), "Content-Type", "application/yaml")
	if got := wrongFields(b, 422, "PUT", "/api/v1/projects/alpha/workflows/later/schedules/x", `{"cron": "* *"}`); !strings.HasSuffix(got, "workflow not_published") || !strings.HasPrefix(got, "cron") {
		t.Errorf("without a published version wrong are %s", got)
	}
}

func TestNextFiresShowTheChangeOfTheClocks(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	b.must(201, "PUT", calendars+"/holidays", `{"days": ["12-25", "2026-12-26..2026-12-27"]}`)
	preview := func(body string) string {
		var got []string
		for _, f := range decode[SchedulePreview](t, b.must(200, "POST", "/api/v1/projects/alpha/schedules/preview", body)).Next {
			got = append(got, strings.TrimSpace(f.Local+" "+f.Mark+f.LeftOut+f.Skip))
		}
		return strings.Join(got, ", ")
	}
	if got, want := preview(`{"cron": "30 2 * * *", "timezone": "Europe/Berlin", "from": "2026-03-28T00:00:00Z", "n": 3, "workflow": "daily"}`),
		"2026-03-28T02:30:00+01:00, 2026-03-29T03:00:00+02:00 gap02:30:00, 2026-03-30T02:30:00+02:00"; got != want {
		t.Errorf("in spring %s, want %s", got, want)
	}
	if got, want := preview(`{"cron": "0 8 * * *", "calendar": {"skip": ["Holidays"]}, "from": "2026-12-24T00:00:00Z", "n": 2}`),
		"2026-12-24T08:00:00Z, 2026-12-25T08:00:00Z calendar, 2026-12-26T08:00:00Z calendar, 2026-12-27T08:00:00Z calendar, 2026-12-28T08:00:00Z"; got != want {
		t.Errorf("at Christmas %s, want %s", got, want)
	}
	// It says by which rules the expression is read, before and after it is saved.
	for body, want := range map[string]CronReading{
		`{"cron": "0 8 * * 1"}`:                      {Dialect: "unix", DialectFrom: "fields"},
		`{"cron": "0 */5 * ? * 2"}`:                  {Dialect: "quartz", DialectFrom: "fields", FollowsRealTime: true},
		`{"cron": "0 0 8 * * 1", "dialect": "unix"}`: {Dialect: "unix", DialectFrom: "given"},
	} {
		shown := decode[SchedulePreview](t, b.must(200, "POST", "/api/v1/projects/alpha/schedules/preview", body)).Reading
		b.must(200, "PUT", "/api/v1/projects/alpha/schedules", `{"schedules": [{"workflow": "daily", "name": "read", `+body[1:]+`]}`)
		saved := decode[ScheduleDetail](t, b.must(200, "GET", schedules+"/read", "")).Reading
		if shown == nil || *shown != want || saved == nil || *saved != want {
			t.Errorf("%s is read by %+v, and saved by %+v; want %+v", body, shown, saved, want)
		}
	}
	if got := decode[SchedulePreview](t, b.must(200, "POST", "/api/v1/projects/alpha/schedules/preview", `{"at": ["2099-01-01"]}`)).Reading; got != nil {
		t.Errorf("what has no cron is read by %+v", got)
	}
	if got := wrongFields(b, 422, "POST", "/api/v1/projects/alpha/schedules/preview", `{"cron": "0 8 * *", "workflow": "daily", "params": {"x": "y"}}`); !strings.Contains(got, "params.x") || !strings.Contains(got, "cron") {
		t.Errorf("of a bad document wrong are %s", got)
	}
	b.must(404, "POST", "/api/v1/projects/alpha/schedules/preview", `{"cron": "0 8 * * *", "workflow": "nothing"}`)
	b.must(201, "PUT", schedules+"/nightly", `{"cron": "30 2 * * *", "timezone": "Europe/Berlin", "jitter": "5m"}`)
	detail := decode[ScheduleDetail](t, b.must(200, "GET", schedules+"/nightly?n=7", ""))
	if len(detail.Next) != 7 || detail.Next[0].Due < detail.Next[0].At || detail.Next[0].At != detail.NextAt {
		t.Errorf("the next fires are %+v", detail.Next)
	}
}

func TestAPreviewAndAScheduleSayHowLongItsInstancesTake(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	b.must(201, "PUT", schedules+"/often", `{"cron": "*/5 * * * *"}`)
	const preview = "/api/v1/projects/alpha/schedules/preview"
	if d := decode[ScheduleDetail](t, b.must(200, "GET", schedules+"/often", "")); d.Usual != (Usual{}) {
		t.Errorf("with no success the usual time is %+v", d.Usual)
	}
	for _, minutes := range []time.Duration{9, 1, 7} {
		b.must(202, "POST", "/api/v1/projects/alpha/workflows/daily/start", `{}`)
		ids := b.instances("alpha")
		b.finishAfter(ids[len(ids)-1], minutes*time.Minute)
	}
	want := Usual{MedianMs: (7 * time.Minute).Milliseconds(), Samples: 3}
	if d := decode[ScheduleDetail](t, b.must(200, "GET", schedules+"/often", "")); d.Usual != want {
		t.Errorf("the schedule says %+v, want %+v", d.Usual, want)
	}
	if p := decode[SchedulePreview](t, b.must(200, "POST", preview, `{"cron": "*/5 * * * *", "workflow": "daily"}`)); p.Usual != want {
		t.Errorf("the preview says %+v, want %+v", p.Usual, want)
	}
	if p := decode[SchedulePreview](t, b.must(200, "POST", preview, `{"cron": "*/5 * * * *"}`)); p.Usual != (Usual{}) {
		t.Errorf("of no workflow the preview says %+v", p.Usual)
	}
}

func TestCalendarsAreMadeChangedAndKeptWhileTheyAreUsed(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	b.must(201, "PUT", calendars+"/holidays", `{"days": ["12-25"]}`)
	if c := decode[Calendar](t, b.must(200, "PUT", calendars+"/holidays", `{"days": ["12-25", "sunday"]}`)); len(c.Days) != 2 || c.ChangedBy != adminName {
		t.Errorf("changed to %+v", c)
	}
	b.must(409, "PUT", calendars+"/Holidays", `{"days": ["12-25"]}`)
	if got := wrongFields(b, 422, "PUT", calendars+"/bad", `{"days": ["12-25", "13-25", "never"]}`); got != "days[1] invalid, days[2] invalid" {
		t.Errorf("wrong are %s", got)
	}
	if got := wrongFields(b, 422, "PUT", calendars+"/Business_Days", `{"days": ["12-25"]}`); got != "calendar reserved_name" {
		t.Errorf("wrong are %s", got)
	}
	b.must(201, "PUT", schedules+"/nightly", `{"cron": "0 8 * * *", "calendar": {"skip": ["HOLIDAYS"], "only": ["business_days"]}}`)
	b.must(409, "DELETE", calendars+"/holidays", "")
	b.must(204, "DELETE", schedules+"/nightly", "")
	b.must(204, "DELETE", calendars+"/holidays", "")
	b.must(404, "GET", calendars+"/holidays", "")
	if all := decode[List[Calendar]](t, b.must(200, "GET", calendars, "")).Items; len(all) != 0 {
		t.Errorf("there are %+v", all)
	}
}

func TestManySchedulesAreSavedTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	const many = "/api/v1/projects/alpha/schedules"
	got := wrongFields(b, 422, "PUT", many, `{"schedules": [
		{"workflow": "daily", "name": "a", "cron": "0 5 * * *"}, {"workflow": "daily", "name": "b", "cron": "0 5 * *"},
		{"workflow": "none", "name": "c", "cron": "0 5 * * *"}, {"workflow": "Daily", "name": "A", "cron": "0 5 * * *", "params": {"x": 1}}]}`)
	if want := "schedules[1].cron invalid, schedules[2].workflow unknown_workflow, schedules[3].name duplicate_name, schedules[3].params.x unknown_param"; got != want {
		t.Errorf("wrong are %s, want %s", got, want)
	}
	b.must(404, "GET", schedules+"/a", "")
	var list []string
	for i := range 250 {
		list = append(list, fmt.Sprintf(`{"workflow": "daily", "name": "s%d", "cron": "%d 5 * * *"}`, i, i%60))
	}
	type counts struct{ Created, Changed, Matched int }
	body := `{"schedules": [` + strings.Join(list, ",") + `]}`
	if c := decode[counts](t, b.must(200, "PUT", many, body)); c.Created != 250 || c.Changed != 0 {
		t.Errorf("saved %+v", c)
	}
	if c := decode[counts](t, b.must(200, "PUT", many, body)); c.Created != 0 || c.Changed != 250 {
		t.Errorf("saved again %+v", c)
	}
	for _, step := range []struct {
		verb, body       string
		matched, changed int
	}{
		{"pause", `{"q": "s1", "preview": true}`, 111, 0},
		{"pause", `{"q": "s1", "reason": "month end", "workflow": "daily"}`, 111, 111},
		{"pause", `{"q": "s1"}`, 0, 0},
		{"pause", `{}`, 139, 139},
		{"resume", `{}`, 250, 250},
	} {
		if c := decode[counts](t, b.must(200, "POST", many+"/"+step.verb, step.body)); c.Matched != step.matched || c.Changed != step.changed {
			t.Errorf("%s %s: %+v, want %d and %d", step.verb, step.body, c, step.matched, step.changed)
		}
	}
	b.must(422, "POST", many+"/pause", `{"workflow": "none"}`)
	two := decode[List[Schedule]](t, b.must(200, "GET", "/api/v1/schedules?project=alpha&limit=2", "")).Items
	these := fmt.Sprintf(`{"ids": ["%d", "%d", "999999999"]}`, two[0].ID, two[1].ID)
	if c := decode[counts](t, b.must(200, "POST", many+"/pause", these)); c.Matched != 2 || c.Changed != 2 {
		t.Errorf("of chosen ones: %+v, want the two that are there", c)
	}
}

func TestATriggerStartsAnInstanceNow(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	b.must(201, "PUT", schedules+"/nightly", `{"cron": "0 5 * * *", "params": {"day": "9"}, "priority": "low", "enabled": false}`)
	w := b.must(202, "POST", schedules+"/nightly/trigger", "")
	in := decode[Instance](t, b.must(200, "GET", w.Header().Get("Location"), ""))
	if in.Params["day"] != "9" || in.Priority != "low" || in.CreatedBy != adminName || in.ScheduleTime == 0 {
		t.Errorf("started %+v", in)
	}
	for want := int64(in.ID); <-b.hints.commands != want; {
	}
}

// planned writes the fires of a schedule as its rules are, until a moment, and returns them.
func (b *bench) plannedUntil(name string, until dag.Millis) (sql.Schedule, []schedule.Fire) {
	b.t.Helper()
	w, err := b.db.Workflow(b.t.Context(), b.projectID("alpha"), "daily")
	if err != nil {
		b.t.Fatal(err)
	}
	sch, err := b.db.Schedule(b.t.Context(), w.ID, name)
	if err != nil {
		b.t.Fatal(err)
	}
	plan, wrong := sch.Spec.Compile(sch.ID, nil, 0)
	if len(wrong) > 0 {
		b.t.Fatal(wrong)
	}
	before := sch
	var all []schedule.Fire
	// By parts, as masters do: a single commit of a day's fires keeps the writer so long that the server calls the database silent.
	for sch.PlannedUntil < until {
		part := min(sch.PlannedUntil+dag.Millis(time.Hour/time.Millisecond), until)
		fires, _ := plan.Fires(sch.PlannedUntil, part, math.MaxInt32)
		if _, err := b.db.PlanFires(b.t.Context(), []sql.Stretch{{Schedule: sch, Fires: fires, Until: part}}); err != nil {
			b.t.Fatal(err)
		}
		all, sch.PlannedUntil = append(all, fires...), part
	}
	return before, all
}

func (b *bench) exec(statement string, args ...any) {
	b.t.Helper()
	db, err := stdsql.Open("sqlite", "file:"+b.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(b.t.Context(), statement, args...); err != nil {
		b.t.Fatal(err)
	}
}

func TestAProofHoldsUntilSomethingIsAmiss(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	const one = schedules + "/minutely"
	b.must(201, "PUT", one, `{"cron": "* * * * *"}`)
	until := dag.MillisOf(time.Now().Add(time.Hour).Truncate(time.Minute))
	sch, fires := b.plannedUntil("minutely", until)
	var verdicts []sql.Verdict
	for i, state := range []schedule.State{schedule.Fired, schedule.Fired, schedule.Skipped, schedule.Missed} {
		verdicts = append(verdicts, sql.Verdict{Source: sch.ID, At: fires[i].At, State: state})
	}
	verdicts[2].Reason, verdicts[3].Reason = schedule.ReasonOverlap, schedule.ReasonOlder
	if _, err := b.db.SettleFires(t.Context(), verdicts, "m1:a", 7); err != nil {
		t.Fatal(err)
	}
	span := "?" + url.Values{"from": {sch.CreatedAt.Time().Add(time.Millisecond).Format(time.RFC3339Nano)}, "to": {until.Time().Format(time.RFC3339Nano)}}.Encode()
	prove := func() ScheduleProof { return decode[ScheduleProof](t, b.must(200, "GET", one+"/proof"+span, "")) }
	p := prove()
	if !p.Holds || !p.Compared || p.Planned != int64(len(fires)) || p.Outcomes["fired"] != 2 || p.Outcomes["skipped"] != 1 || p.Outcomes["missed"] != 1 || p.Open != p.Planned-4 {
		t.Errorf("the proof is %+v of %d fires", p, len(fires))
	}
	ledger := decode[List[Fire]](t, b.must(200, "GET", one+"/fires"+span+"&limit=200", "")).Items
	if len(ledger) != len(fires) || ledger[0].State != "fired" || ledger[0].InstanceID == 0 || ledger[0].Master == "" || ledger[2].Reason != "overlap" || ledger[4].State != "planned" {
		t.Errorf("the ledger is %+v", ledger)
	}
	if missed := decode[List[Fire]](t, b.must(200, "GET", one+"/fires"+span+"&state=missed", "")).Items; len(missed) != 1 || missed[0].At != Time(fires[3].At) {
		t.Errorf("missed are %+v", missed)
	}
	explained := decode[Explanation](t, b.must(200, "GET", one+"/explain?at="+fires[3].At.Time().Format(time.RFC3339), ""))
	if explained.Code != "fire_missed" || !strings.Contains(explained.Text, "only the latest") {
		t.Errorf("the missed one is explained as %+v", explained)
	}
	b.clock.advance(3 * time.Hour)
	if e := decode[Explanation](t, b.must(200, "GET", one+"/explain", "")); len(e.Causes) != 1 || e.Causes[0].Code != "fire_planned" || e.Causes[0].Text != "of the last fire, at "+fires[len(fires)-1].At.Time().Format(time.RFC3339)+": it is planned" {
		t.Errorf("hours later it is explained as %+v", e)
	}
	b.clock.advance(-3 * time.Hour)
	b.exec(`DELETE FROM fire WHERE source_id = ? AND planned_at = ?`, sch.ID, fires[5].At)
	b.exec(`UPDATE fire SET planned_at = planned_at + 1 WHERE source_id = ? AND planned_at = ?`, sch.ID, fires[6].At)
	b.exec(`UPDATE fire SET instance_id = 999999 WHERE source_id = ? AND planned_at = ?`, sch.ID, fires[1].At)
	p = prove()
	if p.Holds || !slices.Equal(p.Missing, []Time{Time(fires[5].At), Time(fires[6].At)}) || !slices.Equal(p.Unexpected, []Time{Time(fires[6].At + 1)}) || !slices.Equal(p.NoInstance, []Time{Time(fires[1].At)}) {
		t.Errorf("with three things amiss the proof is %+v", p)
	}
	b.must(400, "GET", one+"/proof?from=x&to=y", "")
	b.must(400, "GET", one+"/fires?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "")
}

func TestANewScheduleThatNeverFiresIsRefused(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	b.must(201, "PUT", calendars+"/sundays", `{"days": ["sunday"]}`)
	for body, want := range map[string]string{
		`"cron": "0 5 * * *", "end": "2020-01-01"`:                                                     "end",
		`"cron": "0 5 29 2 *", "end": "2027-01-01"`:                                                    "end",
		`"at": ["2020-01-01", "2020-01-02"]`:                                                           "at",
		`"cron": "0 0 5 1 1 ? 2020"`:                                                                   "cron",
		`"cron": "0 5 * * 6,7", "calendar": {"only": ["business_days"]}`:                               "calendar",
		`"cron": "0 5 * * *", "calendar": {"skip": ["business_days", "sundays"], "only": ["sundays"]}`: "calendar",
	} {
		if got := wrongFields(b, 422, "PUT", schedules+"/x", `{`+body+`}`); got != want+" never_fires" {
			t.Errorf("%s: %q, want %s", body, got, want)
		}
		if got := wrongFields(b, 422, "PUT", "/api/v1/projects/alpha/schedules", `{"schedules": [{"workflow": "daily", "name": "x", `+body+`}]}`); got != "schedules[0]."+want+" never_fires" {
			t.Errorf("%s among others: %q, want %s", body, got, want)
		}
	}
	// What somebody may change before it is resumed, and what has fired, is saved.
	b.must(201, "PUT", schedules+"/off", `{"at": ["2020-01-01"], "enabled": false}`)
	b.must(201, "PUT", schedules+"/on", `{"at": ["2020-01-01", "2099-01-01"]}`)
	b.must(200, "PUT", schedules+"/on", `{"at": ["2020-01-01"]}`, "If-Match", "*")
}

func TestAScheduleSaysWhyItDoesNotFire(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	explain := func(name, query string) string {
		e := decode[Explanation](t, b.must(200, "GET", schedules+"/"+name+"/explain"+query, ""))
		text := e.Code + ": " + e.Text
		for _, c := range e.Causes {
			text += " | " + c.Code + ": " + c.Text
		}
		return text
	}
	b.must(201, "PUT", schedules+"/nightly", `{"cron": "0 5 * * *"}`)
	b.must(201, "PUT", schedules+"/ended", `{"cron": "0 5 * * *"}`)
	b.must(200, "PUT", schedules+"/ended", `{"cron": "0 5 * * *", "end": "2020-01-01"}`, "If-Match", "*")
	b.must(201, "PUT", calendars+"/sundays", `{"days": ["sunday"]}`)
	b.must(201, "PUT", schedules+"/sundays", `{"cron": "* * * * * *", "calendar": {"only": ["sundays"]}}`)
	b.must(201, "PUT", schedules+"/weekends", `{"cron": "0 5 * * 6,7"}`)
	b.must(200, "PUT", schedules+"/weekends", `{"cron": "0 5 * * 6,7", "calendar": {"only": ["business_days"]}}`, "If-Match", "*")
	b.must(201, "PUT", schedules+"/paused", `{"cron": "0 5 * * *"}`)
	b.must(200, "POST", schedules+"/paused/pause", `{"reason": "month end"}`)
	for _, c := range []struct{ name, query, want string }{
		{"nightly", "", "schedule_fires: it fires next at "},
		{"sundays", "", "schedule_fires: it fires next at "},
		{"nightly", "?at=2040-01-01T05:00:00Z", "fire_foretold: the rules name it; its turn"},
		{"nightly", "?at=2020-01-01T05:00:00Z", "| schedule_changed: the schedule was changed, paused or resumed by admin since"},
		{"nightly", "?at=2040-01-01T06:00:00Z", "fire_unknown: "},
		{"ended", "", "schedule_ended: "},
		{"weekends", "", "schedule_left_out: "},
		{"weekends", "", "| schedule_calendar: a calendar leaves out the fires before that, the first at "},
		{"paused", "", "schedule_paused: it was paused by admin: month end"},
		{"paused", "?at=2040-01-01T05:00:00Z", "| schedule_paused: it was paused by admin"},
	} {
		if got := explain(c.name, c.query); !strings.Contains(got, c.want) {
			t.Errorf("%s%s: %s, want %s", c.name, c.query, got, c.want)
		}
	}
	b.exec(`UPDATE schedule SET spec = ? WHERE name = 'nightly'`, `{"cron": "0 5 * * *", "timezone": "Mars/Base"}`)
	if got := explain("nightly", ""); !strings.Contains(got, "schedule_broken: ") || !strings.Contains(got, "Mars/Base") {
		t.Errorf("a zone that vanished: %s", got)
	}
	if d := decode[ScheduleDetail](t, b.must(200, "GET", schedules+"/nightly", "")); len(d.Next) != 0 || d.NextAt != 0 {
		t.Errorf("a zone that vanished: it fires at %+v", d.Next)
	}
	b.must(400, "GET", schedules+"/paused/explain?at=soon", "")
}

func TestFiresThatAreTooNearAreRefusedWithTheLeast(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.LeastInterval = 5 * time.Minute })
	b.seed("alpha")
	for body, want := range map[string]string{
		`{"cron": "*/4 * * * *"}`: "cron", `{"cron": "@every 90s"}`: "cron", `{"at": ["2030-01-01 05:00", "2030-01-01 05:01"]}`: "at",
	} {
		p := decode[Problem](t, b.must(422, "PUT", schedules+"/x", body))
		if len(p.Errors) != 1 || p.Errors[0].Field != want || !strings.Contains(p.Errors[0].Message, "at least 5m") {
			t.Errorf("%s: refused with %+v, want %s and the least", body, p.Errors, want)
		}
	}
	b.must(201, "PUT", schedules+"/x", `{"cron": "*/5 * * * *"}`)
}
