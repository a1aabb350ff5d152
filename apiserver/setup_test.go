package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

// newFreshBench gives a node at its first start.
func newFreshBench(t testing.TB, change ...func(*Config)) *bench { return benchOf(t, true, change...) }

// byLink opens a sign-in link and returns its session.
func (b *bench) byLink(t *testing.T, link string) *http.Cookie {
	t.Helper()
	return sessionOf(t, b.with("GET", link, "", nil))
}

func problemCode(t *testing.T, body string) string {
	t.Helper()
	_, rest, ok := strings.Cut(body, `"code":"`)
	if !ok {
		t.Fatalf("no code in %s", body)
	}
	code, _, _ := strings.Cut(rest, `"`)
	return code
}

func TestNothingIsOpenBeforeTheFirstPasswordIsChosen(t *testing.T) {
	t.Parallel()
	b := newFreshBench(t)
	id := b.seed("alpha")
	c := b.byLink(t, b.link)
	for name, sp := range b.routes() {
		if sp.access.open || sp.early {
			continue
		}
		method, path, _ := strings.Cut(name, " ")
		w := b.with(method, fill(path, id), "", map[string]string{"Accept": refusedMedia}, c)
		if w.Code != 403 || problemCode(t, w.Body.String()) != "must_change_password" {
			t.Errorf("%s = %d %s", name, w.Code, w.Body)
		}
	}
	me := decode[Me](t, b.with("GET", "/api/v1/session", "", nil, c))
	if !me.SetUp || !me.MustChangePassword || me.Name != adminName {
		t.Errorf("me = %+v", me)
	}
	// The token of the data folder is for scripts, which choose no password.
	b.must(200, "GET", "/api/v1/projects", "")
}

func TestSetUpGivesTheAdminANameAndAPassword(t *testing.T) {
	t.Parallel()
	var told atomic.Int32
	b := newFreshBench(t, func(c *Config) { c.SetUp = func() { told.Add(1) } })
	b.must(201, "POST", "/api/v1/users", `{"name":"Bob","password":"bob's first password"}`)
	c := b.byLink(t, b.link)
	other := sessionOf(t, b.signInAs(adminName, b.pass))
	for _, wrong := range []struct{ body, code string }{
		{`{"name":"Ann","password":"short"}`, "out_of_range"},
		{`{"name":"Ann Example Long","password":"ann example long"}`, "too_easy"},
		{`{"name":"Ann","password":"aaaaaaaaaaaaaa"}`, "too_easy"},
		{`{"name":"","password":"a fine long password"}`, "required"},
		{`{"name":"bob","password":"a fine long password"}`, "name_taken"},
		{fmt.Sprintf(`{"name":"Ann","password":%q}`, b.pass), "unchanged"},
	} {
		w := b.with("POST", "/api/v1/setup", wrong.body, nil, c)
		if w.Code != 422 && w.Code != 409 || !strings.Contains(w.Body.String(), `"`+wrong.code+`"`) {
			t.Errorf("%s = %d %s, want %s", wrong.body, w.Code, w.Body, wrong.code)
		}
	}
	if w := b.do(asked{method: "POST", path: "/api/v1/setup", body: `{"name":"Ann","password":"a fine long password"}`, token: b.admin}); w.Code != 403 {
		t.Errorf("set-up by a token = %d", w.Code)
	}
	w := b.with("POST", "/api/v1/setup", `{"name":"Ann","password":"a fine long password"}`, nil, c)
	me := decode[Me](t, w)
	if w.Code != 200 || me.Name != "Ann" || me.SetUp || me.MustChangePassword || !me.Admin || told.Load() != 1 {
		t.Fatalf("set-up = %d %+v, told %d times", w.Code, me, told.Load())
	}
	if w := b.with("GET", "/api/v1/projects", "", nil, sessionOf(t, w)); w.Code != 200 {
		t.Errorf("after it: %d %s", w.Code, w.Body)
	}
	for name, gone := range map[string]*http.Cookie{"its own": c, "another": other} {
		if w := b.with("GET", "/api/v1/session", "", nil, gone); w.Code != 401 {
			t.Errorf("%s session of before = %d", name, w.Code)
		}
	}
	if w := b.with("POST", "/api/v1/setup", `{"name":"Eve","password":"another long password"}`, nil, sessionOf(t, w)); w.Code != 409 {
		t.Errorf("a second set-up = %d %s", w.Code, w.Body)
	}
	if b.signInAs("ann", "a fine long password").Code != 200 || b.signInAs(adminName, b.pass).Code != 401 {
		t.Error("the new password does not sign in, or the printed one still does")
	}
	// A later start's link signs in whom the set-up made.
	link, err := b.server.AdminLink(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if me := decode[Me](t, b.with("GET", "/api/v1/session", "", nil, b.byLink(t, link))); me.Name != "Ann" || me.MustChangePassword {
		t.Errorf("by a later link: %+v", me)
	}
}

func TestThePrintedPasswordIsChangedAtTheFirstSignIn(t *testing.T) {
	t.Parallel()
	var told atomic.Int32
	b := newFreshBench(t, func(c *Config) { c.SetUp = func() { told.Add(1) } })
	c := sessionOf(t, b.signInAs(adminName, b.pass))
	body := fmt.Sprintf(`{"current":%q,"new":%q}`, b.pass, b.pass)
	if w := b.with("PUT", "/api/v1/session/password", body, nil, c); w.Code != 422 || problemCode(t, w.Body.String()) != "unchanged" {
		t.Errorf("the same again = %d %s", w.Code, w.Body)
	}
	w := b.with("PUT", "/api/v1/session/password", fmt.Sprintf(`{"current":%q,"new":"a fine long password"}`, b.pass), nil, c)
	if w.Code != 204 || told.Load() != 1 {
		t.Fatalf("change = %d %s, told %d times", w.Code, w.Body, told.Load())
	}
	if got := b.with("GET", "/api/v1/projects", "", nil, sessionOf(t, w)); got.Code != 200 {
		t.Errorf("after it: %d %s", got.Code, got.Body)
	}
	c = sessionOf(t, b.signInAs(adminName, "a fine long password"))
	if w := b.with("PUT", "/api/v1/session/password", `{"current":"a fine long password","new":"another long password"}`, nil, c); w.Code != 204 || told.Load() != 1 {
		t.Errorf("a later change = %d, told %d times", w.Code, told.Load())
	}
}

func TestAUserMadeByAnAdminIsNotAskedToSetUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "POST", "/api/v1/users", `{"name":"Bob","password":"bob's first password","admin":true}`)
	c := sessionOf(t, b.signInAs("Bob", "bob's first password"))
	if me := decode[Me](t, b.with("GET", "/api/v1/session", "", nil, c)); me.SetUp || !me.MustChangePassword {
		t.Errorf("me = %+v", me)
	}
	if w := b.with("POST", "/api/v1/setup", `{"name":"Eve","password":"a fine long password"}`, nil, c); w.Code != 409 {
		t.Errorf("set-up by a later admin = %d %s", w.Code, w.Body)
	}
	if w := b.with("GET", "/api/v1/projects", "", nil, c); w.Code != 403 {
		t.Errorf("projects before the change = %d", w.Code)
	}
}

func TestOnesSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.person("ann", "", roleNone, false)
	one := sessionOf(t, b.with("POST", "/api/v1/session", fmt.Sprintf(`{"user":"admin","password":%q}`, b.pass), map[string]string{"User-Agent": "Fox\u00e9\x01 1"}))
	two := sessionOf(t, b.signInAs(adminName, b.pass))
	list := decode[List[Session]](t, b.with("GET", "/api/v1/sessions", "", nil, one)).Items
	if len(list) != 2 {
		t.Fatalf("sessions = %+v", list)
	}
	var mine, other Session
	for _, v := range list {
		if v.Current {
			mine = v
		} else {
			other = v
		}
	}
	if mine.Agent != "Fox 1" || mine.Address == "" || other.ID == "" || mine.ID == other.ID {
		t.Errorf("mine %+v, other %+v", mine, other)
	}
	if w := b.do(asked{method: "DELETE", path: "/api/v1/sessions/" + other.ID, token: b.tokenOf(2, sql.Token{})}); w.Code != 404 && w.Code != 401 {
		t.Errorf("another's session = %d", w.Code)
	}
	if w := b.with("DELETE", "/api/v1/sessions/"+other.ID, "", nil, one); w.Code != 204 {
		t.Errorf("end = %d %s", w.Code, w.Body)
	}
	if w := b.with("GET", "/api/v1/session", "", nil, two); w.Code != 401 {
		t.Errorf("the ended one = %d", w.Code)
	}
	if w := b.with("DELETE", "/api/v1/sessions/"+other.ID, "", nil, one); w.Code != 404 {
		t.Errorf("end it again = %d", w.Code)
	}
}

func TestAProjectKeepsAnOwner(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	b.person("ann", "alpha", roleOwner, false)
	const member = "/api/v1/projects/alpha/members/ann"
	for _, w := range []struct{ method, body string }{{"DELETE", ""}, {"PUT", `{"role":"viewer"}`}} {
		if got := b.must(409, w.method, member, w.body); problemCode(t, got.Body.String()) != "last_owner" {
			t.Errorf("%s = %s", w.method, got.Body)
		}
	}
	b.person("bob", "alpha", roleOwner, false)
	b.must(200, "PUT", member, `{"role":"viewer"}`)
	b.must(204, "DELETE", member, "")
}

func TestACreatedProjectChangesNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", `{"description":"first"}`, "If-None-Match", "*")
	if w := b.must(409, "PUT", "/api/v1/projects/alpha", `{"description":"second"}`, "If-None-Match", "*"); problemCode(t, w.Body.String()) != "name_taken" {
		t.Errorf("again = %s", w.Body)
	}
	if p := decode[Project](t, b.must(200, "GET", "/api/v1/projects/alpha", "")); p.Description != "first" {
		t.Errorf("project = %+v", p)
	}
}

func TestOverviewsShowOnlyWhatIsVisible(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin(b.seed("alpha"))
	b.seed("beta")
	ann := b.person("ann", "alpha", roleViewer, false)
	all := decode[List[ProjectOverview]](t, b.must(200, "GET", "/api/v1/overview", ""))
	own := decode[List[ProjectOverview]](t, b.do(asked{method: "GET", path: "/api/v1/overview", token: ann}))
	if len(all.Items) != 2 || len(own.Items) != 1 || own.Items[0].Name != "alpha" || own.Items[0].Workflows != 1 || own.Items[0].Day != (Day{Open: 1}) {
		t.Errorf("all %+v, own %+v", all, own)
	}
	if w := b.do(asked{method: "GET", path: "/api/v1/projects/beta/overview", token: ann}); w.Code != 404 {
		t.Errorf("a foreign project's overview = %d", w.Code)
	}
	rows := decode[List[WorkflowOverview]](t, b.do(asked{method: "GET", path: "/api/v1/projects/alpha/overview", token: ann}))
	if len(rows.Items) != 1 || rows.Items[0].ChangedBy != adminName || len(rows.Items[0].Last) != 1 || rows.Items[0].Last[0].State != "running" {
		t.Errorf("overview = %+v", rows)
	}
}
