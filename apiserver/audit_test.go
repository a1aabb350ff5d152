package apiserver

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

func TestChangesAndRefusalsAreAudited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("alpha")
	viewer := b.person("vera", "alpha", roleViewer, false)
	b.do(asked{method: "POST", path: "/api/v1/instances/" + id + "/stop", token: viewer})
	b.do(asked{method: "GET", path: "/api/v1/instances/" + id, token: viewer})
	b.do(asked{method: "GET", path: "/api/v1/instances/" + id, token: tokenPrefix + "no"})
	b.signInAs("admin", "secret-guess")
	b.must(400, "POST", "/api/v1/tokens", `{`)
	b.settle()
	rows, _, err := b.db.Audit(t.Context(), sql.AuditFilter{}, sql.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, strings.Join([]string{r.Actor, r.Action, r.Object, r.Outcome}, "|"))
		if r.CreatedAt == 0 || r.Address == "" || strings.Contains(r.Detail+r.Object, "secret-guess") {
			t.Errorf("audit row %+v", r)
		}
	}
	all := strings.Join(lines, "\n")
	for _, want := range []string{
		"admin|put-project|project=alpha|done", "admin|put-workflow|project=alpha workflow=daily|done", "admin|start-workflow|project=alpha workflow=daily|done",
		"vera|stop|id=" + id + "|refused", "|get-instance|id=" + id + "|refused", "|sign-in||refused", "admin|create-token||failed",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no audit row %q in\n%s", want, all)
		}
	}
	if strings.Contains(all, "vera|get-instance") {
		t.Errorf("a read was audited:\n%s", all)
	}
}

func TestAChangeIsAuditedThoughItsCallerHasGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	const changes = 64 // one alone might have luck
	for range changes {
		b.server.record(gone, &call{spec: &spec{id: "stop", method: "POST"}, who: &principal{name: "ann"}}, 202)
	}
	b.server.record(gone, &call{spec: &spec{id: "stop", method: "POST"}}, 503)
	b.settle()
	rows, _, err := b.db.Audit(t.Context(), sql.AuditFilter{}, sql.Page{Limit: 2 * changes})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, r := range rows {
		if r.Actor == "ann" {
			found++
		} else if r.Action == "stop" {
			t.Errorf("a request that was sent away at the door was audited: %+v", r)
		}
	}
	if found != changes {
		t.Errorf("%d of %d changes were audited", found, changes)
	}
}

// audited ends the server and returns the rows of an action, the oldest first.
func (b *bench) audited(action string) []sql.AuditRow {
	b.t.Helper()
	b.settle()
	rows, _, err := b.db.Audit(context.Background(), sql.AuditFilter{Action: action}, sql.Page{Limit: 1000})
	if err != nil {
		b.t.Fatal(err)
	}
	slices.Reverse(rows)
	return rows
}
