package apiserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/apiserver/logs"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// signInAs signs in with a password and returns the answer.
func (b *bench) signInAs(user, password string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "http://porpoise.test/api/v1/session", strings.NewReader(fmt.Sprintf(`{"user":%q,"password":%q}`, user, password)))
	r.Header.Set("Content-Type", "application/json")
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

// with sends a request with cookies only, as a browser does.
func (b *bench) with(method, path, body string, header map[string]string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://porpoise.test"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		r.Header.Set(k, v)
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

func sessionOf(t *testing.T, w *httptest.ResponseRecorder) *http.Cookie {
	t.Helper()
	for _, c := range w.Result().Cookies() {
		if c.Name == sessionCookie {
			return c
		}
	}
	t.Fatalf("no session cookie in %d %s", w.Code, w.Body)
	return nil
}

// TestA3NothingIsDefaultOrGuessable is requirement A3.
func TestA3NothingIsDefaultOrGuessable(t *testing.T) {
	t.Parallel()
	a, b := newBench(t), newBench(t)
	if len(a.pass) != 24 || a.pass == b.pass || a.admin == b.admin || a.link == b.link || len(a.admin) < 40 {
		t.Errorf("secrets of two fresh installs: %q %q %q and %q %q %q", a.pass, a.admin, a.link, b.pass, b.admin, b.link)
	}
	for _, guess := range []string{"admin", "dolphinscheduler123", "password", "porpoise", ""} {
		if w := a.signInAs("admin", guess); w.Code == 200 {
			t.Errorf("admin signs in with %q", guess)
		}
		a.clock.advance(throttleMost)
	}
	// The second visitor can't become the first.
	if _, _, _, err := a.server.Bootstrap(context.Background()); !errors.Is(err, ErrBootstrapped) {
		t.Errorf("second Bootstrap = %v", err)
	}
	other, err := New(a.server.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := other.Bootstrap(context.Background()); !errors.Is(err, ErrBootstrapped) {
		t.Errorf("Bootstrap of a second process = %v", err)
	}
	if w := b.do(asked{method: "GET", path: "/api/v1/session", token: a.admin}); w.Code != 401 {
		t.Errorf("another install's token = %d", w.Code)
	}
	if w := a.signInAs("admin", a.pass); w.Code != 200 {
		t.Errorf("the real password = %d %s", w.Code, w.Body)
	}
}

func TestSignInLinkWorksOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if w := b.with("GET", b.link, "", map[string]string{"Sec-Fetch-Site": "cross-site"}); w.Code != 403 {
		t.Errorf("link from another site = %d", w.Code)
	}
	first := b.with("GET", b.link, "", nil)
	if first.Code != 303 || first.Header().Get("Location") != "/" {
		t.Fatalf("link = %d %v", first.Code, first.Header())
	}
	if w := b.with("GET", "/api/v1/session", "", nil, sessionOf(t, first)); w.Code != 200 || !strings.Contains(w.Body.String(), `"admin":true`) {
		t.Errorf("session of the link = %d %s", w.Code, w.Body)
	}
	if w := b.with("GET", b.link, "", nil); w.Code != 404 {
		t.Errorf("second use = %d", w.Code)
	}
	if w := b.with("GET", b.link, "", map[string]string{"Accept": "text/html,*/*;q=0.8"}); w.Code != 303 || w.Header().Get("Location") != "/?link=over" || len(w.Result().Cookies()) != 0 {
		t.Errorf("second use in a browser = %d %v", w.Code, w.Header())
	}
	late, err := b.server.AdminLink(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b.clock.advance(linkLife)
	if w := b.with("GET", late, "", nil); w.Code != 404 {
		t.Errorf("late use = %d", w.Code)
	}
}

// TestA5TraversalReachesNoFile is requirement A5: whatever stands where a name, an id or
// an offset belongs is refused or not found, and never a fault of ours.
func TestA5TraversalReachesNoFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("alpha")
	b.begin(id)
	before := b.snapshot()
	nasty := []string{"..%2f..%2fetc%2fpasswd", "%2e%2e", "..", ".", "%252e%252e", "%2fetc%2fpasswd", "C:%5cwindows", "a%00b", strings.Repeat("a", 4096), "%e2%80%ae", "-rf", "~root", "$(id)", "%20", "..;"}
	paths := []string{
		"/projects/%s", "/projects/%s/workflows", "/projects/alpha/workflows/%s", "/projects/alpha/workflows/daily/versions/%s", "/projects/%s/members", "/instances/%s",
		"/instances/%s/tasks", "/instances/" + id + "/tasks/%s/attempts", "/instances/" + id + "/tasks/%s/attempts/1/log", "/instances/" + id + "/tasks/extract/attempts/%s/log",
		"/instances/" + id + "/tasks/extract/attempts/1/log?offset=%s", "/instances/" + id + "/tasks/extract/attempts/1/log?stream=%s", "/instances/" + id + "/explain?task=%s",
		"/instances?project=%s", "/instances?cursor=%s", "/stream?topics=instance:%s", "/stream?topics=instances:%s", "/schema/%s", "/%s",
	}
	for _, p := range paths {
		for _, n := range nasty {
			for _, method := range []string{"GET", "PUT", "DELETE"} {
				path := "/api/v1" + strings.Replace(p, "%s", n, 1)
				if strings.ContainsAny(path, " ") {
					continue
				}
				w := b.do(asked{method: method, path: path, token: b.admin, body: map[string]string{"PUT": "{}"}[method]})
				if w.Code < 400 || w.Code >= 500 {
					t.Errorf("%s %.120s = %d: %.200s", method, path, w.Code, w.Body)
				}
			}
		}
	}
	if b.snapshot() != before {
		t.Error("the database changed")
	}
	for _, n := range nasty {
		if w := b.do(asked{method: "GET", path: "/docs/" + n}); w.Code != 404 && w.Code != 414 {
			t.Errorf("GET /docs/%.40s = %d", n, w.Code)
		}
	}
}

// TestA7ShellTextTravelsAsData is requirement A7 for the API: parameter values are kept
// byte for byte, and the same text is refused wherever a name belongs.
func TestA7ShellTextTravelsAsData(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	for _, evil := range []string{"$(id)", "; rm -rf /", "`id`", "a\nb", `"quoted' \"`, "-oProxyCommand=id", "${IFS}", "&& id", "%n%s", "\u202e", "<img onerror=1>"} {
		text := string(marshalJSON(evil))
		w := b.must(202, "POST", "/api/v1/projects/alpha/workflows/daily/start", `{"params":{"day":`+text+`}}`)
		in := decode[Instance](t, b.must(200, "GET", "/api/v1/instances/"+decode[map[string]any](t, w)["instance_id"].(string), ""))
		if in.Params["day"] != evil {
			t.Errorf("parameter %q became %q", evil, in.Params["day"])
		}
		b.must(422, "POST", "/api/v1/projects/alpha/workflows/daily/start", `{"worker_group":`+text+`}`)
		b.must(422, "POST", "/api/v1/projects/alpha/workflows/daily/start", `{"start_tasks":[`+text+`]}`)
		b.must(422, "POST", "/api/v1/users", `{"password":"long enough for us","name":`+text+`}`)
		def := `{"name":` + text + `,"tasks":[{"name":"a","type":"noop"}]}`
		if f := decode[Findings](t, b.must(200, "POST", "/api/v1/validate", def)); f.Valid {
			t.Errorf("a workflow may be named %q", evil)
		}
	}
}

// TestA10SessionsEndWhenTheyShould is requirement A10.
func TestA10SessionsEndWhenTheyShould(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	b.must(201, "POST", "/api/v1/users", `{"name":"ann","password":"ann's first password"}`)
	b.clock.freeze()
	me := func(c *http.Cookie) int { return b.with("GET", "/api/v1/session", "", nil, c).Code }
	enter := func() *http.Cookie {
		t.Helper()
		w := b.signInAs("ann", "ann's first password")
		if w.Code != 200 {
			t.Fatalf("sign in = %d %s", w.Code, w.Body)
		}
		return sessionOf(t, w)
	}
	ends := func(name string, end func(c *http.Cookie)) {
		t.Helper()
		c := enter()
		if got := me(c); got != 200 {
			t.Errorf("%s: before it %d", name, got)
		}
		end(c)
		if got := me(c); got != 401 {
			t.Errorf("%s: after it %d", name, got)
		}
	}
	c := enter()
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
		t.Errorf("cookie %+v", c)
	}
	ends("sign-out", func(c *http.Cookie) {
		if w := b.with("DELETE", "/api/v1/session", "", nil, c); w.Code != 204 {
			t.Errorf("sign-out = %d %s", w.Code, w.Body)
		}
	})
	ends("a role", func(*http.Cookie) { b.must(200, "PUT", "/api/v1/projects/alpha/members/ann", `{"role":"viewer"}`) })
	ends("losing a role", func(*http.Cookie) { b.must(204, "DELETE", "/api/v1/projects/alpha/members/ann", "") })
	ends("becoming admin", func(*http.Cookie) { b.must(200, "PUT", "/api/v1/users/ann", `{"admin":true}`) })
	ends("being disabled", func(*http.Cookie) { b.must(200, "PUT", "/api/v1/users/ann", `{"disabled":true}`) })
	if w := b.signInAs("ann", "ann's first password"); w.Code != 401 {
		t.Errorf("disabled user signs in: %d", w.Code)
	}
	b.must(200, "PUT", "/api/v1/users/ann", `{"disabled":false}`)
	ends("a new sign-in over the old", func(c *http.Cookie) {
		if fresh := sessionOf(t, b.signInAs("ann", "ann's first password", c)); fresh.Value == c.Value || me(fresh) != 200 {
			t.Error("the session id was not rotated")
		}
	})
	ends("idleness", func(*http.Cookie) { b.clock.advance(sessionIdle) })
	ends("its whole life", func(c *http.Cookie) {
		for range 23 {
			b.clock.advance(29 * time.Minute)
			_ = me(c)
		}
		if got := me(c); got != 200 {
			t.Errorf("a used session ended after 11 h: %d", got)
		}
		b.clock.advance(61 * time.Minute)
	})
	ends("a new password", func(c *http.Cookie) {
		w := b.with("PUT", "/api/v1/session/password", `{"current":"ann's first password","new":"ann's second password"}`, nil, c)
		if w.Code != 204 || me(sessionOf(t, w)) != 200 {
			t.Errorf("password change = %d %s", w.Code, w.Body)
		}
	})
	if w := b.signInAs("ann", "ann's first password"); w.Code != 401 {
		t.Errorf("the old password = %d", w.Code)
	}
}

// TestA10FixedSessionIdIsNotTaken is requirement A10: an id that an attacker has set in
// the browser before sign-in is worth nothing after.
func TestA10FixedSessionIdIsNotTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	fixed := &http.Cookie{Name: sessionCookie, Value: "chosen-by-somebody-else"}
	w := b.signInAs("admin", b.pass, fixed)
	if got := sessionOf(t, w); got.Value == fixed.Value || len(got.Value) < 43 {
		t.Errorf("session id = %q", got.Value)
	}
	if w := b.with("GET", "/api/v1/session", "", nil, fixed); w.Code != 401 {
		t.Errorf("the fixed id = %d", w.Code)
	}
	if w := b.with("GET", "/api/v1/session", "", nil, fixed, sessionOf(t, w)); w.Code != 401 {
		t.Errorf("two session cookies = %d", w.Code)
	}
	secure := newBench(t, func(c *Config) { c.SecureCookies = true })
	if c := sessionOf(t, secure.signInAs("admin", secure.pass)); !c.Secure {
		t.Error("cookie behind TLS is not Secure")
	}
}

// TestA10OtherOriginChangesNothing is requirement A10: forms and scripts of other pages
// get nowhere with the cookie that the browser adds for them, nor can they sign anybody in.
func TestA10OtherOriginChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := sessionOf(t, b.signInAs("admin", b.pass))
	for _, h := range []map[string]string{{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}, {"Sec-Fetch-Site": "same-site"}} {
		if w := b.with("PUT", "/api/v1/projects/evil", "{}", h, c); w.Code != 403 {
			t.Errorf("PUT with %v = %d", h, w.Code)
		}
		if w := b.with("POST", "/api/v1/session", fmt.Sprintf(`{"user":"admin","password":%q}`, b.pass), h); w.Code != 403 {
			t.Errorf("sign-in with %v = %d", h, w.Code)
		}
		if w := b.with("DELETE", "/api/v1/session", "", h, c); w.Code != 403 {
			t.Errorf("sign-out with %v = %d", h, w.Code)
		}
	}
	form := map[string]string{"Content-Type": "text/plain"}
	if w := b.with("PUT", "/api/v1/projects/evil", "{}", form, c); w.Code != 415 {
		t.Errorf("PUT as text/plain = %d", w.Code)
	}
	if w := b.with("PUT", "/api/v1/projects/good", "{}", map[string]string{"Sec-Fetch-Site": "same-origin"}, c); w.Code != 201 {
		t.Errorf("PUT of our own page = %d %s", w.Code, w.Body)
	}
	for name, sp := range b.routes() {
		if method, _, _ := strings.Cut(name, " "); sp.safe() != (method == "GET") {
			t.Errorf("%s: safe() = %v", name, sp.safe())
		}
	}
}

// TestA13SecretsAreNotShownAgain is requirement A13 for the API: passwords, token secrets
// and session ids are in no answer, no row and no audit line.
func TestA13SecretsAreNotShownAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const canary = "canary-password-0815"
	b.must(201, "POST", "/api/v1/users", `{"name":"ann","password":"`+canary+`"}`)
	b.signInAs("ann", canary+"x")
	c := sessionOf(t, b.signInAs("ann", canary))
	token := decode[struct{ Secret string }](t, b.must(201, "POST", "/api/v1/tokens", `{"name":"ci"}`)).Secret
	b.must(422, "POST", "/api/v1/users", `{"name":"bob","password":"canary-password-0815","extra":"canary-password-0815"}`)
	seen := ""
	for _, path := range []string{"/api/v1/users", "/api/v1/tokens", "/api/v1/session", "/metrics", "/openapi.json", "/api/v1/projects"} {
		seen += b.must(200, "GET", path, "").Body.String()
	}
	seen += b.with("GET", "/api/v1/session", "", nil, c).Body.String()
	seen += b.snapshot()
	for _, secret := range []string{canary, token, strings.TrimPrefix(token, tokenPrefix), c.Value, b.admin, b.pass, strings.TrimPrefix(b.link, "/sign-in/")} {
		if strings.Contains(seen, secret) {
			t.Errorf("the secret %.12s... is shown again", secret)
		}
	}
	if w := b.do(asked{method: "GET", path: "/api/v1/tokens", token: token}); w.Code != 200 {
		t.Errorf("the token itself = %d", w.Code)
	}
}

// TestA14InjectedTextIsOnlyText is requirement A14 for the API.
func TestA14InjectedTextIsOnlyText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	before := b.snapshot()
	for _, evil := range []string{"%27%3B--", "x%27%20OR%20%271%27=%271", "SLEEP(5)", "%25", "_", "%25_%25", "%7B%7B.%7D%7D", "$%7B7*7%7D", "a%0d%0aSet-Cookie:%20x=1", "=cmd%7C%27/c%20calc%27!A1"} {
		for _, q := range []string{"/instances?project=", "/instances?project=alpha&workflow=", "/instances?state=", "/instances?cursor=", "/instances?from=", "/projects?cursor=", "/instances?order=", "/stream?topics=", "/projects/", "/projects/alpha/workflows/"} {
			w := b.do(asked{method: "GET", path: "/api/v1" + q + evil, token: b.admin})
			if w.Code != 400 && w.Code != 404 {
				t.Errorf("GET %s%s = %d %s", q, evil, w.Code, w.Body)
			}
			if len(w.Header().Values("Set-Cookie")) > 0 {
				t.Errorf("GET %s%s sets a cookie", q, evil)
			}
		}
	}
	w := b.do(asked{method: "POST", path: "/api/v1/projects/alpha/workflows/daily/start", token: b.admin, body: "{}", header: map[string]string{"Idempotency-Key": "x' OR '1'='1"}})
	if w.Code != 400 {
		t.Errorf("Idempotency-Key = %d", w.Code)
	}
	if b.snapshot() != before {
		t.Error("the database changed")
	}
}

// TestA15GuessingIsSlowedDown is requirement A15: sign-ins of one user from one address
// are throttled, known and unknown users alike.
func TestA15GuessingIsSlowedDown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.clock.freeze()
	for _, user := range []string{"admin", "nobody"} {
		var codes []int
		for range freeTries + 2 {
			codes = append(codes, b.signInAs(user, "wrong").Code)
		}
		want := []int{401, 401, 401, 401, 401, 429, 429}
		if fmt.Sprint(codes) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", user, codes, want)
		}
	}
	if w := b.signInAs("admin", b.pass); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("the right password while throttled = %d %v", w.Code, w.Header())
	}
	b.clock.advance(throttleMost)
	if w := b.signInAs("admin", b.pass); w.Code != 200 {
		t.Errorf("after the wait = %d", w.Code)
	}
}

// TestA15ServerEndsSlowAndHugeRequests is requirement A15 on a real connection.
func TestA15ServerEndsSlowAndHugeRequests(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = NewHTTPServer(b.handler, HTTPConfig{})
	srv.Start()
	defer srv.Close()
	if c := srv.Config; c.ReadHeaderTimeout != 5*time.Second || c.IdleTimeout != 120*time.Second || c.MaxHeaderBytes > 16<<10 {
		t.Errorf("limits = %v %v %d", c.ReadHeaderTimeout, c.IdleTimeout, c.MaxHeaderBytes)
	}
	send := func(change func(r *http.Request)) int {
		r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/api/v1/projects", nil)
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		resp, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if got := send(func(r *http.Request) { r.Header.Set("X-Big", strings.Repeat("x", 20<<10)) }); got != 431 {
		t.Errorf("20 KiB of headers = %d", got)
	}
	if got := send(func(r *http.Request) { r.URL.RawQuery = strings.Repeat("x", 9000) }); got != 414 {
		t.Errorf("9 KB of URL = %d", got)
	}
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	fmt.Fprintf(conn, "POST /api/v1/tokens HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n{", b.admin)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != 413 || !answer.Close {
		t.Errorf("a body of 1 GiB = %d, closed %v", answer.StatusCode, answer.Close)
	}
}

func TestDatabaseAwayIs503WithRetryAfter(t *testing.T) {
	t.Parallel()
	var away awayStore
	b := newBench(t, func(c *Config) { away.Store = c.Store; c.Store = &away })
	b.seed("alpha")
	away.gone = true
	for _, path := range []string{"/api/v1/projects", "/api/v1/instances", "/readyz"} {
		w := b.do(asked{method: "GET", path: path, token: b.admin})
		if w.Code != 503 || w.Header().Get("Retry-After") != "2" {
			t.Errorf("GET %s = %d %q %s", path, w.Code, w.Header().Get("Retry-After"), w.Body)
		}
	}
	b.must(200, "GET", "/healthz", "")
}

// awayStore is a store whose database goes away.
type awayStore struct {
	Store
	gone bool
}

func (s *awayStore) Projects(ctx context.Context, p sql.Page) ([]sql.Project, string, error) {
	if s.gone {
		return nil, "", fmt.Errorf("list projects: %w", sql.ErrUnavailable)
	}
	return s.Store.Projects(ctx, p)
}

func (s *awayStore) Instances(ctx context.Context, f sql.InstanceFilter, p sql.Page) ([]sql.InstanceRow, string, error) {
	if s.gone {
		return nil, "", fmt.Errorf("list instances: %w", sql.ErrUnavailable)
	}
	return s.Store.Instances(ctx, f, p)
}

func (s *awayStore) Ping(ctx context.Context) error {
	if s.gone {
		return sql.ErrUnavailable
	}
	return s.Store.Ping(ctx)
}

// goneLogs is a cluster whose workers are all away.
type goneLogs struct{}

func (goneLogs) Read(context.Context, string, logs.Query) (logs.Window, error) {
	return logs.Window{}, logs.ErrWorkerGone
}

func (goneLogs) Follow(context.Context, string, logs.Query, func(logs.Window) error) error {
	return logs.ErrWorkerGone
}

func TestTailAnswersForAWorkerThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Logs = goneLogs{} })
	row := sql.AttemptRow{Attempt: dag.Attempt{Worker: "w1", State: dag.AttemptSuccess, Tail: []byte("the end\n"), LogBytes: 100}}
	for _, c := range []struct {
		offset int64
		want   string
		gone   bool
	}{{-8, "the end\n", false}, {-4, "end\n", false}, {92, "the end\n", false}, {200, "", false}, {0, "", true}} {
		w, err := b.server.window(t.Context(), row, logs.Query{Offset: c.offset, Limit: 1000})
		if (err != nil) != c.gone || string(w.Data) != c.want {
			t.Errorf("offset %d = %q, %v", c.offset, w.Data, err)
		}
		var p *Problem
		if c.gone && (!errors.As(err, &p) || p.Status != 503 || !strings.Contains(p.Detail, "worker lost")) {
			t.Errorf("gone = %v", err)
		}
	}
}
