package timer

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	rules "github.com/porpoise/porpoise/dag/timer"
	"github.com/porpoise/porpoise/sql"
	"github.com/porpoise/porpoise/sql/sqltest"
)

// bench is a database with a project, a clock that stands still, and a receiver that notes who calls.
type bench struct {
	*sql.Store
	t       *testing.T
	project sql.Project
	server  *httptest.Server

	mu    sync.Mutex // guards what follows
	at    time.Time
	heard []call
	// answer, where it is set, answers a call.
	answer func(w http.ResponseWriter, c call)
}

// call is one call as the receiver sees it.
type call struct {
	key, method, path, body string
	header                  http.Header
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, at: time.UnixMilli(1_700_000_000_500).UTC()}
	store, err := sql.Open(t.Context(), sql.Config{DSN: "sqlite:" + sqltest.SQLite(t), Relaxed: true, Now: b.now})
	b.must(err)
	t.Cleanup(func() { _ = store.Close() })
	b.Store = store
	b.must(store.Migrate(t.Context()))
	b.project, err = store.CreateProject(t.Context(), sql.Project{Name: "Sales"})
	b.must(err)
	b.server = httptest.NewServer(http.HandlerFunc(b.receive))
	t.Cleanup(b.server.Close)
	return b
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at
}

// pass lets time go by.
func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = b.at.Add(d)
}

func (b *bench) receive(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c := call{key: r.Header.Get(KeyHeader), method: r.Method, path: r.URL.Path, body: string(body), header: r.Header}
	b.mu.Lock()
	b.heard = append(b.heard, c)
	answer := b.answer
	b.mu.Unlock()
	if answer != nil {
		answer(w, c)
	}
}

// calls takes what the receiver has heard since the last time.
func (b *bench) calls() []call {
	b.mu.Lock()
	defer b.mu.Unlock()
	heard := b.heard
	b.heard = nil
	return heard
}

// timer makes a timer and enables it.
func (b *bench) timer(name string, spec rules.Spec) sql.Timer {
	b.t.Helper()
	if spec.Cron == "" {
		spec.Cron = "* * * * * *"
	}
	if spec.Method == "" {
		spec.Method = "POST"
	}
	if spec.URL == "" {
		spec.URL = b.server.URL + "/" + name
	}
	made, err := b.CreateTimer(b.t.Context(), sql.Timer{ProjectID: b.project.ID, Name: name, Spec: spec, CreatedBy: "ann"})
	b.must(err)
	b.must(b.EnableTimer(b.t.Context(), b.project.ID, made.ID, "ann"))
	return made
}

// slots are those of a master; nobody takes them away.
type slots []bool

func (s slots) Begin() ([]bool, int64, bool) { return s, 1, true }
func (s slots) End()                         {}

// ringer returns a ringer whose moments come when advance says so.
func (b *bench) ringer(owner string, owned slots, change ...func(*Config)) *Ringer {
	c := Config{Owner: owner, Store: b.Store, Slots: owned, Moments: &moments{at: map[sql.TimerKey]int64{}}, Logger: hclog.NewNullLogger(), Now: b.now}
	for _, f := range change {
		f(&c)
	}
	return New(c)
}

// moments are armed moments that come by advance alone, since parts of the master do not know each other.
type moments struct {
	mu sync.Mutex // guards at
	at map[sql.TimerKey]int64
}

func (m *moments) Arm(key sql.TimerKey, at int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at[key] = at
}

// advance brings a ringer the moments that have come.
func advance(r *Ringer, now time.Time) {
	m := r.Moments.(*moments)
	m.mu.Lock()
	var due []sql.TimerKey
	for key, at := range m.at {
		if at <= now.UnixMilli() {
			due = append(due, key)
			delete(m.at, key)
		}
	}
	m.mu.Unlock()
	for _, key := range due {
		r.Came(key)
	}
}

// turn lets a ringer do all that is due now, but planning.
func (b *bench) turn(r *Ringer) {
	b.t.Helper()
	b.read(r)
	r.claimAll(b.t.Context())
	advance(r, b.now())
	r.ringAll(b.t.Context())
	r.calls.Wait()
	b.must(r.saveAll(b.t.Context()))
}

// read lets a ringer read what is due soon, and find what may be claimed.
func (b *bench) read(r *Ringer) {
	b.t.Helper()
	b.must(r.Load(b.t.Context()))
	advance(r, b.now())
}

// seconds lets a number of seconds go by and ringers work in each.
func (b *bench) seconds(n int, ringers ...*Ringer) {
	b.t.Helper()
	for range n {
		b.pass(time.Second)
		for _, r := range ringers {
			b.turn(r)
		}
	}
}

// tasks are the tasks of a timer that are at their end or were tried, the oldest first.
func (b *bench) tasks(id int64) (out []sql.TimerTask) {
	b.t.Helper()
	for page := (sql.Page{Limit: 200}); ; {
		some, next, err := b.TimerTasks(context.Background(), id, "", page)
		b.must(err)
		for _, task := range some {
			if task.State != rules.Planned {
				out = append([]sql.TimerTask{task}, out...)
			}
		}
		if page.Cursor = next; next == "" {
			return out
		}
	}
}
