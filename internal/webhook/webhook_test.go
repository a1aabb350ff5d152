package webhook_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/internal/webhook"
)

func TestTheSignatureIsThatOfTheDocument(t *testing.T) {
	t.Parallel()
	// docs/listeners.md has these very values.
	got := webhook.Sign([]byte("swordfish"), "1700000000", []byte(`{"id":"42-0"}`))
	if want := "v1=" + documented; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

const documented = "5db24dd19a96fc1d6de3a2d2a25dead7172b4052c258de273eb4124fe4303067"

func TestOnlyA2xxIsTaken(t *testing.T) {
	t.Parallel()
	other := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { other++ }))
	defer elsewhere.Close()
	status := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", elsewhere.URL)
		w.WriteHeader(status)
	}))
	defer server.Close()
	for _, status = range []int{200, 202, 204, 301, 302, 307, 308, 400, 404, 410, 500, 503} {
		got, err := (&webhook.Sender{}).Send(t.Context(), webhook.Message{URL: server.URL, Event: "1-0", Body: []byte("{}")})
		if got != status || (err == nil) != (status < 300) {
			t.Errorf("status %d: got %d, %v", status, got, err)
		}
	}
	if other != 0 {
		t.Errorf("%d redirects were followed", other)
	}
}

func TestTheErrorDoesNotRepeatTheURL(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := (&webhook.Sender{}).Send(t.Context(), webhook.Message{URL: server.URL + "/key-in-a-path", Event: "1-0"})
	if err == nil || strings.Contains(err.Error(), "key-in-a-path") {
		t.Errorf("got %v", err)
	}
}

func TestReceiversAreTheSameByHost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://Example.org/a?b=c": "https://example.org", "http://example.org:8080": "http://example.org:8080", "HTTP://example.org": "http://example.org",
		"ftp://example.org": "", "//example.org": "", "http://": "", "http://a:b@example.org": "", "http://example.org/#x": "", "http://exa mple.org": "",
		"http://" + strings.Repeat("x", 300): "", "https://example.org/" + strings.Repeat("x", webhook.MaxURL): "",
	} {
		if got, err := webhook.Receiver(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}
