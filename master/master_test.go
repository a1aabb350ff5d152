package master

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/registry/inprocess"
	"github.com/porpoise/porpoise/sql"
	"github.com/porpoise/porpoise/sql/sqltest"
)

// site is a store, a registry and a certificate authority for masters and workers of a test.
type site struct {
	t        testing.TB
	store    *sql.Store
	faulty   Store // what masters use instead of store, if set
	registry *inprocess.Registry
	ca       *rpc.CA
	project  sql.Project
	log      hclog.Logger
	file     string // of the store
}

func newSite(t testing.TB) *site {
	t.Helper()
	log := hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: testWriter{t}})
	file := sqltest.SQLite(t)
	store, err := sql.Open(t.Context(), sql.Config{DSN: "sqlite:" + file, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	ca, err := rpc.NewCA("test")
	if err != nil {
		t.Fatal(err)
	}
	project, err := store.CreateProject(t.Context(), sql.Project{Name: "p"})
	if err != nil {
		t.Fatal(err)
	}
	return &site{t: t, store: store, registry: inprocess.New(), ca: ca, project: project, log: log, file: file}
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// master starts a master that serves on loopback; stop ends it without grace.
func (s *site) master(node, incarnation string) (m *Master, addr string, stop func()) {
	s.t.Helper()
	cert, err := s.ca.NewCertificate(registry.Master, node, "127.0.0.1")
	if err != nil {
		s.t.Fatal(err)
	}
	server, err := rpc.NewServer(rpc.ServerConfig{Certificate: cert, Logger: s.log})
	if err != nil {
		s.t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	var store Store = s.store
	if s.faulty != nil {
		store = s.faulty
	}
	m = New(Config{
		Self: rpc.Process{Node: node, Incarnation: incarnation}, Cluster: "test", Address: listener.Addr().String(),
		Slots: 256, Takeover: true, Store: store, Registry: s.registry, Logger: s.log,
		Patience: time.Second, SuperviseEvery: 100 * time.Millisecond,
	})
	rpc.RegisterMasterServer(server, m)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(listener) })
	running.Go(func() { _ = m.Run(ctx) })
	stop = sync.OnceFunc(func() {
		server.Stop()
		cancel()
		running.Wait()
	})
	s.t.Cleanup(stop)
	return m, listener.Addr().String(), stop
}

// save stores a definition of the project and returns its workflow.
func (s *site) save(text string) sql.Workflow {
	s.t.Helper()
	def, wrong := dag.Parse([]byte(text), "yaml")
	if len(wrong) > 0 {
		s.t.Fatalf("definition: %v", wrong)
	}
	any := sql.AnyVersion
	w, _, _, err := s.store.SaveVersion(s.t.Context(), sql.SaveVersion{
		ProjectID: s.project.ID, Name: def.Name, Text: text, Format: "yaml", IfMatch: &any, Publish: true, By: "test",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

func (s *site) start(w sql.Workflow) int64 {
	s.t.Helper()
	id, _, err := s.store.Start(context.Background(), sql.Start{
		WorkflowID: w.ID, ProjectID: s.project.ID, Version: w.Published, Priority: dag.PriorityMedium, By: "test",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *site) control(c sql.ControlRow) {
	s.t.Helper()
	c.By = "test"
	if _, err := s.store.AddControl(s.t.Context(), c); err != nil {
		s.t.Fatal(err)
	}
}

// waitFor looks until the instance is in the state, within a deadline.
func (s *site) waitFor(id int64, want dag.InstanceState) sql.InstanceRow {
	s.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		row, err := s.store.Instance(context.Background(), id)
		if err != nil {
			s.t.Fatal(err)
		}
		if row.State == want {
			return row
		}
		if time.Now().After(deadline) || row.State.Final() {
			s.t.Fatalf("instance %d is %s (%s), want %s; tasks: %s", id, row.State, row.Reason, want, s.tasks(id))
		}
		<-time.After(2 * time.Millisecond)
	}
}

// tasks lists the tasks of an instance as "name=state/attempts".
func (s *site) tasks(id int64) string {
	s.t.Helper()
	rows, _, err := s.store.Tasks(context.Background(), id, sql.Page{Limit: 200})
	if err != nil {
		s.t.Fatal(err)
	}
	words := make([]string, len(rows))
	for i, row := range rows {
		words[i] = fmt.Sprintf("%s=%s/%d", row.Name, row.State, row.Attempts)
	}
	return strings.Join(words, " ")
}

// worker is a scripted worker: run answers each dispatch with reports, nil with none.
type worker struct {
	node, incarnation string
	groups            []string
	labels            map[string]string
	slots             int32
	running           []*rpc.Running
	run               func(d *rpc.Dispatch) []*rpc.Report
	killed            func(k *rpc.Kill) []*rpc.Report

	mu      sync.Mutex
	stream  rpc.Master_WorkClient
	outbox  int64
	seen    map[string]int // dispatches by token
	acks    map[int64]string
	changed chan struct{}
	up      bool
	got     []*rpc.AttemptID // what holding workers run, in order
}

// join links the worker with a master; stop cuts the link.
func (s *site) join(w *worker, addr string) (stop func()) {
	s.t.Helper()
	cert, err := s.ca.NewCertificate(registry.Worker, w.node)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	conn, err := rpc.Dial(ctx, addr, cert.Credentials(registry.Master))
	if err != nil {
		s.t.Fatal(err)
	}
	stream, err := rpc.NewMasterClient(conn).Work(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	w.stream, w.seen, w.acks, w.changed = stream, map[string]int{}, map[int64]string{}, make(chan struct{}, 1)
	hello := &rpc.Hello{Worker: w.node, Incarnation: w.incarnation, Groups: w.groups, Labels: w.labels, Slots: w.slots, Running: w.running}
	if err := stream.Send(&rpc.WorkerMessage{Hello: hello, Ask: w.slots, Instants: w.slots}); err != nil {
		s.t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(w.listen)
	w.until(s.t, "the master says welcome", func() bool { return w.up })
	stop = sync.OnceFunc(func() { cancel(); _ = conn.Close(); running.Wait() })
	s.t.Cleanup(stop)
	return stop
}

func (w *worker) listen() {
	for {
		m, err := w.stream.Recv()
		if err != nil {
			return
		}
		w.mu.Lock()
		w.up = w.up || m.GetWelcome() != nil
		var reports []*rpc.Report
		for _, d := range m.GetDispatches() {
			w.seen[d.GetAttempt().GetToken()]++
			if w.run != nil && w.seen[d.GetAttempt().GetToken()] == 1 {
				reports = append(reports, w.run(d)...)
			}
		}
		for _, k := range m.GetKills() {
			if w.killed != nil {
				reports = append(reports, w.killed(k)...)
			}
		}
		for _, a := range m.GetAcks() {
			w.acks[a.GetOutboxId()] = a.GetVerdict()
		}
		w.mu.Unlock()
		w.report(reports...)
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
}

// report sends reports and asks again for each that ends an attempt.
func (w *worker) report(reports ...*rpc.Report) {
	if len(reports) == 0 {
		return
	}
	w.mu.Lock()
	message := &rpc.WorkerMessage{Reports: reports}
	for _, r := range reports {
		w.outbox++
		r.OutboxId = w.outbox
		if r.GetState() != string(dag.AttemptRunning) {
			message.Ask++
			message.Instants++ // its tasks are mostly noop
		}
	}
	_ = w.stream.Send(message)
	w.mu.Unlock()
}

// until waits for a condition that messages from the master bring about.
func (w *worker) until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		w.mu.Lock()
		done := ok()
		w.mu.Unlock()
		if done {
			return
		}
		select {
		case <-w.changed:
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func report(id *rpc.AttemptID, state dag.AttemptState) *rpc.Report {
	now := time.Now().UnixMilli()
	return &rpc.Report{Attempt: id, State: string(state), StartedAt: now, FinishedAt: now}
}

// succeed is a script in which every attempt succeeds at once.
func succeed(d *rpc.Dispatch) []*rpc.Report {
	return []*rpc.Report{report(d.GetAttempt(), dag.AttemptSuccess)}
}
