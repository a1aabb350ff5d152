package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/timer"
	"github.com/porpoise/porpoise/sql"
)

const hook = `{"app": "alpha", "name": "hook", "cron": "*/5 * * * * *", "timezone": "Asia/Tokyo",
	"notifyHTTPParam": {"url": "http://example.org/x", "method": "POST", "header": {"X-A": ["1", "2"]}, "body": "hello"}}`

// timerBench has the project alpha and a timer in it.
func timerBench(t *testing.T) (b *bench, id int64) {
	t.Helper()
	b = newBench(t)
	b.signInAs(adminName, b.pass)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	made := decode[timerCreated](t, b.must(200, "POST", "/api/timer/v1/def", hook))
	if made.Code != 0 || made.Msg != "ok" || made.ID == 0 {
		t.Fatalf("made: %+v", made)
	}
	return b, made.ID
}

// Requirements X22 to X25.
func TestTimersAreMadeSwitchedAndDeleted(t *testing.T) {
	t.Parallel()
	b, id := timerBench(t)
	ref := fmt.Sprintf(`{"id": %d, "app": "alpha"}`, id)
	show := func() Timer {
		t.Helper()
		got := decode[timerAnswer](t, b.must(200, "GET", fmt.Sprintf("/api/timer/v1/def?id=%d&app=alpha", id), ""))
		if got.Code != 0 {
			t.Errorf("code %d", got.Code)
		}
		return got.Data
	}
	got := show()
	if got.Name != "hook" || got.App != "alpha" || got.Cron != "*/5 * * * * *" || got.Timezone != "Asia/Tokyo" || got.Enabled || got.ID != id ||
		got.Call.Method != "POST" || got.Call.URL != "http://example.org/x" || strings.Join(got.Call.Header["X-A"], ",") != "1,2" || got.Call.Body != "hello" || got.FailingSince != nil {
		t.Errorf("shown: %+v", got)
	}
	if got := decode[codedProblem](t, b.must(409, "POST", "/api/timer/v1/def", strings.Replace(hook, `"hook"`, `"HOOK"`, 1))); got.Code != 409 || !strings.HasPrefix(got.Msg, "name: ") {
		t.Errorf("the same name: %+v", got)
	}
	for range 2 {
		if got := decode[Coded](t, b.must(200, "POST", "/api/timer/v1/enable", ref)); got != (Coded{0, "ok"}) {
			t.Errorf("enabled: %+v", got)
		}
	}
	if !show().Enabled {
		t.Error("it is not enabled")
	}
	records := decode[timerRecords](t, b.must(200, "GET", fmt.Sprintf("/api/task/v1/records?app=alpha&id=%d&pageSize=100", id), ""))
	if len(records.Data) != 100 || records.Cursor == "" || records.Data[0].State != "planned" || records.Data[0].Key != fmt.Sprintf("%d-%d", id, int64(records.Data[0].PlannedAt)) {
		t.Fatalf("%d records, %+v", len(records.Data), records.Data[:min(1, len(records.Data))])
	}
	rest := decode[timerRecords](t, b.must(200, "GET", fmt.Sprintf("/api/task/v1/records?app=alpha&id=%d&pageSize=100&state=planned&cursor=%s", id, records.Cursor), ""))
	if n := len(rest.Data); n < 19 || n > 21 {
		t.Errorf("%d more records, want those of ten minutes", n)
	}
	b.must(200, "POST", "/api/timer/v1/unable", ref)
	if show().Enabled {
		t.Error("it is still enabled")
	}
	for path, want := range map[string]int{"defs?app=alpha": 1, "defs?app=alpha&page=2": 0, "defsByName?app=alpha&fuzzyName=OO": 1, "defsByName?app=alpha&fuzzyName=x": 0} {
		if got := decode[timerList](t, b.must(200, "GET", "/api/timer/v1/"+path, "")); len(got.Data) != want || got.More {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if got := decode[timerSums](t, b.must(200, "GET", "/api/timer/v1/stats?app=alpha&days=7", "")); got.Data.Enabled != 0 || got.Data.Failing != 0 {
		t.Errorf("stats: %+v", got)
	}
	b.must(200, "DELETE", "/api/timer/v1/def", ref)
	if got := decode[codedProblem](t, b.must(404, "DELETE", "/api/timer/v1/def", ref)); got.Code != 404 {
		t.Errorf("deleted twice: %+v", got)
	}
	b.must(404, "GET", fmt.Sprintf("/api/task/v1/records?app=alpha&id=%d", id), "")
}

func TestATimerIsReplaced(t *testing.T) {
	t.Parallel()
	b, id := timerBench(t)
	b.must(200, "POST", "/api/timer/v1/enable", fmt.Sprintf(`{"id": %d, "app": "alpha"}`, id))
	anew := func(id int64) string {
		return strings.Replace(strings.Replace(hook, "*/5", "*/7", 1), `"app"`, fmt.Sprintf(`"id": %d, "app"`, id), 1)
	}
	made := decode[timerCreated](t, b.must(200, "PUT", "/api/timer/v1/def", anew(id)))
	got := decode[timerAnswer](t, b.must(200, "GET", fmt.Sprintf("/api/timer/v1/def?id=%d&app=alpha", made.ID), "")).Data
	if made.ID == id || got.Cron != "*/7 * * * * *" || !got.Enabled || got.Name != "hook" {
		t.Errorf("the new one is %+v", got)
	}
	b.must(404, "PUT", "/api/timer/v1/def", anew(id))
	if got := decode[codedProblem](t, b.must(422, "PUT", "/api/timer/v1/def", strings.Replace(hook, "*/5", "61", 1))); !strings.HasPrefix(got.Msg, "id: is required; cron: ") {
		t.Errorf("a wrong one: %+v", got)
	}
	b.must(200, "POST", "/api/timer/v1/def", strings.Replace(hook, `"hook"`, `"other"`, 1))
	if got := decode[codedProblem](t, b.must(409, "PUT", "/api/timer/v1/def", strings.Replace(anew(made.ID), `"hook"`, `"OTHER"`, 1))); got.Errors[0].Code != "name_taken" {
		t.Errorf("by the name of another: %+v", got)
	}
}

func TestATimerThatIsWrongIsRefusedWhole(t *testing.T) {
	t.Parallel()
	b, _ := timerBench(t)
	for body, want := range map[string]string{
		`{}`: "app: is required; name: a name must not be empty; cron: is required; notifyHTTPParam.method: the method must be one of GET, POST, DELETE, PATCH; notifyHTTPParam.url: only http and https are called",
		strings.Replace(hook, "*/5 *", "*/5 61", 1):                        "cron: ",
		strings.Replace(hook, "example.org/x", "169.254.169.254/x", 1):     "notifyHTTPParam.url: address is not allowed",
		strings.Replace(hook, `["1", "2"]`, `"1"`, 1):                      "must be a list, not string",
		strings.Replace(hook, `"name"`, `"title"`, 1):                      "title: is not a known field",
		strings.Replace(hook, `"POST"`, `"POST", "timeoutSeconds": 61`, 1): "notifyHTTPParam.timeoutSeconds: 61 is not in 1-60",
		strings.Replace(hook, "Asia/Tokyo", "Mars/Olympus", 1):             "timezone: ",
		strings.Replace(hook, `"*/5 * * * * *"`, `"0 0 0 1 1 ? 2020"`, 1):  "cron: it never fires any more",
	} {
		got := decode[codedProblem](t, b.must(422, "POST", "/api/timer/v1/def", strings.Replace(body, `"hook"`, `"other"`, 1)))
		if got.Code != 422 || !strings.Contains(got.Msg, want) {
			t.Errorf("%s:\n%s, want %s", body, got.Msg, want)
		}
	}
	if got := decode[timerList](t, b.must(200, "GET", "/api/timer/v1/defs?app=alpha", "")); len(got.Data) != 1 {
		t.Errorf("%d timers after refusals, want 1", len(got.Data))
	}
	for _, path := range []string{"/api/timer/v1/def", "/api/timer/v1/def?id=x&app=alpha", "/api/timer/v1/defs?app=alpha&page=0", "/api/timer/v1/defs?app=alpha&pages=1", "/api/task/v1/records?app=alpha&id=1&state=done"} {
		if got := decode[codedProblem](t, b.must(400, "GET", path, "")); got.Code != 400 || len(got.Errors) == 0 {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if got := decode[codedProblem](t, b.must(422, "POST", "/api/timer/v1/enable", `{}`)); got.Msg != "id: is required; app: is required" {
		t.Errorf("enable nothing: %+v", got)
	}
	b.must(404, "POST", "/api/timer/v1/def", strings.Replace(hook, `"alpha"`, `"beta"`, 1))
}

func TestTimersFollowTheRolesOfTheirProject(t *testing.T) {
	t.Parallel()
	b, id := timerBench(t)
	b.must(201, "PUT", "/api/v1/projects/beta", "")
	ref := fmt.Sprintf(`{"id": %d, "app": "alpha"}`, id)
	asks := []struct {
		method, path, body string
		need               role
	}{
		{"POST", "/api/timer/v1/def", strings.Replace(hook, `"hook"`, `"other"`, 1), roleEditor},
		{"PUT", "/api/timer/v1/def", strings.Replace(hook, `"app"`, `"id": 999999, "app"`, 1), roleEditor},
		{"DELETE", "/api/timer/v1/def", `{"id": 999999, "app": "alpha"}`, roleEditor},
		{"POST", "/api/timer/v1/enable", ref, roleOperator},
		{"POST", "/api/timer/v1/unable", ref, roleOperator},
		{"GET", fmt.Sprintf("/api/timer/v1/def?app=alpha&id=%d", id), "", roleViewer},
		{"GET", "/api/timer/v1/defs?app=alpha", "", roleViewer},
		{"GET", "/api/timer/v1/defsByName?app=alpha&fuzzyName=h", "", roleViewer},
		{"GET", "/api/timer/v1/stats?app=alpha", "", roleViewer},
		{"GET", fmt.Sprintf("/api/task/v1/records?app=alpha&id=%d", id), "", roleViewer},
	}
	callers := map[role]string{roleNone: b.person("stranger", "beta", roleOwner, false)}
	for r := roleViewer; r <= roleOwner; r++ {
		callers[r] = b.person("alpha-"+r.String(), "alpha", r, false)
	}
	for _, a := range asks {
		for has, token := range callers {
			header := map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json"}
			w := b.do(asked{method: a.method, path: a.path, body: a.body, header: header})
			want := http.StatusForbidden
			if has == roleNone {
				want = http.StatusNotFound
			}
			if has >= a.need {
				if w.Code == http.StatusForbidden {
					t.Errorf("%s %s by %s is refused", a.method, a.path, has)
				}
			} else if w.Code != want {
				t.Errorf("%s %s by %s = %d, want %d", a.method, a.path, has, w.Code, want)
			}
		}
		w := b.do(asked{method: a.method, path: a.path, body: a.body, header: map[string]string{"Authorization": "Bearer pp_nobody", "Content-Type": "application/json"}})
		if got := decode[Coded](t, w); w.Code != 401 || got.Code != 401 {
			t.Errorf("%s %s by nobody = %d %+v", a.method, a.path, w.Code, got)
		}
	}
}

func TestTimersOfAnAppAreChangedAtAPace(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	p := newPace(func() time.Time { return now })
	for i := range paceBurst {
		if wait := p.take("define", 1); wait != 0 {
			t.Fatalf("change %d has to wait %s", i, wait)
		}
	}
	if wait := p.take("define", 1); wait != time.Second/pacePerSecond {
		t.Errorf("one too many waits %s", wait)
	}
	if p.take("switch", 1) != 0 || p.take("define", 2) != 0 {
		t.Error("another kind, or another project, has to wait")
	}
	now = now.Add(time.Second)
	for i := range pacePerSecond {
		if wait := p.take("define", 1); wait != 0 {
			t.Fatalf("a second later, change %d has to wait %s", i, wait)
		}
	}
	if p.take("define", 1) == 0 {
		t.Error("more than the pace is taken")
	}
}

// Requirement X26.
func TestTheFiguresOfTimersAreShown(t *testing.T) {
	t.Parallel()
	b, id := timerBench(t)
	b.must(200, "POST", "/api/timer/v1/enable", fmt.Sprintf(`{"id": %d, "app": "alpha"}`, id))
	text := b.must(200, "GET", "/metrics", "").Body.String()
	for _, want := range []string{
		"porpoise_timers_enabled 1", "porpoise_timer_tasks_overdue 0", `porpoise_timer_tasks_total{state="success"} 0`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	// A minute later two firings have come to their end, and the others are overdue.
	now := b.clock.Now().Add(time.Minute)
	var results []sql.TimerResult
	for i, state := range []timer.State{timer.Success, timer.Failed} {
		var due []sql.TimerClaim
		err := b.db.DueTimerTasks(t.Context(), dag.MillisOf(now), func(d sql.DueTimerTask) bool {
			due = append(due, sql.TimerClaim{TimerKey: d.TimerKey, Until: dag.MillisOf(now.Add(time.Hour))})
			return false
		})
		if err != nil || len(due) != 1 {
			t.Fatalf("due are %+v, %v", due, err)
		}
		if got, err := b.db.ClaimTimerTasks(t.Context(), "m1:a", due, dag.MillisOf(now)); err != nil || len(got) != 1 {
			t.Fatalf("claimed %+v, %v", got, err)
		}
		results = append(results, sql.TimerResult{TimerKey: due[0].TimerKey, ProjectID: b.projectID("alpha"), Tries: 1, State: state, CalledAt: due[0].PlannedAt})
		if _, _, err := b.db.FinishTimerTasks(t.Context(), "m1:a", results[i:]); err != nil {
			t.Fatal(err)
		}
	}
	b.clock.advance(time.Minute)
	text = b.must(200, "GET", "/metrics", "").Body.String()
	overdue := regexp.MustCompile(`\nporpoise_timer_tasks_overdue ([1-9][0-9]*)\n`)
	if !strings.Contains(text, "\nporpoise_timer_tasks_total{state=\"success\"} 1\n") || !strings.Contains(text, "\nporpoise_timer_tasks_total{state=\"failed\"} 1\n") || !overdue.MatchString(text) {
		t.Errorf("with results the figures are\n%s", text)
	}
}

// Requirement X25: who changes an app's timers too fast is told when to go on, whatever he changes.
func TestAFastAppIsToldToWait(t *testing.T) {
	t.Parallel()
	b, id := timerBench(t)
	b.clock.freeze()
	project := b.projectID("alpha")
	for _, kind := range []string{"define", "switch"} {
		for b.server.pace.take(kind, project) == 0 {
		}
	}
	ref := fmt.Sprintf(`{"id": %d, "app": "alpha"}`, id)
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/api/timer/v1/def", strings.ReplaceAll(hook, `"hook"`, `"other"`)},
		{"PUT", "/api/timer/v1/def", strings.Replace(hook, "{", fmt.Sprintf(`{"id": %d, `, id), 1)},
		{"DELETE", "/api/timer/v1/def", ref},
		{"POST", "/api/timer/v1/enable", ref},
		{"POST", "/api/timer/v1/unable", ref},
	} {
		w := b.must(429, c.method, c.path, c.body)
		if w.Header().Get("Retry-After") == "" {
			t.Errorf("%s %s does not say how long to wait", c.method, c.path)
		}
	}
}

// The document says what a client needs that is made of it: what each route takes and gives, in what form it refuses, and
// where it is, below a base path too.
func TestTheDocumentDescribesTimers(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.BasePath = "/porpoise" })
	type schema struct {
		Ref        string `json:"$ref"`
		Required   []string
		Properties map[string]json.RawMessage
	}
	type content map[string]struct{ Schema schema }
	var doc struct {
		Paths map[string]struct {
			Servers   []struct{ URL string }
			Get, Post *struct {
				Description string
				Parameters  []struct {
					Name     string
					Required bool
				}
				RequestBody struct{ Content content }
				Responses   map[string]struct{ Content content }
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(b.server.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	schemaOf := func(c content) schema {
		s := c["application/json"].Schema
		return doc.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	def := doc.Paths["/api/timer/v1/def"]
	if len(def.Servers) != 1 || def.Servers[0].URL != "/porpoise" || !strings.Contains(def.Post.Description, "editors of the app") {
		t.Errorf("it is at %v, %q", def.Servers, def.Post.Description)
	}
	if s := schemaOf(def.Post.RequestBody.Content); !slices.Contains(s.Required, "cron") || slices.Contains(s.Required, "timezone") || s.Properties["notifyHTTPParam"] == nil {
		t.Errorf("a timer is made of %+v", s)
	}
	if s := schemaOf(def.Post.Responses["200"].Content); s.Properties["code"] == nil || s.Properties["id"] == nil {
		t.Errorf("a timer made is answered with %+v", s)
	}
	if s := schemaOf(def.Post.Responses["422"].Content); s.Properties["msg"] == nil || s.Properties["errors"] == nil {
		t.Errorf("a refusal is %+v", s)
	}
	var asked []string
	for _, p := range doc.Paths["/api/task/v1/records"].Get.Parameters {
		asked = append(asked, fmt.Sprint(p.Name, p.Required))
	}
	if slices.Sort(asked); strings.Join(asked, " ") != "apptrue cursorfalse idtrue pageSizefalse statefalse" {
		t.Errorf("firings are asked for with %v", asked)
	}
}

// The timer of the document is one that the API takes.
func TestTheDocumentOfTimersHolds(t *testing.T) {
	t.Parallel()
	b, _ := timerBench(t)
	b.must(201, "PUT", "/api/v1/projects/sales", "")
	text, err := os.ReadFile("../docs/timers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, from, _ := strings.Cut(string(text), "\n    {\n")
	def, _, _ := strings.Cut(from, "\n    }\n")
	made := decode[timerCreated](t, b.must(200, "POST", "/api/timer/v1/def", "{"+def+"}"))
	got := decode[timerAnswer](t, b.must(200, "GET", fmt.Sprintf("/api/timer/v1/def?id=%d&app=sales", made.ID), "")).Data
	if got.Call.MaxTries != 5 || got.Call.Body != `{"hello": true}` {
		t.Errorf("made %+v", got)
	}
	for name, sp := range b.routes() {
		if method, path, _ := strings.Cut(name, " "); sp.coded && !strings.Contains(string(text), "| `"+method+" "+path+"` |") {
			t.Errorf("docs/timers.md does not have %s", name)
		}
	}
	for _, state := range timer.States() {
		if !strings.Contains(string(text), "| `"+string(state)+"` |") {
			t.Errorf("docs/timers.md does not explain %s", state)
		}
	}
}
