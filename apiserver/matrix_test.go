package apiserver

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// refusedMedia is a type that no route answers: a request that asks for it is admitted
// or refused like any other, and then ends in 406 before its handler could change a thing.
const refusedMedia = "image/x-nothing"

// person makes a user with a role in a project ("" for none) and returns a token of his.
func (b *bench) person(name, project string, r role, admin bool) string {
	b.t.Helper()
	ctx := context.Background()
	u, err := b.store.CreateUser(ctx, sql.User{Name: name, PasswordHash: "none", Admin: admin, CreatedAt: 1, UpdatedAt: 1})
	if err != nil {
		b.t.Fatal(err)
	}
	if project != "" {
		p, err := b.store.Project(ctx, project)
		if err != nil {
			b.t.Fatal(err)
		}
		if err := b.store.PutMember(ctx, sql.Member{ProjectID: p.ID, UserID: u.ID, User: name, Role: r.String()}); err != nil {
			b.t.Fatal(err)
		}
	}
	return b.tokenOf(u.ID, sql.Token{})
}

func (b *bench) tokenOf(user int64, t sql.Token) string {
	b.t.Helper()
	secret := tokenPrefix + newSecret()
	t.UserID, t.Name, t.Hash, t.CreatedAt = user, "test", hashSecret(secret), 1
	if t.ExpiresAt == 0 {
		t.ExpiresAt = dag.MillisOf(time.Now().Add(100 * time.Hour))
	}
	if _, err := b.store.CreateToken(context.Background(), t); err != nil {
		b.t.Fatal(err)
	}
	b.server.known.forget()
	return secret
}

// fill puts real objects of project alpha into a route's path.
func fill(path, id string) string {
	return strings.NewReplacer("{project}", "alpha", "{workflow}", "daily", "{id}", id, "{task}", "extract", "{number}", "1", "{version}", "1", "{other}", "1",
		"{group}", "cluster", "{backfill}", "1", "{user}", "alpha-viewer", "{worker}", "w1", "{slot}", "1", "{token}", "1", "{param}", "region", "{secret}", "nothing", "{name}", "db", "{schedule}", "nightly", "{calendar}", "holidays", "{kind}", "secrets", "{session}", "1", "{failover}", "1").Replace(path)
}

// snapshot reads every row of every table but those that requests may touch without
// changing anything of substance.
func (b *bench) snapshot() string {
	b.t.Helper()
	db, err := stdsql.Open("sqlite", "file:"+b.path+"?mode=ro")
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var out strings.Builder
	for _, table := range column(b.t, db, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('audit', 'id_block', 'session', 'goose_db_version') ORDER BY name`) {
		rows := dump(b.t, db, table)
		fmt.Fprintf(&out, "%s %d\n%s\n", table, len(rows), strings.Join(rows, "\n"))
	}
	return out.String()
}

func column(t testing.TB, db *stdsql.DB, query string) (out []string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func dump(t testing.TB, db *stdsql.DB, table string) (out []string) {
	t.Helper()
	rows, err := db.Query("SELECT * FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	cols, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		vals, ptrs := make([]any, len(cols)), make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%q", vals))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	sort.Strings(out)
	return out
}

// TestMatrixOfRoutesAndCallers walks every route with every kind of caller. Requirements A2 and A4.
func TestMatrixOfRoutesAndCallers(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Console = http.NotFoundHandler() })
	id := b.seed("alpha")
	b.begin(id)
	b.seed("beta")
	nobody := func(*spec) int { return http.StatusUnauthorized }
	inAlpha := func(has role, admin bool) func(sp *spec) int {
		return func(sp *spec) int {
			switch sp.access.object {
			case ofProject, ofWorkflow, ofInstance:
				if has < roleViewer {
					return http.StatusNotFound
				}
				if has < sp.access.need {
					return http.StatusForbidden
				}
			case noObject, perItem:
				if sp.access.need == roleAdmin && !admin {
					return http.StatusForbidden
				}
			}
			return http.StatusNotAcceptable
		}
	}
	callers := []struct {
		name, auth string
		want       func(*spec) int
	}{
		{"anonymous", "", nobody},
		{"a wrong token", "Bearer nothing", nobody},
		{"an empty token", "Bearer ", nobody},
		{"an unknown token", "Bearer " + tokenPrefix + newSecret(), nobody},
		{"another cluster's token", "Bearer " + newBench(t).admin, nobody},
		{"basic auth", "Basic YWRtaW46YWRtaW4=", nobody},
		{"a token in pieces", "Bearer  " + b.admin, nobody},
		{"viewer", "Bearer " + b.person("alpha-viewer", "alpha", roleViewer, false), inAlpha(roleViewer, false)},
		{"operator", "Bearer " + b.person("alpha-operator", "alpha", roleOperator, false), inAlpha(roleOperator, false)},
		{"editor", "Bearer " + b.person("alpha-editor", "alpha", roleEditor, false), inAlpha(roleEditor, false)},
		{"owner", "Bearer " + b.person("alpha-owner", "alpha", roleOwner, false), inAlpha(roleOwner, false)},
		{"owner elsewhere", "Bearer " + b.person("beta-owner", "beta", roleOwner, false), inAlpha(roleNone, false)},
		{"admin", "Bearer " + b.admin, inAlpha(roleAdmin, true)},
	}
	expired := b.person("expired", "alpha", roleOwner, false)
	b.clock.advance(101 * time.Hour)
	callers = append(callers, struct {
		name, auth string
		want       func(*spec) int
	}{"an expired token", "Bearer " + expired, nobody})
	b.clock.advance(-101 * time.Hour)
	before := b.snapshot()
	for name, sp := range b.routes() {
		method, path, _ := strings.Cut(name, " ")
		path = fill(path, id)
		for _, c := range callers {
			if c.name == "an expired token" {
				b.clock.advance(101 * time.Hour)
			}
			w := b.do(asked{method: method, path: path, header: map[string]string{"Authorization": c.auth, "Accept": refusedMedia}})
			if c.name == "an expired token" {
				b.clock.advance(-101 * time.Hour)
			}
			want := c.want(sp)
			if sp.access.open {
				want = http.StatusNotAcceptable
			}
			if w.Code != want {
				t.Errorf("%s by %s = %d, want %d", name, c.name, w.Code, want)
			}
		}
	}
	if after := b.snapshot(); after != before {
		t.Errorf("the database changed")
	}
}

// TestA2PathTricksReachNothing is requirement A2: what looks like a route but is not one
// never answers with an object.
func TestA2PathTricksReachNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) {
		c.Console = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("console")) })
	})
	id := b.seed("alpha")
	base := "/api/v1/instances/" + id
	for _, path := range []string{
		"/" + base, "/." + base, "/api//v1/instances/" + id, "/api/./v1/instances/" + id, "/x/.." + base, "/%2e%2e" + base, base + "/configs", base + "/login",
		base + ";x", base + "%3bx", "/API/V1/INSTANCES/" + id, "/static/.." + base, "/docs/.." + base, "/sign-in/.." + base, base + "/", base + "%2f", base + "/.", base + "%00",
	} {
		for _, header := range []map[string]string{nil, {"X-Original-URL": "/healthz"}, {"X-Rewrite-URL": "/healthz"}, {"X-HTTP-Method-Override": "GET"}, {"X-Forwarded-Prefix": "/docs"}} {
			w := b.do(asked{method: "GET", path: path, header: header})
			if strings.Contains(w.Body.String(), "daily") || w.Code == http.StatusMovedPermanently {
				t.Errorf("GET %s with %v = %d: %s", path, header, w.Code, w.Body)
			}
		}
	}
	if w := b.do(asked{method: "POST", path: base + "/stop", header: map[string]string{"X-HTTP-Method-Override": "GET"}}); w.Code != 401 {
		t.Errorf("overridden method = %d", w.Code)
	}
}

// TestA4ForeignObjectIsAsAbsent is requirement A4: the same text for what is another's
// and for what is not there, on every route that names an instance or a project.
func TestA4ForeignObjectIsAsAbsent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("alpha")
	b.seed("beta")
	foreign := b.person("beta-owner", "beta", roleOwner, false)
	for name, sp := range b.routes() {
		if sp.access.object != ofInstance && sp.access.object != ofProject && sp.access.object != ofWorkflow {
			continue
		}
		method, path, _ := strings.Cut(name, " ")
		there := b.do(asked{method: method, path: fill(path, id), token: foreign})
		absent := b.do(asked{method: method, path: strings.ReplaceAll(fill(path, "999999999"), "alpha/", "nowhere/"), token: foreign})
		a, z := decode[Problem](t, there), decode[Problem](t, absent)
		if there.Code != 404 || absent.Code != 404 || a.Detail != z.Detail {
			t.Errorf("%s: foreign %d %q, absent %d %q", name, there.Code, a.Detail, absent.Code, z.Detail)
		}
	}
	for _, q := range []string{"?project=alpha", "?project=nowhere"} {
		if w := b.do(asked{method: "GET", path: "/api/v1/instances" + q, token: foreign}); w.Code != 404 {
			t.Errorf("list%s = %d", q, w.Code)
		}
	}
	own := decode[List[Instance]](t, b.do(asked{method: "GET", path: "/api/v1/instances", token: foreign}))
	if len(own.Items) != 1 || own.Items[0].Project != "beta" {
		t.Errorf("list shows %+v", own.Items)
	}
	if w := b.do(asked{method: "GET", path: "/api/v1/stream?topics=instance:" + id, token: foreign}); w.Code != 404 {
		t.Errorf("stream of a foreign instance = %d", w.Code)
	}
}

func TestTokenHoldsNoMoreThanItsScope(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("alpha")
	b.seed("beta")
	ctx := context.Background()
	admin, err := b.store.User(ctx, adminName)
	if err != nil {
		t.Fatal(err)
	}
	alpha, err := b.store.Project(ctx, "alpha")
	if err != nil {
		t.Fatal(err)
	}
	viewer := b.tokenOf(admin.ID, sql.Token{Role: "viewer"})
	scoped := b.tokenOf(admin.ID, sql.Token{ProjectID: alpha.ID})
	for _, c := range []struct {
		token, method, path string
		want                int
	}{
		{viewer, "GET", "/api/v1/instances/" + id, 200},
		{viewer, "POST", "/api/v1/instances/" + id + "/pause", 403},
		{viewer, "GET", "/api/v1/users", 403},
		{scoped, "GET", "/api/v1/projects/alpha", 200},
		{scoped, "GET", "/api/v1/projects/beta", 404},
		{scoped, "GET", "/api/v1/users", 403},
		{scoped, "PUT", "/api/v1/projects/gamma", 404},
	} {
		if w := b.do(asked{method: c.method, path: c.path, token: c.token}); w.Code != c.want {
			t.Errorf("%s %s = %d, want %d: %s", c.method, c.path, w.Code, c.want, w.Body)
		}
	}
	// A scoped token can't make itself a wider sister.
	w := b.do(asked{method: "POST", path: "/api/v1/tokens", token: viewer, body: `{"name":"wide","role":"admin"}`})
	if got := decode[Token](t, w); w.Code != 201 || got.Role != "viewer" {
		t.Errorf("token of a viewer token = %d %+v", w.Code, got)
	}
	w = b.do(asked{method: "POST", path: "/api/v1/tokens", token: scoped, body: `{"name":"wide","project":"beta"}`})
	if w.Code != 422 {
		t.Errorf("token for another project = %d", w.Code)
	}
}
