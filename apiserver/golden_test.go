package apiserver

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/porpoise/porpoise/sql"
)

var update = flag.Bool("update", false, "write the golden answers anew")

// What differs from run to run, and what stands for it in a golden answer.
var unsteady = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`), `"2026-11-21T12:00:00.000Z"`},
	{regexp.MustCompile(`"token": ?"\d+\.[0-9a-f]{32}"`), `"token": "1.cafe"`},
	{regexp.MustCompile(`"(system_[a-z_]*(?:date|time)",\s*"value)": ?"\d+"`), `"$1": "20261121"`},
	{regexp.MustCompile(`"(system_workflow_instance_id",\s*"value|instance)": ?"\d+"`), `"$1": "1"`},
	{regexp.MustCompile(`"((?:[a-z_]*_)?id)": ?"[^"]+"`), `"$1": "1"`},
	{regexp.MustCompile(`"tasks": ?"[0-9.a-z-]+"`), `"tasks": "1.a"`},
	{regexp.MustCompile(`"secret": ?"[^"]+"`), `"secret": "pp_..."`},
	{regexp.MustCompile(`"token": ?"pj1[^"]+"`), `"token": "pj1.cafe..."`},
}

// TestAnswersAreAsTheyWere compares whole answers with testdata/*.json; -update writes them.
func TestAnswersAreAsTheyWere(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) {
		c.Masters, c.Balancer, c.Node, c.Leases = fixedMasters{}, fixedBalancer{}, "a1", Leases{Master: 5 * time.Second, Worker: 6 * time.Second}
		c.Settings = []Setting{{Key: "http", Value: "127.0.0.1:8080", Source: "env", About: "address of the API"}, {Key: "database", Source: "file", Secret: true, About: "where"}}
	})
	id := b.seed("alpha")
	b.assign(id)
	if _, err := b.db.SaveFailover(t.Context(), sql.FailoverRow{
		Kind: sql.FailoverMaster, Node: "m1", Incarnation: "a", Master: "m2:b", Cause: "the master left the registry", DetectedAt: 1, FinishedAt: 3,
		Instances: 2, Adopted: 1, Lost: 1, Steps: []sql.FailoverStep{{Name: "absent", At: 1}, {Name: "taken", At: 2}, {Name: "settled", At: 3}},
	}); err != nil {
		t.Fatal(err)
	}
	fence, err := b.db.BeginSupervision(t.Context(), "m1:a", 1, 5_000)
	if err != nil {
		t.Fatal(err)
	}
	number, _ := parseID(id)
	stuck := sql.RecoveryRow{InstanceID: number, Task: 1, Attempt: 1, Step: "killing", Failures: 2, CompleteBy: 30_002}
	if err := b.db.AskRecovery(t.Context(), fence, 2, []sql.RecoveryRow{stuck}); err != nil {
		t.Fatal(err)
	}
	b.rebalance()
	refused := sql.AuditRow{CreatedAt: 1, Actor: "eve", Address: "::1", Action: "delete-workflow", Object: "project=alpha workflow=daily", Outcome: "refused", Detail: "Forbidden 1"}
	if err := b.db.AddAudit(t.Context(), []sql.AuditRow{refused}); err != nil {
		t.Fatal(err)
	}
	b.signInAs(adminName, b.pass)
	const w = "/api/v1/projects/alpha/workflows/daily"
	in := "/api/v1/instances/" + id
	for _, c := range []struct {
		name, method, path, body string
		status                   int
	}{
		{"project", "GET", "/api/v1/projects/alpha", "", 200},
		{"projects", "GET", "/api/v1/projects", "", 200},
		{"overview", "GET", "/api/v1/overview", "", 200},
		{"workflow_overview", "GET", "/api/v1/projects/alpha/overview", "", 200},
		{"sessions", "GET", "/api/v1/sessions", "", 200},
		{"workflow", "GET", w, "", 200},
		{"workflows", "GET", "/api/v1/projects/alpha/workflows", "", 200},
		{"versions", "GET", w + "/versions", "", 200},
		{"version", "GET", w + "/versions/1", "", 200},
		{"layout_none", "GET", w + "/layout", "", 200},
		{"layout", "PUT", w + "/layout", `{"tasks":{"load":{"x":10,"y":20.5}}}`, 200},
		{"cases_none", "GET", w + "/cases", "", 200},
		{"cases", "PUT", w + "/cases", `{"text":"cases:\n  - {name: well, expect: success}\n","revision":0}`, 200},
		{"cases_stale", "PUT", w + "/cases", `{"text":"cases: []\n","revision":0}`, 412},
		{"waiters", "GET", in + "/waiters", "", 200},
		{"validate", "POST", "/api/v1/validate", `{"name":"x","tasks":[{"name":"a","type":"nop"}]}`, 200},
		{"validate_warnings", "POST", "/api/v1/validate?project=alpha&workflow=daily", `{"name":"daily","tasks":[{"name":"a","type":"noop"},{"name":"b","type":"shell","script":"echo ${x}","worker_group":"gpu"}]}`, 200},
		{"validate_graph", "POST", "/api/v1/validate", `{"name":"x","tasks":[{"name":"a","type":"noop","needs":["b"]},{"name":"b","type":"noop","needs":["a","c"]}]}`, 200},
		{"parameters", "POST", w + "/parameters", `{"task":"extract","params":{"day":7},"schedule_time":"2026-03-29T02:00:00Z"}`, 200},
		{"trial", "POST", "/api/v1/projects/alpha/trial", `{"text":"name: x\ntasks:\n  - {name: a, type: shell, script: ls}\n","cases":"cases:\n  - {name: well, expect: success}\n  - name: badly\n    tasks: {a: failed}\n    expect: {state: success, tasks: {a: {attempts: 2}}}\n"}`, 200},
		{"trial_wrong", "POST", "/api/v1/projects/alpha/trial", `{"text":"name: x\ntasks:\n  - {name: a, type: noop}\n","cases":"cases:\n  - {name: well, expected: success}\n"}`, 200},
		{"dates", "GET", "/api/v1/dates?at=2026-03-30T01:00:00Z&timezone=Europe/Berlin", "", 200},
		{"instance", "GET", in, "", 200},
		{"instances", "GET", "/api/v1/instances?state=running", "", 200},
		{"tasks", "GET", in + "/tasks", "", 200},
		{"attempts", "GET", in + "/tasks/extract/attempts", "", 200},
		{"view", "GET", in + "/view?drawing=true", "", 200},
		{"view_plain", "GET", in + "/view", "", 200},
		{"events", "GET", in + "/events?limit=2", "", 200},
		{"live_tasks", "GET", "/api/v1/tasks?is=running&project=alpha", "", 200},
		{"live_tasks_waiting", "GET", "/api/v1/tasks?is=waiting", "", 200},
		{"audit", "GET", "/api/v1/audit?actor=eve", "", 200},
		{"about", "GET", "/api/v1/about", "", 200},
		{"lineage", "GET", "/api/v1/lineage?project=alpha", "", 200},
		{"counts", "GET", "/api/v1/instances/counts?project=alpha", "", 200},
		{"task_types", "GET", "/api/v1/task-types", "", 200},
		{"graph", "GET", w + "/versions/1/graph", "", 200},
		{"preview", "GET", in + "/preview?verb=stop", "", 200},
		{"histogram", "GET", "/api/v1/instances/histogram?project=alpha", "", 200},
		{"grid", "GET", w + "/grid", "", 200},
		{"task_history", "GET", w + "/tasks/extract/history", "", 200},
		{"neighbours", "GET", in + "/neighbours", "", 200},
		{"values", "GET", in + "/values", "", 200},
		{"explain", "GET", in + "/explain", "", 200},
		{"explain_task", "GET", in + "/explain?task=load", "", 200},
		{"masters", "GET", "/api/v1/cluster/masters", "", 200},
		{"workers", "GET", "/api/v1/cluster/workers", "", 200},
		{"worker", "GET", "/api/v1/cluster/workers/w1", "", 200},
		{"worker_drain", "POST", "/api/v1/cluster/workers/w1/drain", `{"reason":"kernel update","give_back_after_seconds":600}`, 202},
		{"worker_resume", "POST", "/api/v1/cluster/workers/w1/resume", "", 202},
		{"failovers", "GET", "/api/v1/cluster/failovers?kind=master", "", 200},
		{"supervisor", "GET", "/api/v1/cluster/supervisor", "", 200},
		{"recoveries", "GET", "/api/v1/cluster/recoveries", "", 200},
		{"slots", "GET", "/api/v1/cluster/slots", "", 200},
		{"pulse", "GET", "/api/v1/cluster/pulse", "", 200},
		{"timer_slices", "GET", "/api/v1/cluster/timers", "", 200},
		{"running_tasks", "GET", "/api/v1/cluster/tasks", "", 200},
		{"slot_work", "GET", "/api/v1/cluster/slots/3", "", 200},
		{"busy_task_groups", "GET", "/api/v1/cluster/task-groups", "", 200},
		{"settings", "GET", "/api/v1/cluster/settings", "", 200},
		{"rebalance", "POST", "/api/v1/cluster/rebalance", `{"epoch":3}`, 202},
		{"rebalance_late", "POST", "/api/v1/cluster/rebalance", `{"epoch":2}`, 409},
		{"join_token", "POST", "/api/v1/cluster/join-tokens", `{"role":"worker"}`, 201},
		{"session", "GET", "/api/v1/session", "", 200},
		{"token", "POST", "/api/v1/tokens", `{"name":"ci","role":"viewer","project":"alpha"}`, 201},
		{"users", "GET", "/api/v1/users", "", 200},
		{"member", "PUT", "/api/v1/projects/alpha/members/admin", `{"role":"owner"}`, 200},
		{"user_tokens", "GET", "/api/v1/users/admin/tokens", "", 200},
		{"user_sessions", "GET", "/api/v1/users/admin/sessions", "", 200},
		{"resources", "GET", "/api/v1/resources/worker-groups", "", 200},
		{"listeners_all", "GET", "/api/v1/listeners", "", 200},
		{"members", "GET", "/api/v1/projects/alpha/members", "", 200},
		{"schedule_preview", "GET", "/api/v1/schedules/preview?cron=30+2+*+*+0&timezone=Europe/Berlin&from=2026-03-23T00:00:00Z&n=2", "", 200},
		{"start_preview", "POST", w + "/start?preview=true", `{"start_tasks":["load"],"scope":"upstream"}`, 200},
		{"backfill_preview", "POST", w + "/backfills?preview=true", `{"from":"2026-03-01","to":"2026-03-03","params":{"day":7}}`, 200},
		{"acknowledge_none", "PUT", in + "/acknowledgement", `{"round":1}`, 409},
		{"live_tasks_unusual", "GET", "/api/v1/tasks?is=waiting&older=usual", "", 200},
		{"start", "POST", w + "/start", `{"params":{"day":7},"priority":"high"}`, 202},
		{"pause", "POST", in + "/pause", "", 202},
		{"bulk", "POST", "/api/v1/instances/bulk", `{"verb":"recover","instances":[{"id":"` + id + `"}]}`, 200},
		{"calendar", "PUT", "/api/v1/projects/alpha/calendars/holidays", `{"days":["12-25","sunday"]}`, 201},
		{"schedule_rules_preview", "POST", "/api/v1/projects/alpha/schedules/preview", `{"cron":"30 2 * * *","timezone":"Europe/Berlin","from":"2026-03-28T00:00:00Z","n":2}`, 200},
		{"schedule_put", "PUT", w + "/schedules/once", `{"at":["2040-01-01 05:00"],"timezone":"Europe/Berlin","calendar":{"skip":["holidays"],"excluded":"next"},"params":{"day":7}}`, 201},
		{"schedule", "GET", w + "/schedules/once", "", 200},
		{"schedules", "GET", "/api/v1/schedules?project=alpha", "", 200},
		{"schedule_heat", "GET", "/api/v1/schedules/heat?timezone=Europe/Berlin&from=2040-01-01", "", 200},
		{"schedule_hour", "GET", "/api/v1/schedules/hour?timezone=Europe/Berlin&day=2040-01-02&hour=5", "", 200},
		{"schedule_fires", "GET", w + "/schedules/once/fires", "", 200},
		{"schedule_fires_run", "POST", w + "/schedules/once/fires/run", `{"at":["2026-01-01T05:00:00Z"]}`, 202},
		{"schedule_fire_days", "GET", w + "/schedules/once/fires/days", "", 200},
		{"schedule_proof", "GET", w + "/schedules/once/proof", "", 200},
		{"schedule_explain", "GET", w + "/schedules/once/explain", "", 200},
		{"schedule_wrong", "PUT", w + "/schedules/bad", `{"cron":"61 5 * * *","timezone":"Mars","params":{"nights":1}}`, 422},
		{"draft", "PUT", w + "/draft?base_version=1", `{"name":"daily","timeout":{"after":"1h"},"tasks":[{"name":"extract","type":"shell","script":"echo"},{"name":"c","type":"noop","needs":["extract"]}]}`, 201},
		{"diff", "GET", w + "/versions/1/diff/draft", "", 200},
		{"draft_required", "PUT", w + "/draft", "x", 428},
		{"restored", "POST", w + "/versions/1/restore", `{"message":"as it was"}`, 200},
		{"hold", "POST", "/api/v1/cluster/hold", `{"reason":"upgrade"}`, 202},
		{"hold_again", "POST", "/api/v1/cluster/hold", "", 200},
		{"explain_held", "GET", in + "/explain", "", 200},
		{"release", "POST", "/api/v1/cluster/release", "", 200},
		{"hold_none", "GET", "/api/v1/cluster/hold", "", 200},
		{"not_found", "GET", "/api/v1/instances/9999999", "", 404},
		{"wrong_fields", "POST", "/api/v1/cluster/join-tokens", `{"role":"king","uses":0,"exires":1}`, 422},
	} {
		got := normal(t, b.must(c.status, c.method, c.path, c.body).Body.Bytes())
		file := filepath.Join("testdata", c.name+".json")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s %s =\n%s\nwant\n%s", c.method, c.path, got, want)
		}
	}
}

func normal(t *testing.T, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	text := out.Bytes()
	for _, u := range unsteady {
		text = u.what.ReplaceAll(text, []byte(u.as))
	}
	return append(bytes.TrimSpace(text), '\n')
}
