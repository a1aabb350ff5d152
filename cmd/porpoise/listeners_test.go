package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// asked is a server that answers every call with one text, and keeps what it was asked.
type asked struct {
	*httptest.Server
	mu    sync.Mutex // guards calls
	calls []string   // "METHOD path body"
}

func newAsked(t *testing.T, answer string) *asked {
	t.Helper()
	a := &asked{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.calls = append(a.calls, r.Method+" "+r.URL.Path+" "+string(body))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *asked) last() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.calls) == 0 {
		return ""
	}
	return a.calls[len(a.calls)-1]
}

func TestListenersAreSetAndShownWithoutTheirSecret(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"name": "ops", "url": "https://example.org/hook", "signed": true, "enabled": true}`)
	code, out, errs := cmd(t, "swordfish\n", "listeners", "set", "sales", "ops", "--url", "https://example.org/hook", "--secret-file", "-",
		"--event", "task_timeout", "--task", "extract", "--server", a.URL)
	if code != exitOK || strings.Contains(out+errs, "swordfish") || !strings.Contains(out, "https://example.org/hook") {
		t.Errorf("set = %d %q %q", code, out, errs)
	}
	method, body, _ := strings.Cut(a.last(), " {")
	if method != "PUT /api/v1/projects/sales/listeners/ops" {
		t.Errorf("asked %s", method)
	}
	var put struct {
		Secret  *string
		Enabled bool
		Filter  struct{ Events, Tasks []string }
	}
	if err := json.Unmarshal([]byte("{"+body), &put); err != nil || put.Secret == nil || *put.Secret != "swordfish" || !put.Enabled ||
		!slices.Equal(put.Filter.Events, []string{"task_timeout"}) || !slices.Equal(put.Filter.Tasks, []string{"extract"}) {
		t.Errorf("sent %s, %v", body, err)
	}
	if code, _, errs := cmd(t, "", "listeners", "set", "sales", "ops", "--url", "https://example.org/hook", "--secret", "hook", "--server", a.URL); code != exitOK || !strings.Contains(a.last(), `"secret":"${secret.hook}"`) {
		t.Errorf("set by name = %d %q, sent %s", code, errs, a.last())
	}
	// Whoever changes something else keeps the secret.
	if code, _, errs := cmd(t, "", "listeners", "set", "sales", "ops", "--url", "https://example.org/hook", "--disabled", "--server", a.URL); code != exitOK {
		t.Errorf("set = %d %q", code, errs)
	}
	if got := a.last(); strings.Contains(got, "secret") || !strings.Contains(got, `"enabled":false`) {
		t.Errorf("sent %s", got)
	}
}

func TestASecretThatIsTooLongIsRefusedAndNotCut(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{}`)
	code, _, errs := cmd(t, strings.Repeat("x", maxSecretFile+1), "listeners", "set", "sales", "ops", "--url", "https://example.org/hook", "--secret-file", "-",
		"--server", a.URL)
	if code != exitUsage || !strings.Contains(errs, "longer than") || a.last() != "" {
		t.Errorf("set = %d %q, and asked %q", code, errs, a.last())
	}
}

func TestATestThatIsNotTakenIsAFailure(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"delivered": false, "status": 503, "error": "the answer has status 503"}`)
	code, out, _ := cmd(t, "", "listeners", "test", "sales", "ops", "--server", a.URL)
	if code != exitFailed || !strings.Contains(out, "status 503") {
		t.Errorf("test = %d %q", code, out)
	}
}

func TestDeliveriesAreListedAndAskedForAgain(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"items": [{"instance_id": "42", "workflow": "daily", "state": "dead", "seq": 6, "attempts": 16, "error": "the answer has status 503"}]}`)
	code, out, _ := cmd(t, "", "listeners", "deliveries", "sales", "ops", "--server", a.URL)
	if code != exitOK || !strings.Contains(out, "dead") || !strings.Contains(out, "status 503") {
		t.Errorf("deliveries = %d %q", code, out)
	}
	b := newAsked(t, `{"instance_id": "42", "state": "due", "seq": 7}`)
	code, out, _ = cmd(t, "", "listeners", "redeliver", "sales", "ops", "42", "--skip", "--server", b.URL)
	if got := b.last(); code != exitOK || !strings.Contains(out, "from event 8 on") || !strings.Contains(got, "/ops/redeliver") || !strings.Contains(got, `"skip":true`) {
		t.Errorf("redeliver = %d %q, asked %s", code, out, got)
	}
}

func TestDeliveriesOfAlertsAreToldApart(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"items": [{"alert_id": "43", "event": "timer_failing", "subject": "ping", "state": "dead", "seq": -1, "attempts": 16}]}`)
	code, out, _ := cmd(t, "", "listeners", "deliveries", "sales", "ops", "--server", a.URL)
	if code != exitOK || !strings.Contains(out, "alert 43 timer_failing ping") {
		t.Errorf("deliveries = %d %q", code, out)
	}
	b := newAsked(t, `{"alert_id": "43", "state": "due", "seq": -1}`)
	code, out, _ = cmd(t, "", "listeners", "redeliver", "sales", "ops", "43", "--alert", "--server", b.URL)
	if got := b.last(); code != exitOK || !strings.Contains(out, "alert 43 is") || !strings.Contains(got, `"alert_id":"43"`) || strings.Contains(got, "instance_id") {
		t.Errorf("redeliver = %d %q, asked %s", code, out, got)
	}
}

func TestAStartSaysWhoIsTold(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"instance_id": "42", "version": 1, "tasks": []}`)
	code, out, errs := cmd(t, "", "start", "sales/daily", "--reply-url", "https://example.org/r", "--correlation-id", "order 7", "--server", a.URL)
	if got := a.last(); code != exitOK || out != "42\n" || !strings.Contains(got, `"reply":{"url":"https://example.org/r","correlation_id":"order 7"}`) {
		t.Errorf("start = %d %q %q, asked %s", code, out, errs, got)
	}
	code, _, errs = cmd(t, "", "start", "sales/daily", "--reply-url", "https://example.org/r", "--reply-secret", "hook", "--server", a.URL)
	if got := a.last(); code != exitOK || !strings.Contains(got, `"secret":"${secret.hook}"`) {
		t.Errorf("start = %d %q, asked %s", code, errs, got)
	}
	for _, args := range [][]string{
		{"--reply-secret", "hook"},
		{"--reply-url", "https://example.org/r", "--reply-secret", "hook", "--reply-secret-file", "-"},
	} {
		if code, _, errs := cmd(t, "swordfish", append([]string{"start", "sales/daily", "--server", a.URL}, args...)...); code == exitOK || !strings.Contains(errs, "reply-secret") {
			t.Errorf("%q = %d %q", args, code, errs)
		}
	}
}
