package apiserver

import (
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// publish saves a workflow like daily under another name.
func (b *bench) publish(project, name string) {
	b.t.Helper()
	b.must(201, "PUT", "/api/v1/projects/"+project+"/workflows/"+name, strings.ReplaceAll(twoTasks, "daily", name), "Content-Type", "application/yaml")
}

func TestAScheduleFiresAtTheEndOfAnotherWorkflow(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	b.seed("beta")
	b.publish("beta", "report")
	const one = "/api/v1/projects/beta/workflows/report/schedules/after"
	made := decode[Schedule](t, b.must(201, "PUT", one, `{"after": {"workflow": "Alpha/Daily", "states": ["success", "failed"]}, "overlap": "wait"}`))
	if made.After == nil || made.After.Workflow != "Alpha/Daily" || len(made.After.States) != 2 || made.NextAt != 0 {
		t.Errorf("made %+v", made)
	}
	explain := func(query string) string {
		e := decode[Explanation](t, b.must(200, "GET", one+"/explain"+query, ""))
		text := e.Code + ": " + e.Text
		for _, c := range e.Causes {
			text += " | " + c.Code + ": " + c.Text
		}
		return text
	}
	if got := explain(""); got != "schedule_after: it fires when an instance of Alpha/Daily ends as success or failed" {
		t.Errorf("explained as %s", got)
	}
	// The instance that seed has started ends.
	first := b.instances("alpha")[0]
	b.finish(first)
	fires, _, err := b.db.PlanEnds(t.Context(), 10, func(int64) bool { return true })
	if err != nil || len(fires) != 1 {
		t.Fatalf("planned %+v, %v", fires, err)
	}
	if _, err := b.db.SettleFires(t.Context(), fires, "m1:a", 7); err != nil {
		t.Fatal(err)
	}
	ledger := decode[List[Fire]](t, b.must(200, "GET", one+"/fires?to=2100-01-01T00:00:00Z&from=1970-01-01T00:00:00Z", "")).Items
	if len(ledger) != 1 || ledger[0].State != "fired" || ledger[0].AfterID != ID(first) || ledger[0].InstanceID == 0 {
		t.Fatalf("the ledger is %+v", ledger)
	}
	b.exec(`UPDATE schedule SET planned_until = ?`, int64(1)<<50) // as the planner does
	proof := one + "/proof?from=1970-01-01T00:00:00Z&to=2100-01-01T00:00:00Z"
	p := decode[ScheduleProof](t, b.must(200, "GET", proof, ""))
	if !p.Holds || p.Planned != 1 || p.Outcomes["fired"] != 1 || p.Compared || !strings.Contains(p.Why, "ends of another workflow") {
		t.Errorf("the proof is %+v", p)
	}
	b.exec(`UPDATE fire SET instance_id = 999999`)
	if p := decode[ScheduleProof](t, b.must(200, "GET", proof, "")); p.Holds || len(p.NoInstance) != 1 {
		t.Errorf("where its instance is not there the proof is %+v", p)
	}
	b.exec(`UPDATE schedule SET after_workflow = 999999`)
	if got := explain(""); !strings.HasPrefix(got, "schedule_after_gone: ") {
		t.Errorf("where the workflow is gone it is explained as %s", got)
	}
}

func TestABadEndIsRefused(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	b.seed("secret")
	for _, name := range []string{"load", "report", "archive"} {
		b.publish("alpha", name)
	}
	of := func(workflow string) string {
		return "/api/v1/projects/alpha/workflows/" + workflow + "/schedules/after"
	}
	for body, want := range map[string]string{
		`{"after": {"workflow": "nothing"}}`:                                      "after.workflow unknown_workflow",
		`{"after": {"workflow": "nowhere/daily"}}`:                                "after.workflow unknown_workflow",
		`{"after": {"workflow": "report"}}`:                                       "after.workflow circle",
		`{"after": {"workflow": "Alpha/REPORT"}}`:                                 "after.workflow circle",
		`{"after": {"workflow": "a/b/c"}}`:                                        "after.workflow invalid_name",
		`{"after": {"workflow": "load", "states": ["running"]}}`:                  "after.states[0] not_in_enum",
		`{"after": {"workflow": "load"}, "cron": "0 5 * * *"}`:                    "cron conflict",
		`{"after": {"workflow": "load"}, "misfire": {"policy": "all"}}`:           "misfire conflict",
		`{"after": {"workflow": "load"}, "params": {"nothing": 1}, "jitter": ""}`: "params.nothing unknown_param",
	} {
		if got := wrongFields(b, 422, "PUT", of("report"), body); got != want {
			t.Errorf("%s: wrong are %s, want %s", body, got, want)
		}
	}
	b.must(404, "GET", of("report"), "")
	editor := b.person("ed", "alpha", roleEditor, false)
	if w := b.do(asked{method: "PUT", path: of("report"), body: `{"after": {"workflow": "secret/daily"}}`, token: editor}); w.Code != 422 || !strings.Contains(w.Body.String(), "unknown_workflow") {
		t.Errorf("who may not see the other project: %d %s", w.Code, w.Body)
	}
	b.must(201, "PUT", of("report"), `{"after": {"workflow": "load"}}`)
	if got := wrongFields(b, 422, "PUT", of("load"), `{"after": {"workflow": "report"}}`); got != "after.workflow circle" {
		t.Errorf("a circle of two: wrong are %s", got)
	}
	const many = "/api/v1/projects/alpha/schedules"
	got := wrongFields(b, 422, "PUT", many, `{"schedules": [{"workflow": "archive", "name": "a", "after": {"workflow": "report"}}, {"workflow": "load", "name": "b", "after": {"workflow": "archive"}}]}`)
	if got != "schedules[1].after.workflow circle" {
		t.Errorf("a circle within one request: wrong are %s", got)
	}
	b.must(404, "GET", "/api/v1/projects/alpha/workflows/archive/schedules/a", "")
	b.must(200, "PUT", many, `{"schedules": [{"workflow": "archive", "name": "a", "after": {"workflow": "report"}}, {"workflow": "archive", "name": "b", "after": {"workflow": "load"}}]}`)
	const three = `{"schedules": [{"workflow": "archive", "name": "a", "after": {"workflow": "report"}}, {"workflow": "load", "name": "c", "cron": "0 5 * * *"}], "together": true}`
	if w := b.must(200, "PUT", many, three); !strings.Contains(w.Body.String(), `"created":1`) || !strings.Contains(w.Body.String(), `"changed":1`) {
		t.Errorf("saved together: %s", w.Body)
	}
	b.must(200, "POST", many+"/preview", `{"after": {"workflow": "load"}, "workflow": "archive"}`)
	if got := wrongFields(b, 422, "POST", many+"/preview", `{"after": {"workflow": "archive"}, "workflow": "load"}`); got != "after.workflow circle" {
		t.Errorf("previewed, wrong are %s", got)
	}
}

// instances are the ids of a project's, the oldest first.
func (b *bench) instances(project string) []int64 {
	b.t.Helper()
	rows, _, err := b.db.Instances(b.t.Context(), sql.InstanceFilter{ProjectIDs: []int64{b.projectID(project)}}, sql.Page{})
	if err != nil {
		b.t.Fatal(err)
	}
	var ids []int64
	for _, row := range rows {
		ids = append([]int64{row.ID}, ids...)
	}
	return ids
}

// finish ends an instance that nobody has begun.
func (b *bench) finish(id int64) { b.finishAfter(id, 0) }

// finishAfter ends one as a success that took so long.
func (b *bench) finishAfter(id int64, took time.Duration) {
	b.t.Helper()
	got, err := b.db.Claim(b.t.Context(), []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id, Kind: sql.CommandStart}, Owner: "m1:a"}})
	if err != nil || len(got) != 1 {
		b.t.Fatalf("claim %d: %d won, %v", id, len(got), err)
	}
	now := dag.MillisOf(time.Now())
	in := &dag.Instance{ID: id, State: dag.InstanceSuccess, Round: 1, Seq: got[0].Instance.Seq + 1, StartedAt: now.Add(-took), FinishedAt: now}
	wrong := b.db.Commit(b.t.Context(), []sql.Transition{{Instance: in, Epoch: got[0].Instance.OwnerEpoch, Effects: &dag.Effects{Changed: true}, Release: true, At: now}})
	if wrong[0] != nil {
		b.t.Fatal(wrong[0])
	}
}

func TestSchedulesAreCheckedWithCalendarsThatAreNotThereYet(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	const many = "/api/v1/projects/alpha/schedules"
	const one = `{"workflow": "daily", "name": "nightly", "cron": "0 5 * * *", "calendar": {"skip": ["holidays"]}}`
	if got := wrongFields(b, 422, "PUT", many, `{"schedules": [`+one+`], "preview": true}`); !strings.Contains(got, "schedules[0].calendar") {
		t.Errorf("without the calendar, wrong are %s", got)
	}
	if got := wrongFields(b, 422, "PUT", many, `{"schedules": [`+one+`], "preview": true, "calendars": [{"name": "holidays", "days": ["13-25"]}]}`); !strings.HasPrefix(got, "calendars[0].days[0]") {
		t.Errorf("of a calendar with no such day, wrong are %s", got)
	}
	if got := wrongFields(b, 422, "PUT", many, `{"schedules": [`+one+`], "calendars": [{"name": "holidays", "days": ["12-25"]}]}`); !strings.HasPrefix(got, "calendars conflict") {
		t.Errorf("saved with calendars, wrong are %s", got)
	}
	b.must(200, "PUT", many, `{"schedules": [`+one+`], "preview": true, "calendars": [{"name": "holidays", "days": ["12-25"]}]}`)
	b.must(404, "GET", "/api/v1/projects/alpha/workflows/daily/schedules/nightly", "")
	b.must(404, "GET", "/api/v1/projects/alpha/calendars/holidays", "")
}
