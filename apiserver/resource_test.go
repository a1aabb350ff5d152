package apiserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// listed are resources as "project/name tasks", with a ! for those that are missing.
func (b *bench) resources(kind, token string) (out []string) {
	b.t.Helper()
	w := b.do(asked{method: "GET", path: "/api/v1/resources/" + kind, token: token})
	if w.Code != 200 {
		b.t.Fatalf("%s: %d %s", kind, w.Code, w.Body)
	}
	for _, r := range decode[Resources](b.t, w).Items {
		text := fmt.Sprintf("%s/%s %d", r.Project, r.Name, r.Tasks)
		if r.Missing {
			text = "!" + text
		}
		for _, u := range r.UsedBy {
			text += fmt.Sprintf(" %s.%s(%s)", u.Project, u.Workflow, strings.Join(u.Tasks, ","))
		}
		out = append(out, text)
	}
	return out
}

func TestResourcesSayWhoUsesThem(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("beta")
	b.withKeys()
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	b.must(201, "PUT", "/api/v1/projects/alpha/task-groups/DWH", `{"size": 2}`)
	b.must(200, "PUT", "/api/v1/projects/alpha/environments/prod", `{"variables": {"LANG": "C"}}`)
	b.must(200, "PUT", "/api/v1/environments/prod", `{"variables": {"LANG": "D"}}`)
	b.must(200, "PUT", "/api/v1/environments/common", `{"variables": {"LANG": "D"}}`)
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/sales", `{"name":"sales","tasks":[
		{"name":"a","type":"shell","script":"ls","task_group":"dwh","environment":"prod"},
		{"name":"b","type":"shell","script":"ls","task_group":"dwh","environment":"common","worker_group":"gpu"},
		{"name":"c","type":"shell","script":"ls","environment":"nothing","env":{"PASSWORD":"${secret.db}"}},
		{"name":"d","type":"wait","for":"1s"}]}`)
	vera := b.person("vera", "beta", roleViewer, false)
	for kind, want := range map[string][]string{
		"task-groups":   {"alpha/DWH 2 alpha.sales(a,b)"},
		"environments":  {"/common 1 alpha.sales(b)", "/prod 0", "alpha/nothing", "alpha/prod 1 alpha.sales(a)"},
		"worker-groups": {"/default", "!/gpu 1 alpha.sales(b)"},
		"secrets":       {"!alpha/db 1 alpha.sales(c)"},
	} {
		got := b.resources(kind, b.admin)
		for _, one := range want {
			if !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, one) }) {
				t.Errorf("%s: %q, want %q among them", kind, got, one)
			}
		}
		for _, one := range b.resources(kind, vera) {
			if strings.Contains(one, "alpha") {
				t.Errorf("%s: who may not see alpha sees %q", kind, one)
			}
		}
	}
	b.must(400, "GET", "/api/v1/resources/calendars", "")
	// The next version no longer uses the group.
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/sales", `{"name":"sales","tasks":[{"name":"a","type":"noop"}]}`, "If-Match", "*")
	if got := b.resources("task-groups", b.admin); !slices.Equal(got, []string{"alpha/DWH 0"}) {
		t.Errorf("after the next version: %q", got)
	}
}

func TestAllListenersAreOfProjectsThatOneOperates(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, p := range []string{"alpha", "beta"} {
		b.seed(p)
		b.must(201, "PUT", "/api/v1/projects/"+p+"/listeners/ops", `{"url": "https://ops.example.org"}`)
	}
	names := func(token string) (out []string) {
		for _, l := range decode[AllListeners](t, b.do(asked{method: "GET", path: "/api/v1/listeners", token: token})).Items {
			out = append(out, l.Project+"/"+l.Name)
		}
		return out
	}
	if got := names(b.admin); !slices.Equal(got, []string{"alpha/ops", "beta/ops"}) {
		t.Errorf("an admin: %v", got)
	}
	if got := names(b.person("olga", "beta", roleOperator, false)); !slices.Equal(got, []string{"beta/ops"}) {
		t.Errorf("an operator of beta: %v", got)
	}
	if got := names(b.person("vera", "beta", roleViewer, false)); len(got) != 0 {
		t.Errorf("a viewer: %v", got)
	}
}

func TestAdminsEndTokensAndSessionsOfOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "POST", "/api/v1/users", `{"name": "ann", "password": "ann's first password"}`)
	b.signInAs("ann", "ann's first password")
	olga := b.person("olga", "", roleNone, false)
	const tokens, sessions = "/api/v1/users/olga/tokens", "/api/v1/users/ann/sessions"
	if w := b.do(asked{method: "GET", path: tokens, token: olga}); w.Code != 403 {
		t.Errorf("who is no admin lists tokens by name: %d", w.Code)
	}
	one := decode[List[Token]](t, b.must(200, "GET", tokens, "")).Items
	if len(one) != 1 || one[0].Name != "test" {
		t.Fatalf("olga's tokens: %+v", one)
	}
	id := fmt.Sprint(int64(one[0].ID))
	b.must(404, "DELETE", "/api/v1/users/ann/tokens/"+id, "")
	b.must(204, "DELETE", tokens+"/"+id, "")
	if w := b.do(asked{method: "GET", path: "/api/v1/projects", token: olga}); w.Code != 401 {
		t.Errorf("a token that was revoked still counts: %d", w.Code)
	}
	open := decode[List[Session]](t, b.must(200, "GET", sessions, "")).Items
	if len(open) != 1 {
		t.Fatalf("ann's sessions: %+v", open)
	}
	b.must(204, "DELETE", sessions+"/"+open[0].ID, "")
	b.must(404, "DELETE", sessions+"/"+open[0].ID, "")
	if left := decode[List[Session]](t, b.must(200, "GET", sessions, "")).Items; len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
	b.must(404, "GET", "/api/v1/users/nobody/tokens", "")
}
