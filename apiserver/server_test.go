package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/porpoise/porpoise/apiserver/watch"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
	"github.com/porpoise/porpoise/sql/sqltest"
)

// bench is a whole API on a real SQLite file, with people of every role.
type bench struct {
	t       testing.TB
	store   Store
	db      *sql.Store
	path    string // of the database file
	server  *Server
	handler http.Handler
	hints   *hintLog
	watcher *watch.Watcher
	clock   *clock
	admin   string // the bootstrap token
	pass    string
	link    string
	settle  func() // ends Run, which writes the audit
	first   bool   // the admin has not chosen a password yet
}

// clock is moved by hand where a test is about time.
type clock struct {
	ahead  atomic.Int64
	frozen atomic.Int64 // Unix ns; zero runs
}

func (c *clock) Now() time.Time {
	now := time.Now()
	if ns := c.frozen.Load(); ns != 0 {
		now = time.Unix(0, ns)
	}
	return now.Add(time.Duration(c.ahead.Load()))
}

// freeze lets time pass only by advance, for tests that a slow machine could outrun.
func (c *clock) freeze()                  { c.frozen.Store(time.Now().UnixNano()) }
func (c *clock) advance(by time.Duration) { c.ahead.Add(int64(by)) }

// hintLog keeps the hints that were given.
type hintLog struct {
	commands chan int64
	controls chan int64
}

func (h *hintLog) Command(id int64) { h.commands <- id }
func (h *hintLog) Control(id int64) { h.controls <- id }

// fixedCluster is a cluster of one master and one worker.
type fixedCluster struct{}

func (fixedCluster) Masters() []Node {
	return []Node{{Name: "m1", Incarnation: "a1", Address: "127.0.0.1:1", Version: "1.0.0", Weight: 1, StartedAt: 1000}}
}

func (fixedCluster) Workers() []Node {
	return []Node{{Name: "w1", Incarnation: "b1", Version: "1.0.0", Groups: []string{"default"}, Labels: map[string]string{"zone": "eu"}, Slots: 4, StartedAt: 1000}}
}
func (fixedCluster) CA() string { return "cafe" }

func (fixedCluster) Slots() SlotLayout {
	return SlotLayout{
		Epoch: 3, Cause: "m2 joined", Coordinator: "m1:a1", CommittedAt: 1000, Owners: []int{0, 0, 1, 0},
		Members:  []LayoutMember{{"m1", "a1", 3}, {"m2", "a2", 1}},
		Excluded: []LayoutMember{{"m3", "a3", 1}},
		Preparing: &Preparing{
			Epoch: 4, Cause: "m2 left", Coordinator: "m1:a1", At: 2000, Members: []LayoutMember{{"m1", "a1", 3}, {"m4", "a4", 1}}, Acked: []string{"m1"},
		},
	}
}

// fixedWorkers is that worker's state.
type fixedWorkers struct{}

func (fixedWorkers) Figures(string) (*rpc.WorkerFigures, bool) {
	return &rpc.WorkerFigures{
		Load: 0.5, DriftMs: 3, Running: 2, FreeSlots: 2, Outbox: 1, FreeDisk: 0.75,
		Heartbeat: &rpc.HeartbeatFigures{
			Main: 1, Backup: 1, PeriodMs: 1000, CycleMs: 5000, TimeoutMs: 15000, Batch: 200, Capacity: 500, Utilisation: 0.002,
			LastCycle: 2, Messages: 40, Sent: 80, Retried: 1, OldestMs: 4200,
		},
	}, true
}

func (fixedWorkers) Heard(string) (time.Time, bool)                 { return time.UnixMilli(1000), true }
func (fixedWorkers) Drain(context.Context, string, DrainWish) error { return nil }
func (fixedWorkers) Resume(context.Context, string) error           { return nil }

// newBench gives a node whose first admin has chosen his password long ago.
func newBench(t testing.TB, change ...func(*Config)) *bench { return benchOf(t, false, change...) }

// settleAdmin lets the printed password be one that its admin has chosen.
func (b *bench) settleAdmin() {
	b.t.Helper()
	ctx := context.Background()
	u, err := b.store.FirstAdmin(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	u.MustChange = false
	if err := b.store.UpdateUser(ctx, u); err != nil {
		b.t.Fatal(err)
	}
	b.server.known.forget()
}

func benchOf(t testing.TB, first bool, change ...func(*Config)) *bench {
	t.Helper()
	ctx := context.Background()
	b := &bench{t: t, first: first, path: sqltest.SQLite(t), clock: &clock{}}
	db, err := sql.Open(ctx, sql.Config{DSN: "sqlite:" + b.path, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	b.db = db
	b.store = db
	b.hints = &hintLog{commands: make(chan int64, 10000), controls: make(chan int64, 10000)}
	b.watcher = watch.New(watch.Config{Logger: hclog.NewNullLogger()})
	cfg := Config{
		Store: b.store, Hints: b.hints, Events: b.watcher, Cluster: fixedCluster{}, Workers: fixedWorkers{}, Logger: hclog.NewNullLogger(), Now: b.clock.Now,
		Metrics: prometheus.NewRegistry(), Version: "1.0.0", cost: passwordCost{memoryKiB: 64, time: 1, threads: 1},
	}
	for _, c := range change {
		c(&cfg)
	}
	b.server, err = New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.handler = b.server.Handler()
	runCtx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- b.server.Run(runCtx) }()
	b.settle = sync.OnceFunc(func() { stop(); <-ended })
	t.Cleanup(b.settle)
	if b.pass, b.admin, b.link, err = b.server.Bootstrap(ctx); err != nil {
		t.Fatal(err)
	}
	if !b.first {
		b.settleAdmin()
	}
	return b
}

// asked is a request in the making.
type asked struct {
	method, path string
	body         string
	header       map[string]string
	token        string
}

func (b *bench) do(a asked) *httptest.ResponseRecorder {
	b.t.Helper()
	var body io.Reader
	if a.body != "" {
		body = strings.NewReader(a.body)
	}
	r := httptest.NewRequest(a.method, "http://porpoise.test"+a.path, body)
	if a.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	for k, v := range a.header {
		if v == "" {
			r.Header.Del(k)
		} else {
			r.Header.Set(k, v)
		}
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

// must does a request as admin and fails the test unless the status is as wanted.
func (b *bench) must(status int, method, path, body string, header ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	h := map[string]string{}
	for i := 0; i+1 < len(header); i += 2 {
		h[header[i]] = header[i+1]
	}
	w := b.do(asked{method: method, path: path, body: body, header: h, token: b.admin})
	if w.Code != status {
		b.t.Fatalf("%s %s = %d, want %d: %s", method, path, w.Code, status, w.Body)
	}
	return w
}

func decode[T any](t testing.TB, w *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	if err := json.NewDecoder(bytes.NewReader(w.Body.Bytes())).Decode(&v); err != nil {
		t.Fatalf("decode %q: %v", w.Body, err)
	}
	return v
}

const twoTasks = `name: daily
description: Loads the day.
params:
  day: "1"
tasks:
  - name: extract
    type: shell
    script: echo "${day}"
  - name: load
    type: noop
    needs: [extract]
`

// seed makes a project with a published workflow and one instance, and returns its id.
func (b *bench) seed(project string) string {
	b.t.Helper()
	b.must(201, "PUT", "/api/v1/projects/"+project, "")
	b.must(201, "PUT", "/api/v1/projects/"+project+"/workflows/daily", twoTasks, "Content-Type", "application/yaml")
	w := b.must(202, "POST", "/api/v1/projects/"+project+"/workflows/daily/start", "")
	return decode[struct {
		InstanceID string `json:"instance_id"`
	}](b.t, w).InstanceID
}

// begin lets a master's hands be ours: it claims what was started and steps it.
func (b *bench) begin(id string) { b.drive(id, dag.Begin{}) }

// assign goes on to where worker w1 has the first task.
func (b *bench) assign(id string) {
	b.drive(id, dag.Begin{}, dag.Assign{Task: 0, Worker: "w1", Incarnation: "b1", Token: "t1"},
		dag.Report{Task: 0, Number: 1, Token: "t1", State: dag.AttemptRunning, StartedAt: dag.MillisOf(time.Now())})
}

func (b *bench) drive(id string, inputs ...dag.Input) {
	b.t.Helper()
	ctx := context.Background()
	n, _ := parseID(id)
	cmds, _, err := b.db.Commands(ctx, nil, 100, sql.CommandCursor{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range cmds {
		if c.InstanceID != n {
			continue
		}
		got, err := b.db.Claim(ctx, []sql.Claim{{Command: c, Owner: "m1:a1"}})
		if err != nil || len(got) != 1 {
			b.t.Fatalf("claim: %v, %d claimed", err, len(got))
		}
		plan, err := planOf(got[0].Version)
		if err != nil {
			b.t.Fatal(err)
		}
		in, err := sql.Rebuild(plan, &got[0].Instance, got[0].Tasks, got[0].Attempts)
		if err != nil {
			b.t.Fatal(err)
		}
		if in.Facts, err = got[0].Instance.Facts(); err != nil {
			b.t.Fatal(err)
		}
		for _, input := range inputs {
			fx := in.Step(input, dag.MillisOf(time.Now()))
			errs := b.db.Commit(ctx, []sql.Transition{{Instance: in, Plan: plan, Epoch: got[0].Instance.OwnerEpoch, Effects: &fx, At: dag.MillisOf(time.Now())}})
			if errs[0] != nil {
				b.t.Fatal(errs[0])
			}
		}
		return
	}
	b.t.Fatalf("no command for instance %s", id)
}

func TestMainJobOverTheAPI(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("sales")
	if got := <-b.hints.commands; jsonID(got) != id {
		t.Errorf("hint = %d, want %s", got, id)
	}
	b.begin(id)
	in := decode[Instance](t, b.must(200, "GET", "/api/v1/instances/"+id, ""))
	if in.State != dag.InstanceRunning || in.Project != "sales" || in.Workflow != "daily" {
		t.Errorf("instance = %+v", in)
	}
	tasks := decode[List[Task]](t, b.must(200, "GET", "/api/v1/instances/"+id+"/tasks", ""))
	if len(tasks.Items) != 2 || tasks.Items[0].State != dag.TaskReady {
		t.Errorf("tasks = %+v", tasks)
	}
	b.must(200, "GET", "/api/v1/instances/"+id+"/events", "")
	b.must(200, "GET", "/api/v1/instances/"+id+"/explain?task=load", "")
	b.must(202, "POST", "/api/v1/instances/"+id+"/pause", "")
	b.must(200, "POST", "/api/v1/instances/"+id+"/pause", "")
	b.must(202, "POST", "/api/v1/instances/"+id+"/tasks/load/skip", "")
	if got := <-b.hints.controls; jsonID(got) != id {
		t.Errorf("control hint = %d, want %s", got, id)
	}
	b.must(200, "GET", "/api/v1/instances?project=sales&workflow=daily&state=running", "")
	b.must(200, "GET", "/openapi.json", "")
	b.must(200, "GET", "/healthz", "")
	b.must(200, "GET", "/readyz", "")
	b.must(200, "GET", "/metrics", "")
}

func jsonID(n int64) string { return strings.Trim(string(marshalJSON(ID(n))), "\"\n") }
