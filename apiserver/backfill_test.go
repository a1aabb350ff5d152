package apiserver

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const backfills = "/api/v1/projects/alpha/workflows/daily/backfills"

// planned previews a backfill.
func (b *bench) planned(body string) BackfillPlan {
	b.t.Helper()
	got := decode[struct {
		ID string `json:"backfill_id"`
		BackfillPlan
	}](b.t, b.must(200, "POST", backfills+"?preview=true", body))
	if got.ID != "" {
		b.t.Errorf("a preview made backfill %s", got.ID)
	}
	return got.BackfillPlan
}

// filled makes the backfill that was previewed and returns its path.
func (b *bench) filled(body string) string {
	b.t.Helper()
	token := b.planned(body).Token
	w := b.must(202, "POST", backfills, strings.TrimSuffix(body, "}")+`,"preview":"`+token+`"}`)
	made := decode[struct {
		ID string `json:"backfill_id"`
	}](b.t, w)
	if at := w.Header().Get("Location"); at != backfills+"/"+made.ID {
		b.t.Errorf("location %q of backfill %s", at, made.ID)
	}
	return backfills + "/" + made.ID
}

// stop ends an instance that nobody has claimed yet, as its master would.
func (b *bench) stop(id int64) {
	b.t.Helper()
	got, err := b.db.Claim(b.t.Context(), []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id, Kind: sql.CommandStart}, Owner: "m1:a1"}})
	if err != nil || len(got) != 1 {
		b.t.Fatalf("claim %d: %d claimed, %v", id, len(got), err)
	}
	plan, err := planOf(got[0].Version)
	if err != nil {
		b.t.Fatal(err)
	}
	in := dag.NewInstance(plan, id, dag.StartOptions{})
	fx := in.Step(dag.Control{ID: 1, Verb: dag.VerbStop}, dag.MillisOf(time.Now()))
	tr := sql.Transition{Instance: in, Plan: plan, Epoch: got[0].Instance.OwnerEpoch, Effects: &fx, Release: true, Backfill: true, At: dag.MillisOf(time.Now())}
	if err := b.db.Commit(b.t.Context(), []sql.Transition{tr})[0]; err != nil || !in.State.Final() {
		b.t.Fatalf("instance %d is %s, %v", id, in.State, err)
	}
}

// days writes dates as a preview shows them.
func days(list []Time) string {
	out := make([]string, len(list))
	for i, at := range list {
		out[i] = dag.Millis(at).Time().Format("01-02T15")
	}
	return strings.Join(out, " ")
}

func TestAPreviewSaysExactlyWhichDatesWillRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	before := b.snapshot()
	for body, want := range map[string]string{
		`{"from":"2026-03-01","to":"2026-03-03"}`:                                                 "03-01T00 03-02T00 03-03T00",
		`{"from":"2026-03-01","to":"2026-03-03","order":"newest"}`:                                "03-03T00 03-02T00 03-01T00",
		`{"from":"2026-03-28","to":"2026-03-30","timezone":"Europe/Berlin"}`:                      "03-27T23 03-28T23 03-29T22",
		`{"from":"2026-03-01T22:00:00Z","to":"2026-03-02 00:00","every":"1h"}`:                    "03-01T22 03-01T23 03-02T00",
		`{"dates":["2026-03-09","2026-03-02T05:00:00Z","2026-03-09 00:00"]}`:                      "03-02T05 03-09T00",
		`{"from":"2026-03-20","to":"2026-03-31","cron":"0 5 * * MON","timezone":"Europe/Berlin"}`: "03-23T04 03-30T03",
		`{"from":"2026-03-01 00:01","to":"2026-03-01 23:59"}`:                                     "",
		`{"from":"2026-03-01","to":"2026-03-01","params":{"day":7},"parallel":100}`:               "03-01T00",
		`{"from":"2026-03-01","to":"2026-03-01","only":"missing","dry_run":true}`:                 "03-01T00",
		`{"from":"2026-03-01","to":"2026-03-01","only":"failed","priority":"lowest"}`:             "",
	} {
		got := b.planned(body)
		if s := days(got.Parts[0].Dates); s != want || got.Count != len(got.Parts[0].Dates) || got.Parts[0].Version != 1 {
			t.Errorf("%s: %d dates %s, want %s", body, got.Count, s, want)
		}
		if again := b.planned(body); again.Token != got.Token || got.Token == "" {
			t.Errorf("%s: the same plan has the tokens %q and %q", body, got.Token, again.Token)
		}
	}
	if after := b.snapshot(); after != before {
		t.Error("a preview wrote something")
	}
}

func TestWhatIsWrongWithABackfillIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	before := b.snapshot()
	for body, want := range map[string]string{
		`{}`:                    "from to",
		`{"from":"2026-03-01"}`: "to",
		`{"from":"2026-03-02","to":"2026-03-01"}`: "to",
		`{"from":"yesterday","to":"2026-02-30"}`:  "from to",
		`{"from":"1969-03-01","to":"2201-01-01"}`: "from to",
		`{"from":"2026-03-01","to":"2026-03-02","timezone":"Mars/Base","params":{"x":"1"},"worker_group":"a/b\n"}`: "params.x worker_group timezone",
		`{"from":"x","to":"2026-03-01","every":"1d","cron":"61 25 * * *"}`:                                         "from every cron cron",
		`{"dates":["2026-03-01","x"],"from":"2026-03-01","every":"1d"}`:                                            "every from dates[1]",
		`{"from":"2000-01-01","to":"2030-01-01","every":"1h"}`:                                                     "to",
		`{"from":"2026-03-01","to":"2026-03-01","version":9}`:                                                      "version",
		`{"from":"2026-03-01","to":"2026-03-01"}`:                                                                  "preview",
		`{"dates":[]}`: "from",
		`{"from":"2026-03-01","to":"2026-03-01","order":"up","only":"some","on_failure":"end","every":"2d","parallel":101}`: "body.every body.on_failure body.only body.order body.parallel",
	} {
		w := b.do(asked{method: "POST", path: backfills, body: body, token: b.admin})
		p := decode[Problem](t, w)
		var fields []string
		for _, e := range p.Errors {
			fields = append(fields, e.Field)
		}
		if strings.Contains(want, "body.") {
			want = strings.ReplaceAll(want, "body.", "")
			slices.Sort(fields)
		}
		if got := strings.Join(fields, " "); w.Code != 422 || got != want {
			t.Errorf("%s: %d, wrong are %q (%s), want %q", body, w.Code, got, p.Detail, want)
		}
	}
	if p := decode[Problem](t, b.must(422, "POST", backfills, `{"from":"2000-01-01","to":"2030-01-01","every":"1h"}`)); !strings.Contains(p.Detail, "100000 dates or more, and 10000 are the most") {
		t.Errorf("too many: %s", p.Detail)
	}
	if after := b.snapshot(); after != before {
		t.Error("what was refused wrote something")
	}
}

func TestAPlanThatChangedIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	const body = `{"from":"2026-03-01","to":"2026-03-03","only":"missing"`
	with := func(token string) string { return body + `,"preview":"` + token + `"}` }
	token := b.planned(body + "}").Token
	b.must(409, "POST", backfills, strings.Replace(with(token), "03-03", "03-04", 1))
	w := decode[struct {
		ID string `json:"instance_id"`
	}](t, b.must(202, "POST", "/api/v1/projects/alpha/workflows/daily/start", `{"schedule_time":"2026-03-02T00:00:00Z"}`))
	p := decode[Problem](t, b.must(409, "POST", backfills, with(token)))
	if p.Errors[0].Field != "preview" || p.Errors[0].Code != "stale" {
		t.Errorf("a date that ran meanwhile: %+v", p)
	}
	plan := b.planned(body + "}")
	if s := days(plan.Parts[0].Dates); s != "03-01T00 03-03T00" {
		t.Errorf("the new plan runs %s", s)
	}
	left := plan.Parts[0].LeftOut
	if len(left) != 1 || left[0].Had != "open" || fmt.Sprint(int64(left[0].InstanceID)) != w.ID {
		t.Errorf("left out: %+v, want the date of instance %s", left, w.ID)
	}
	b.must(202, "POST", backfills, with(plan.Token))
	b.must(409, "POST", backfills, with(plan.Token)) // a repeat makes no second one
	if got := decode[List[Backfill]](t, b.must(200, "GET", "/api/v1/projects/alpha/backfills", "")); len(got.Items) != 1 || got.Items[0].Workflow != "daily" {
		t.Errorf("of the project %+v", got)
	}
	if got := decode[List[Backfill]](t, b.must(200, "GET", backfills, "")); len(got.Items) != 1 {
		t.Errorf("%d backfills", len(got.Items))
	}
}

func TestABackfillShowsItsProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	one := b.filled(`{"from":"2026-03-01","to":"2026-03-05","parallel":2,"params":{"day":"7"},"only":"missing_or_failed"}`)
	f := decode[Backfill](t, b.must(200, "GET", one, ""))
	if f.State != "running" || !f.Active || f.Progress != (Progress{Total: 5, Waiting: 5}) || f.From != "2026-03-01" || f.Every != "1d" ||
		f.Only != "missing_or_failed" || f.Order != "oldest" || f.Priority != "low" || f.Parallel != 2 || f.OnFailure != "continue" || f.CreatedBy != adminName {
		t.Errorf("it begins as %+v", f)
	}
	step := func() []int64 {
		t.Helper()
		got, err := b.db.StepBackfill(t.Context(), int64(f.ID))
		if err != nil {
			t.Fatal(err)
		}
		return got.Started
	}
	started := step()
	first := fmt.Sprint(started[0])
	in := decode[Instance](t, b.must(200, "GET", "/api/v1/instances/"+first, ""))
	if in.Params["day"] != "7" || in.ScheduleTime != Time(dag.MillisOf(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))) || in.Priority != "low" || in.BackfillID != f.ID {
		t.Errorf("the first instance is %+v", in)
	}
	for _, id := range started {
		b.stop(id)
	}
	b.clock.advance(time.Minute)
	step()
	got := decode[Backfill](t, b.must(200, "GET", one, "")).Progress
	if got.ETA == 0 {
		t.Error("there is no ETA")
	}
	if got.ETA = 0; got != (Progress{Total: 5, Done: 2, Failed: 2, Running: 2, Waiting: 1}) {
		t.Errorf("progress %+v", got)
	}
	dates := decode[List[BackfillDate]](t, b.must(200, "GET", one+"/dates?state=failed", ""))
	if len(dates.Items) != 2 || dates.Items[0].InstanceState != "stopped" || dates.Items[0].Round != 1 || dates.Items[0].Workflow != "daily" || fmt.Sprint(int64(dates.Items[0].InstanceID)) != first {
		t.Errorf("the failed dates are %+v", dates.Items)
	}
	if w := decode[WorkflowText](t, b.must(200, "GET", strings.TrimSuffix(backfills, "/backfills"), "")); w.Backfill == 0 || fmt.Sprint(int64(w.Backfill)) != path.Base(one) {
		t.Errorf("the workflow names backfill %d as active, want that of %s", w.Backfill, one)
	}
	page := decode[List[BackfillDate]](t, b.must(200, "GET", one+"/dates?limit=4", ""))
	rest := decode[List[BackfillDate]](t, b.must(200, "GET", one+"/dates?limit=4&cursor="+url.QueryEscape(page.NextCursor), ""))
	if len(page.Items) != 4 || len(rest.Items) != 1 || rest.Items[0].State != "waiting" || rest.NextCursor != "" {
		t.Errorf("pages %+v and %+v", page, rest)
	}
	e := decode[Explanation](t, b.must(200, "GET", "/api/v1/instances/"+fmt.Sprint(started[1])+"/explain", ""))
	if id := fmt.Sprint(int64(f.ID)); e.Args["backfill"] != id || !strings.Contains(e.Text, "backfill "+id) {
		t.Errorf("its instance is explained without it: %+v", e)
	}
}

func TestABackfillIsPausedResumedAndCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	one := b.filled(`{"from":"2026-03-01","to":"2026-03-05"}`)
	state := func(status int, verb, body, want string) Backfill {
		t.Helper()
		got := decode[Backfill](t, b.must(status, "POST", one+"/"+verb, body))
		if got.State != want {
			t.Errorf("%s: it is %s, want %s", verb, got.State, want)
		}
		return got
	}
	state(202, "pause", "", "paused")
	state(200, "pause", "", "paused")
	if got := state(202, "parallel", `{"parallel":3}`, "paused"); got.Parallel != 3 {
		t.Errorf("%d at once", got.Parallel)
	}
	state(202, "resume", "", "running")
	if got := state(202, "cancel", `{"running":"stop"}`, "cancelled"); got.Progress.Cancelled != 5 {
		t.Errorf("progress %+v", got.Progress)
	}
	state(200, "cancel", "", "cancelled")
	b.must(409, "POST", one+"/resume", "")
	b.must(422, "POST", one+"/parallel", `{"parallel":0}`)
	b.must(400, "GET", backfills+"/x", "")
	b.must(404, "GET", backfills+"/123456", "")
	id, _ := parseID(one[strings.LastIndexByte(one, '/')+1:])
	if _, err := b.db.StepBackfill(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := decode[Backfill](t, b.must(200, "GET", one, "")); got.Active || got.FinishedAt == 0 {
		t.Errorf("when nothing is left it is %+v", got)
	}
	b.seed("beta")
	b.must(404, "GET", strings.Replace(one, "alpha", "beta", 1), "")
}

// TestTheRequestInTheChapterIsTaken previews what docs/backfill.md shows.
func TestTheRequestInTheChapterIsTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	text, err := os.ReadFile("../docs/backfill.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	body, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the chapter shows no request")
	}
	if got := b.planned(body); got.Count != 31 {
		t.Errorf("%s runs %d dates, want 31", body, got.Count)
	}
}
