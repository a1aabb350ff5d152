package apiserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/internal/webhook"
	"github.com/porpoise/porpoise/sql"
)

func TestCallsMayBeSignedByASecretOfTheProject(t *testing.T) {
	t.Parallel()
	b := newListenerBench(t)
	b.withKeys()
	var signature, stamp string
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		signature, stamp = r.Header.Get(webhook.SignatureHeader), r.Header.Get(webhook.TimestampHeader)
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	const secret, put = "/api/v1/projects/alpha/secrets/hook", `", "secret": "${secret.hook}"}`
	if got := b.must(422, "PUT", listeners+"/ops", `{"url": "ftp://x`+put).Body.String(); !strings.Contains(got, `"url"`) || !strings.Contains(got, "unknown_secret") {
		t.Errorf("a secret that is not there, and a wrong URL: %s", got)
	}
	b.must(404, "GET", listeners+"/ops", "")
	b.must(201, "PUT", secret, `{"value": "first value"}`)
	b.must(201, "PUT", listeners+"/ops", `{"url": "`+server.URL+put)
	for _, value := range []string{"first value", "second value"} {
		b.must(200, "PUT", secret, `{"value": "`+value+`"}`)
		b.must(200, "POST", listeners+"/ops/test", "")
		if want := webhook.Sign([]byte(value), stamp, body); signature != want {
			t.Errorf("signature %q, want that by %s", signature, value)
		}
	}
	b.must(204, "DELETE", secret, "")
	if got := b.must(409, "POST", listeners+"/ops/test", "").Body.String(); !strings.Contains(got, "hook") {
		t.Errorf("a secret that was deleted: %s", got)
	}
}

func TestAReplyNamesASecret(t *testing.T) {
	t.Parallel()
	b := newListenerBench(t)
	b.withKeys()
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/daily", "name: daily\ntasks:\n  - {name: extract, type: noop}\n", "Content-Type", "application/yaml")
	b.must(201, "PUT", "/api/v1/secrets/shared", `{"value": "of all projects"}`)
	const start = "/api/v1/projects/alpha/workflows/daily/start"
	with := func(secret string) string {
		return `{"reply": {"url": "https://example.org/r", "events": ["started"], "secret": "` + secret + `"}}`
	}
	for secret, code := range map[string]string{
		"${secret.none}": "unknown_secret", "${secret.}": "invalid", "${secret.a b}": "invalid", "${shared}": "invalid", "${secret.shared": "invalid", "${secret.shared} ": "invalid",
	} {
		if got := b.must(422, "POST", start, with(secret)).Body.String(); !strings.Contains(got, "reply.secret") || !strings.Contains(got, code) {
			t.Errorf("%s: %s, want %s of reply.secret", secret, got, code)
		}
	}
	if all, _, err := b.db.Instances(t.Context(), sql.InstanceFilter{}, sql.Page{Limit: 10}); err != nil || len(all) > 0 {
		t.Errorf("what was refused has made %d instances, %v", len(all), err)
	}
	id := decode[struct {
		InstanceID string `json:"instance_id"`
	}](t, b.must(202, "POST", start, with("${secret.shared}"))).InstanceID
	n, _ := parseID(id)
	if l, err := b.db.ListenerByID(t.Context(), n); err != nil || string(l.Secret) != "${secret.shared}" {
		t.Errorf("the reply keeps %q, %v: want the name and not the value", l.Secret, err)
	}
	if !decode[Reply](t, b.must(200, "GET", "/api/v1/instances/"+id+"/reply", "")).Signed {
		t.Error("the reply is not signed")
	}
	operator := b.person("op", "alpha", roleOperator, false)
	w := b.do(asked{method: "POST", path: start, token: operator, body: with("${secret.shared}")})
	if w.Code != 422 || !strings.Contains(w.Body.String(), "needs_editor") {
		t.Errorf("an operator names a secret: %d %s", w.Code, w.Body.String())
	}
}
