package apiserver

import (
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/internal/webhook"
)

const hookSecret = "kN3v1rT0f4sh10n"

// newHookBench has a schedule of daily that fires by calls, and the path of those.
func newHookBench(t *testing.T, rules string) (b *bench, path string) {
	t.Helper()
	b = newScheduleBench(t)
	b.withKeys()
	b.must(201, "PUT", "/api/v1/projects/alpha/secrets/deploys", `{"value": "`+hookSecret+`"}`)
	made := decode[Schedule](t, b.must(201, "PUT", schedules+"/deploy", `{"webhook": {"secret": "deploys", "params": {"day": "release.day"}}`+rules+`}`))
	if made.Webhook == nil || made.Webhook.Secret != "deploys" || made.Webhook.Params["day"] != "release.day" || made.NextAt != 0 {
		t.Fatalf("made %+v", made)
	}
	return b, fmt.Sprintf("/api/v1/hooks/%d", made.ID)
}

// call makes a signed call; more are headers in place of the right ones.
func (b *bench) call(path, id, body string, more ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	timestamp := fmt.Sprint(b.clock.Now().Unix())
	header := map[string]string{webhook.EventHeader: id, webhook.TimestampHeader: timestamp}
	for i := 0; i < len(more); i += 2 {
		header[more[i]] = more[i+1]
	}
	if _, given := header[webhook.SignatureHeader]; !given {
		header[webhook.SignatureHeader] = webhook.Sign([]byte(hookSecret), header[webhook.TimestampHeader], []byte(body))
	}
	return b.do(asked{method: "POST", path: path, body: body, header: header})
}

func TestASignedCallStartsAnInstanceOnce(t *testing.T) {
	t.Parallel()
	b, path := newHookBench(t, `, "params": {"day": "9"}`)
	body := `{"release": {"day": 7}}`
	first := b.call(path, "build-1", body)
	got := decode[TakenCall](t, first)
	if first.Code != 202 || got.State != "fired" || got.InstanceID == 0 || !strings.HasSuffix(first.Header().Get("Location"), fmt.Sprint("/instances/", got.InstanceID)) {
		t.Fatalf("the first call = %d %s", first.Code, first.Body)
	}
	if id := <-b.hints.commands; id != int64(got.InstanceID) {
		for id != int64(got.InstanceID) { // those of the bench's own instances come first
			id = <-b.hints.commands
		}
	}
	if in := decode[Instance](t, b.must(200, "GET", fmt.Sprint("/api/v1/instances/", got.InstanceID), "")); in.Params["day"] != "7" {
		t.Errorf("it was started with %v", in.Params)
	}
	b.clock.advance(time.Minute)
	again := b.call(path, "build-1", body)
	if repeat := decode[TakenCall](t, again); again.Code != 200 || repeat != got {
		t.Errorf("the same call again = %d %s, want 200 and %+v", again.Code, again.Body, got)
	}
	b.must(200, "POST", schedules+"/deploy/pause", "")
	if w := b.call(path, "build-1", body); w.Code != 200 {
		t.Errorf("the same call again while it is paused = %d %s", w.Code, w.Body)
	}
	if w := b.call(path, "build-2", body); w.Code != 409 || !strings.Contains(w.Body.String(), "paused") {
		t.Errorf("a new call while it is paused = %d %s", w.Code, w.Body)
	}
	b.must(200, "POST", schedules+"/deploy/resume", "")
	b.clock.advance(time.Minute)
	// The sender tries again, and a body without the field leaves the schedule's own value.
	second := decode[TakenCall](t, b.call(path, "build-2", `{"release": {}}`))
	if in := decode[Instance](t, b.must(200, "GET", fmt.Sprint("/api/v1/instances/", second.InstanceID), "")); in.Params["day"] != "9" {
		t.Errorf("the second was started with %v", in.Params)
	}
	const ledger = "?from=1970-01-01T00:00:00Z&to=2100-01-01T00:00:00Z"
	fires := decode[List[Fire]](t, b.must(200, "GET", schedules+"/deploy/fires"+ledger, "")).Items
	if len(fires) != 2 || fires[0].Call != "build-1" || fires[1].Call != "build-2" || fires[0].InstanceID != got.InstanceID || fires[1].State != "fired" {
		t.Errorf("the ledger is %+v", fires)
	}
	b.exec(`UPDATE schedule SET planned_until = ?, changed_at = 0`, int64(1)<<50) // as the planner does
	if p := decode[ScheduleProof](t, b.must(200, "GET", schedules+"/deploy/proof"+ledger, "")); !p.Holds || p.Outcomes["fired"] != 2 || p.Planned != 2 {
		t.Errorf("the proof is %+v", p)
	}
	e := decode[Explanation](t, b.must(200, "GET", schedules+"/deploy/explain", ""))
	if e.Code != "schedule_webhook" || e.Args["path"] != path || e.Args["secret"] != "deploys" {
		t.Errorf("explained as %+v", e)
	}
}

// What is overheard is worth nothing: neither with another id, nor later, nor with another body.
func TestAnOverheardCallStartsNothing(t *testing.T) {
	t.Parallel()
	b, path := newHookBench(t, "")
	const body = `{"release": {"day": 1}}`
	timestamp := fmt.Sprint(b.clock.Now().Unix()) // the clock goes on
	if w := b.call(path, "one", body, webhook.TimestampHeader, timestamp); w.Code != 202 {
		t.Fatalf("a call = %d %s", w.Code, w.Body)
	}
	if w := b.call(path, "two", body, webhook.TimestampHeader, timestamp); w.Code != 409 || !strings.Contains(w.Body.String(), "replayed") {
		t.Errorf("with another id = %d %s", w.Code, w.Body)
	}
	signature := webhook.Sign([]byte(hookSecret), timestamp, []byte(body))
	if w := b.call(path, "three", `{"release": {"day": 2}}`, webhook.TimestampHeader, timestamp, webhook.SignatureHeader, signature); w.Code != 401 {
		t.Errorf("with another body = %d %s", w.Code, w.Body)
	}
	b.clock.advance(callTolerance + time.Minute)
	if w := b.call(path, "one", body, webhook.TimestampHeader, timestamp); w.Code != 401 || !strings.Contains(w.Body.String(), webhook.TimestampHeader) {
		t.Errorf("later = %d %s", w.Code, w.Body)
	}
	b.clock.advance(-2*callTolerance - 2*time.Minute)
	if w := b.call(path, "four", body, webhook.TimestampHeader, timestamp); w.Code != 401 {
		t.Errorf("from the future = %d %s", w.Code, w.Body)
	}
}

// Whoever does not know the secret gets one answer, whatever there is.
func TestACallWithoutTheSecretIsToldNothing(t *testing.T) {
	t.Parallel()
	b, path := newHookBench(t, "")
	nightly := decode[Schedule](t, b.must(201, "PUT", schedules+"/nightly", `{"cron": "0 5 * * *"}`))
	paused := decode[Schedule](t, b.must(201, "PUT", schedules+"/paused", `{"webhook": {"secret": "deploys"}, "enabled": false}`))
	wrong := []string{webhook.SignatureHeader, webhook.Sign([]byte("another"), fmt.Sprint(b.clock.Now().Unix()), []byte(`{}`))}
	want := ""
	for _, c := range []struct {
		what, path string
		header     []string
	}{
		{"a wrong signature", path, wrong},
		{"no signature", path, []string{webhook.SignatureHeader, ""}},
		{"a signature of something else", path, []string{webhook.SignatureHeader, "v1="}},
		{"one that fires by a clock", fmt.Sprint("/api/v1/hooks/", nightly.ID), wrong},
		{"one that fires by a clock, signed", fmt.Sprint("/api/v1/hooks/", nightly.ID), nil},
		{"one that is paused", fmt.Sprint("/api/v1/hooks/", paused.ID), wrong},
		{"one that is not there", "/api/v1/hooks/999999", wrong},
		{"what is no id", "/api/v1/hooks/x", wrong},
	} {
		w := b.call(c.path, "x", `{}`, c.header...)
		p := decode[Problem](t, w)
		p.RequestID = ""
		if got := fmt.Sprintf("%d %+v", w.Code, p); w.Code != 401 || want != "" && got != want {
			t.Errorf("%s: %s, want 401 and the same as others: %s", c.what, got, want)
		} else {
			want = got
		}
	}
	b.must(204, "DELETE", "/api/v1/projects/alpha/secrets/deploys", "")
	if w := b.call(path, "x", `{}`); w.Code != 401 {
		t.Errorf("without its secret = %d %s", w.Code, w.Body)
	}
	if e := decode[Explanation](t, b.must(200, "GET", schedules+"/deploy/explain", "")); e.Code != "schedule_webhook_unsigned" {
		t.Errorf("without its secret it is explained as %+v", e)
	}
	if got := b.instances("alpha"); len(got) != 1 {
		t.Errorf("instances are %v, want the bench's own alone", got)
	}
}

func TestABadCallIsRefusedAndNothingIsSaved(t *testing.T) {
	t.Parallel()
	b, path := newHookBench(t, "")
	text := strings.Replace(strings.Replace(twoTasks, "daily", "typed", 1), `day: "1"`, `day: {type: integer}`, 1)
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/typed", text, "Content-Type", "application/yaml")
	typed := decode[Schedule](t, b.must(201, "PUT", "/api/v1/projects/alpha/workflows/typed/schedules/x", `{"webhook": {"secret": "deploys", "params": {"day": "release.day"}}}`))
	b.must(409, "POST", "/api/v1/projects/alpha/workflows/typed/schedules/x/trigger", "")
	for _, body := range []string{`{"release": {"day": "x"}}`, `{}`} {
		if w := b.call(fmt.Sprint("/api/v1/hooks/", typed.ID), body, body); w.Code != 422 || !strings.Contains(w.Body.String(), "params.day") {
			t.Errorf("%s = %d %s, want 422 and params.day", body, w.Code, w.Body)
		}
	}
	for _, c := range []struct {
		what, id, body string
		status         int
		says           string
	}{
		{"without an id", "", `{}`, 422, webhook.EventHeader},
		{"an id that is too long", strings.Repeat("x", 256), `{}`, 400, webhook.EventHeader},
		{"a list", "b", `[]`, 422, "body"},
		{"no JSON", "c", `{`, 400, "body"},
		{"no body", "d", ``, 415, "Content-Type"},
		{"a large body", "e", `{"x": "` + strings.Repeat("x", maxBody) + `"}`, 413, "body"},
	} {
		w := b.call(path, c.id, c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s = %d %s, want %d and %s", c.what, w.Code, w.Body, c.status, c.says)
		}
	}
	for _, of := range []string{schedules + "/deploy", "/api/v1/projects/alpha/workflows/typed/schedules/x"} {
		if fires := decode[List[Fire]](t, b.must(200, "GET", of+"/fires?from=1970-01-01T00:00:00Z&to=2100-01-01T00:00:00Z", "")).Items; len(fires) != 0 {
			t.Errorf("the ledger of %s is %+v", of, fires)
		}
	}
	for body, want := range map[string]string{
		`{"webhook": {"secret": "nothing"}}`:                                      "webhook.secret unknown_secret",
		`{"webhook": {"secret": "deploys", "params": {"nights": "n"}}}`:           "webhook.params.nights unknown_param",
		`{"webhook": {"secret": "deploys"}, "cron": "0 5 * * *"}`:                 "cron conflict",
		`{"webhook": {"secret": "deploys"}, "after": {"workflow": "daily"}}`:      "after conflict",
		`{"webhook": {"secret": "deploys", "params": {"day": "a..b"}}}`:           "webhook.params.day invalid",
		`{"webhook": {"secret": "my secret"}, "misfire": {"policy": "all"}}`:      "webhook.secret invalid_name, misfire conflict",
		`{"webhook": {"secret": "deploys", "params": {"day": "a"}}, "at": ["x"]}`: "at conflict",
	} {
		if got := wrongFields(b, 422, "PUT", schedules+"/x", body); got != want {
			t.Errorf("%s: wrong are %s, want %s", body, got, want)
		}
	}
}

func TestACallGoesByTheOverlapPolicy(t *testing.T) {
	t.Parallel()
	for overlap, want := range map[string]string{"allow": "fired", "skip": "skipped", "wait": "waiting", "replace": "fired"} {
		b, path := newHookBench(t, `, "overlap": "`+overlap+`"`)
		b.call(path, "one", `{}`)
		b.clock.advance(time.Second)
		w := b.call(path, "two", `{}`)
		if got := decode[TakenCall](t, w); w.Code != 202 || got.State != want {
			t.Errorf("%s: %d %s, want %s", overlap, w.Code, w.Body, want)
		}
		b.clock.advance(time.Second)
		if again := b.call(path, "two", `{}`); again.Code != 200 || decode[TakenCall](t, again) != decode[TakenCall](t, b.call(path, "two", `{}`)) {
			t.Errorf("%s, again: %d %s", overlap, again.Code, again.Body)
		}
	}
}

// Wrong signatures of one schedule slow down, whoever sends them; right ones, and other schedules, do not notice.
func TestWrongSignaturesHaveToWait(t *testing.T) {
	t.Parallel()
	b, path := newHookBench(t, "")
	other := decode[Schedule](t, b.must(201, "PUT", schedules+"/other", `{"webhook": {"secret": "deploys"}}`))
	wrong := func(path string) *httptest.ResponseRecorder {
		return b.call(path, "x", `{}`, webhook.SignatureHeader, "v1=00")
	}
	for _, at := range []string{path, "/api/v1/hooks/999999"} {
		for i := range freeSignatures {
			if w := wrong(at); w.Code != 401 {
				t.Fatalf("%s, wrong signature %d = %d %s", at, i+1, w.Code, w.Body)
			}
		}
		w := wrong(at)
		if p := decode[Problem](t, w); w.Code != 429 || w.Header().Get("Retry-After") == "" || len(p.Errors) != 1 || p.Errors[0].Code != "too_many" {
			t.Errorf("%s, one too many = %d %v %s", at, w.Code, w.Header(), w.Body)
		}
	}
	if w := b.call(path, "right", `{}`); w.Code != 202 {
		t.Errorf("a right signature meanwhile = %d %s", w.Code, w.Body)
	}
	if w := wrong(fmt.Sprint("/api/v1/hooks/", other.ID)); w.Code != 401 {
		t.Errorf("a wrong one of another schedule = %d %s", w.Code, w.Body)
	}
	b.clock.advance(3 * time.Second)
	if w := wrong(path); w.Code != 401 {
		t.Errorf("after the wait = %d %s", w.Code, w.Body)
	}
	if w := wrong(path); w.Code != 429 {
		t.Errorf("and the next at once = %d %s", w.Code, w.Body)
	}
	b.clock.advance(3 * throttleMost)
	if w := wrong(path); w.Code != 401 {
		t.Errorf("when it is forgotten = %d %s", w.Code, w.Body)
	}
	refused := 0
	for _, row := range b.audited("call-schedule") {
		if row.Outcome != "done" {
			refused++
		}
	}
	if want := 2*freeSignatures + 3; refused != want {
		t.Errorf("%d refusals are audited, want the %d that were not to wait", refused, want)
	}
}

// Any number of ids that somebody thinks of takes a bounded place.
func TestWrongSignaturesTakeABoundedPlace(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	th := newThrottle(func() time.Time { return now })
	for i := range 3 * maxThrottled {
		if wait := th.wrong(fmt.Sprint(i), freeSignatures); wait != 0 {
			t.Fatalf("the first of schedule %d waits %s", i, wait)
		}
	}
	if n := len(th.tries); n > maxThrottled {
		t.Errorf("%d are kept, want at most %d", n, maxThrottled)
	}
}

func TestCallsAreAudited(t *testing.T) {
	t.Parallel()
	b, path := newHookBench(t, "")
	b.call(path, "one", `{}`)
	b.call(path, "two", `{}`, webhook.SignatureHeader, "v1=00")
	var got []string
	for _, row := range b.audited("call-schedule") {
		got = append(got, row.Actor+" "+row.Object+" "+row.Outcome)
	}
	id := strings.TrimPrefix(path, "/api/v1/hooks/")
	if want := "webhook of schedule " + id + " id=" + id + " done,  id=" + id + " refused"; strings.Join(got, ", ") != want {
		t.Errorf("audited are %q, want %q", got, want)
	}
}

// TestTheCallOfTheReferenceIsTaken makes the call that docs/schedules.md shows.
func TestTheCallOfTheReferenceIsTaken(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/schedules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## By a call\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, call, found := strings.Cut(section, "    POST /api/v1/hooks/")
	head, rest, _ := strings.Cut(call, "\n\n")
	body, _, _ := strings.Cut(strings.TrimPrefix(rest, "    "), "\n")
	if !found || !strings.Contains(section, hookSecret) {
		t.Fatalf("the reference shows no call, or another secret: %s", section)
	}
	b, path := newHookBench(t, "")
	header := []string{}
	for _, line := range strings.Split(head, "\n")[1:] {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if header = append(header, name, value); name == webhook.TimestampHeader {
			at, err := time.ParseDuration(value + "s")
			if err != nil {
				t.Fatal(err)
			}
			b.clock.advance(time.Unix(0, 0).Add(at).Sub(b.clock.Now()))
		}
	}
	w := b.call(path, "", body, header...)
	if w.Code != 202 || len(header) < 6 {
		t.Fatalf("the call of the reference = %d %s with %q", w.Code, w.Body, header)
	}
	got := decode[TakenCall](t, w)
	if in := decode[Instance](t, b.must(200, "GET", fmt.Sprint("/api/v1/instances/", got.InstanceID), "")); in.Params["day"] != "7" {
		t.Errorf("it was started with %v", in.Params)
	}
}
