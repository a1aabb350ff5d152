package main

import (
	"strings"
	"testing"
)

func TestATimerIsCreatedAndShown(t *testing.T) {
	t.Parallel()
	a := newAsked(t, `{"code": 0, "msg": "ok", "id": 42, "data": {"id": 42, "app": "sales", "name": "ping", "cron": "*/5 * * * * *", "enabled": true,
		"failures": 3, "failingSince": "2026-11-22T12:00:00.000Z", "notifyHTTPParam": {"url": "http://example.org/ping", "method": "POST"}}}`)
	code, out, errs := cmd(t, "", "timer", "create", "sales", "ping", "*/5 * * * * *", "http://example.org/ping", "--header", "X-A: 1", "--header", "X-A: 2", "--tries", "3",
		"--enable", "--server", a.URL)
	if code != exitOK || out != "timer 42 is made\n" {
		t.Errorf("create = %d %q %q", code, out, errs)
	}
	want := []string{
		`POST /api/timer/v1/def {"app":"sales","name":"ping","cron":"*/5 * * * * *","notifyHTTPParam":{"url":"http://example.org/ping","method":"POST","header":{"X-A":["1","2"]},"maxTries":3}}`,
		`POST /api/timer/v1/enable {"app":"sales","id":"42"}`,
	}
	if got := strings.Join(a.calls, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("asked\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	code, out, errs = cmd(t, "", "timer", "get", "sales", "42", "--server", a.URL)
	if code != exitOK || !strings.Contains(out, "POST http://example.org/ping") || !strings.Contains(out, "yes") || !strings.Contains(out, "UTC") {
		t.Errorf("get = %d %q %q", code, out, errs)
	}
	for verb, call := range map[string]string{"enable": "POST /api/timer/v1/enable ", "disable": "POST /api/timer/v1/unable ", "delete": "DELETE /api/timer/v1/def "} {
		if code, _, errs := cmd(t, "", "timer", verb, "sales", "42", "--server", a.URL); code != exitOK || a.last() != call+`{"app":"sales","id":"42"}` {
			t.Errorf("%s = %d %q, asked %s", verb, code, errs, a.last())
		}
	}
	if code, _, errs := cmd(t, "", "timer", "create", "sales", "ping", "* * * * *", "http://example.org", "--header", "nothing", "--server", a.URL); code != exitUsage || !strings.Contains(errs, "--header") {
		t.Errorf("a bad header = %d %q", code, errs)
	}
}
