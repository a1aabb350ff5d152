package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/internal/webhook"
)

// The lines that are printed are run: by a shell, with curl and openssl.
func TestThePrintedLinesCallTheWebhook(t *testing.T) {
	t.Parallel()
	const secret, body = "it's a $ecret", `{"say": "it's 100%"}`
	calls := make(chan string, 4)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"id": "42", "project": "shop", "workflow": "daily", "name": "deploy", "webhook": {"secret": "deploys"}, "enabled": true}`)
			return
		}
		sent, _ := io.ReadAll(r.Body)
		signed := r.Header.Get(webhook.SignatureHeader) == webhook.Sign([]byte(secret), r.Header.Get(webhook.TimestampHeader), sent)
		calls <- fmt.Sprint(r.URL.Path, " ", r.Header.Get("Content-Type"), " ", r.Header.Get(webhook.EventHeader) != "", " ", signed, " ", string(sent))
	}))
	t.Cleanup(srv.Close)
	code, script, errs := cmd(t, "", "schedule", "hook", "shop/daily", "deploy", "--server", srv.URL)
	if code != exitOK || !strings.Contains(script, "deploys") {
		t.Fatalf("hook = %d %q %q", code, script, errs)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for given, want := range map[string]string{"BODY=" + body: body, "EVENT=build-118": "{}"} {
		sh := exec.CommandContext(ctx, "sh")
		sh.Stdin, sh.Env = strings.NewReader(script), append(os.Environ(), "SECRET="+secret, given)
		if out, err := sh.CombinedOutput(); err != nil {
			t.Fatalf("the lines end with %v: %s", err, out)
		}
		if got := <-calls; got != "/api/v1/hooks/42 application/json true true "+want {
			t.Errorf("with %s called was %q", given, got)
		}
	}
}

func TestAScheduleWithoutAWebhookHasNoLines(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"id": "42", "project": "shop", "workflow": "daily", "name": "nightly", "cron": "0 5 * * *", "enabled": true}`)
	if code, _, errs := cmd(t, "", "schedule", "hook", "shop/daily", "nightly", "--server", a.URL); code != exitUsage || !strings.Contains(errs, "0 5 * * *") {
		t.Errorf("hook = %d %q", code, errs)
	}
}
