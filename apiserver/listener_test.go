package apiserver

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/internal/egress"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/internal/webhook"
	"github.com/porpoise/porpoise/sql"
)

const listeners = "/api/v1/projects/alpha/listeners"

// newListenerBench is a node with a key and a project, signed in as its admin.
func newListenerBench(t *testing.T, change ...func(*Config)) *bench {
	t.Helper()
	b := newBench(t, append(change, func(c *Config) { c.Secrets = rpc.NewClusterKey() })...)
	b.signInAs(adminName, b.pass)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	return b
}

func TestListenersAreMadeChangedAndDeleted(t *testing.T) {
	t.Parallel()
	b := newListenerBench(t)
	const secret = "a secret that nobody sees again"
	w := b.must(201, "PUT", listeners+"/ops", `{"url": "https://example.org/hook", "secret": "`+secret+`", "description": "on call",
		"filter": {"events": ["task_timeout"], "tasks": ["extract"], "when": "attempt > 1"}}`)
	made := decode[Listener](t, w)
	if !made.Signed || !made.Enabled || made.Filter.When != "attempt > 1" || made.CreatedBy != adminName {
		t.Errorf("made %+v", made)
	}
	all := w.Body.String() + b.must(200, "GET", listeners, "").Body.String() + b.must(200, "GET", listeners+"/ops", "").Body.String() +
		b.must(200, "PUT", listeners+"/ops", `{"url": "https://example.org/other", "enabled": false}`).Body.String()
	if strings.Contains(all, secret) {
		t.Error("the secret is shown")
	}
	if got := decode[Listener](t, b.must(200, "GET", listeners+"/ops", "")); !got.Signed || got.Enabled || got.URL != "https://example.org/other" {
		t.Errorf("changed to %+v: want it signed still", got)
	}
	if got := decode[Listener](t, b.must(200, "PUT", listeners+"/ops", `{"url": "https://example.org/other", "secret": ""}`)); got.Signed {
		t.Error("an empty secret signs")
	}
	b.must(409, "PUT", listeners+"/OPS", `{"url": "https://example.org/hook"}`)
	if got := decode[List[Delivery]](t, b.must(200, "GET", listeners+"/ops/deliveries", "")); len(got.Items) != 0 {
		t.Errorf("deliveries %+v", got)
	}
	b.must(409, "POST", listeners+"/ops/redeliver", `{"instance_id": "7"}`)
	b.must(204, "DELETE", listeners+"/ops", "")
	b.must(404, "GET", listeners+"/ops", "")
	b.must(404, "POST", listeners+"/ops/test", "")
}

func TestABadListenerIsRefusedWithAllThatIsWrong(t *testing.T) {
	t.Parallel()
	b := newListenerBench(t, func(c *Config) { c.Egress = egress.Rule{DenyLoopback: true} })
	got := b.must(422, "PUT", listeners+"/ops", `{"url": "ftp://example.org", "filter": {"events": ["lunch"], "states": ["tired"], "tasks": [" x"], "when": "colour == 'red'"}}`).Body.String()
	for _, want := range []string{`"url"`, "filter.events[0]", "filter.states[0]", "filter.tasks[0]", "filter.when"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	for _, url := range []string{
		"", "example.org", "http://", "http://localhost:80/x", "http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest/meta-data", "http://user:password@example.org/",
		"https://example.org/#part", "file:///etc/passwd", "https://example.org/" + strings.Repeat("x", webhook.MaxURL), "http://%zz",
	} {
		b.must(422, "PUT", listeners+"/ops", `{"url": "`+url+`"}`)
	}
	b.must(404, "GET", listeners+"/ops", "")
}

func TestAListenerCanBeTried(t *testing.T) {
	t.Parallel()
	b := newListenerBench(t)
	var signature, stamp string
	var body []byte
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signature, stamp = r.Header.Get(webhook.SignatureHeader), r.Header.Get(webhook.TimestampHeader)
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(status)
	}))
	defer server.Close()
	b.must(201, "PUT", listeners+"/ops", `{"url": "`+server.URL+`", "secret": "s"}`)
	if got := decode[ListenerTest](t, b.must(200, "POST", listeners+"/ops/test", "")); !got.Delivered || got.Status != 200 {
		t.Errorf("tried: %+v", got)
	}
	if want := webhook.Sign([]byte("s"), stamp, body); signature != want || !strings.Contains(string(body), `"event":"test"`) {
		t.Errorf("signature %q, want %q of %s", signature, want, body)
	}
	status = http.StatusTeapot
	if got := decode[ListenerTest](t, b.must(200, "POST", listeners+"/ops/test", "")); got.Delivered || got.Status != 418 || got.Error == "" {
		t.Errorf("refused: %+v", got)
	}
}

// An alert has its number under its own name: it is no instance's, though the two are counted together.
func TestDeliveriesOfAlertsHaveTheirOwnName(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	const one = "/api/v1/projects/alpha/listeners/ops"
	b.must(201, "PUT", one, `{"url": "https://example.org/ops"}`)
	made := decode[Schedule](t, b.must(201, "PUT", schedules+"/nightly", `{"cron": "0 5 * * *"}`))
	sch, err := b.db.ScheduleByID(t.Context(), int64(made.ID))
	if err == nil {
		err = b.db.BreakSchedule(t.Context(), sch, "its timezone is gone", "m1:a")
	}
	if err != nil {
		t.Fatal(err)
	}
	list := decode[List[Delivery]](t, b.must(200, "GET", one+"/deliveries", "")).Items
	if len(list) != 1 || list[0].AlertID == 0 || list[0].InstanceID != 0 || list[0].Event != "schedule_broken" || list[0].Subject != "nightly" || list[0].Workflow != "daily" {
		t.Fatalf("deliveries are %+v, want one of the alert", list)
	}
	listener, err := b.db.Listener(t.Context(), sch.ProjectID, "ops")
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.db.Delivery(t.Context(), listener.ID, int64(list[0].AlertID))
	if err != nil {
		t.Fatal(err)
	}
	d.State, d.Attempts = sql.DeliveryDead, 16
	if err := b.db.SaveDelivery(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	for body, status := range map[string]int{
		`{}`: 422,
		fmt.Sprintf(`{"alert_id": "%d", "instance_id": "1"}`, d.InstanceID): 422,
		fmt.Sprintf(`{"instance_id": "%d"}`, d.InstanceID):                  409,
		`{"alert_id": "999999999"}`:                                         409,
	} {
		b.must(status, "POST", one+"/redeliver", body)
	}
	if got := decode[Delivery](t, b.must(202, "POST", one+"/redeliver", fmt.Sprintf(`{"alert_id": "%d"}`, d.InstanceID))); got.State != "due" || int64(got.AlertID) != d.InstanceID {
		t.Errorf("delivered again: %+v", got)
	}
}

func TestAStartNamesItsReply(t *testing.T) {
	t.Parallel()
	b := newListenerBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/daily", "name: daily\ntasks:\n  - {name: extract, type: noop}\n", "Content-Type", "application/yaml")
	const start = "/api/v1/projects/alpha/workflows/daily/start"
	got := b.must(422, "POST", start, `{"reply": {"url": "gopher://example.org", "events": ["lunch"]}}`).Body.String()
	if !strings.Contains(got, "reply.url") || !strings.Contains(got, "reply.events[0]") {
		t.Errorf("a bad reply: %s", got)
	}
	type started struct {
		InstanceID string `json:"instance_id"`
	}
	without := decode[started](t, b.must(202, "POST", start, "")).InstanceID
	b.must(404, "GET", "/api/v1/instances/"+without+"/reply", "")
	id := decode[started](t, b.must(202, "POST", start, `{"reply": {"url": "https://example.org/r", "secret": "hidden", "correlation_id": "order 7"}}`)).InstanceID
	w := b.must(200, "GET", "/api/v1/instances/"+id+"/reply", "")
	reply := decode[Reply](t, w)
	if reply.CorrelationID != "order 7" || !reply.Signed || len(reply.Events) != 4 || reply.Delivery.State != "due" || reply.Delivery.Seq != -1 || strings.Contains(w.Body.String(), "hidden") {
		t.Errorf("reply %s", w.Body.String())
	}
	b.must(409, "POST", "/api/v1/instances/"+id+"/reply/redeliver", "")
	n, _ := parseID(id)
	d, err := b.db.Delivery(t.Context(), n, n)
	if err != nil {
		t.Fatal(err)
	}
	d.State, d.Attempts = sql.DeliveryDead, 16
	if err := b.db.SaveDelivery(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if got := decode[Delivery](t, b.must(202, "POST", "/api/v1/instances/"+id+"/reply/redeliver", `{"skip": true}`)); got.State != "due" || got.Seq != 0 || got.Attempts != 0 {
		t.Errorf("redelivered: %+v", got)
	}
}
