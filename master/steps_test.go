package master

import (
	"bytes"
	"context"
	"encoding/hex"
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/protobuf/proto"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/master/link"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/registry/inprocess"
	"github.com/porpoise/porpoise/sql"
	"github.com/porpoise/porpoise/sql/sqltest"
)

// stage is a cluster without goroutines of its own: one test moves masters, a worker and the clock.
type stage struct {
	t        *testing.T
	store    *sql.Store
	registry *inprocess.Registry
	now      time.Time
	names    int
	trace    bytes.Buffer
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, registry: inprocess.New(), now: time.UnixMilli(1_700_000_000_000)}
	store, err := sql.Open(t.Context(), sql.Config{DSN: "sqlite:" + sqltest.SQLite(t), Now: s.clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.store = store
	return s
}

func (s *stage) clock() time.Time { return s.now }

// master makes a registered master.
func (s *stage) master(node string) *Master {
	s.t.Helper()
	m := New(Config{
		Self: rpc.Process{Node: node, Incarnation: "i"}, Cluster: "test", Slots: 256, Store: s.store,
		Registry: s.registry, Logger: hclog.NewNullLogger(), Now: s.clock,
		Token: func() string { s.names++; return "t" + strconv.Itoa(s.names) },
	})
	session, err := s.registry.Join(s.t.Context(), registry.Member{Role: registry.Master, Node: node, Incarnation: "i"}, m.TTL)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = session.Leave(context.Background()) })
	m.Stand(session)
	return m
}

// starts makes n instances and lets the master claim them.
func (s *stage) starts(m *Master, n int) []int64 {
	s.t.Helper()
	ctx := s.t.Context()
	project, err := s.store.CreateProject(ctx, sql.Project{Name: "p"})
	if err != nil {
		s.t.Fatal(err)
	}
	create := sql.AnyVersion
	w, _, _, err := s.store.SaveVersion(ctx, sql.SaveVersion{
		ProjectID: project.ID, Name: "diamond", Text: diamond, Format: "yaml", IfMatch: &create, Publish: true, By: "test",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	var ids []int64
	for range n {
		id, _, err := s.store.Start(ctx, sql.Start{WorkflowID: w.ID, ProjectID: project.ID, Version: 1, Priority: dag.PriorityMedium, By: "test"})
		if err != nil {
			s.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	owned := make([]bool, 256)
	for i := range owned {
		owned[i] = true
	}
	commands, _, err := s.store.Commands(ctx, owned, n, sql.CommandCursor{})
	if err != nil {
		s.t.Fatal(err)
	}
	claims := make([]sql.Claim, len(commands))
	for i, c := range commands {
		claims[i] = sql.Claim{Command: c, Owner: m.Self.String()}
	}
	claimed, err := s.store.Claim(ctx, claims)
	if err != nil {
		s.t.Fatal(err)
	}
	m.engine.Admit(claimed)
	return ids
}

// move lets a master do what it can at this moment, and the worker answer: each attempt is
// reported as running at once, and as a success with the next move.
func (s *stage) move(m *Master, l *link.Link, held *[]*rpc.AttemptID) {
	s.t.Helper()
	ctx := s.t.Context()
	m.alarms.Advance(s.now)
	m.engine.ControlOnce(ctx)
	m.engine.Sweep(s.now)
	for {
		for m.engine.StepOne() {
		}
		asked, _ := m.engine.EnterOnce(ctx)
		m.engine.GroupOnce(ctx)
		if n, _ := m.engine.CommitOnce(ctx); n == 0 && asked == 0 {
			break
		}
	}
	up := &rpc.WorkerMessage{}
	for _, id := range *held {
		up.Reports = append(up.Reports, &rpc.Report{Attempt: id, State: string(dag.AttemptSuccess), FinishedAt: s.now.UnixMilli()})
		up.Ask++
		up.Instants++
	}
	*held = nil
	if down := l.Take(); down != nil {
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(down)
		if err != nil {
			s.t.Fatal(err)
		}
		s.trace.WriteString(m.Self.Node + " " + hex.EncodeToString(text) + "\n")
		for _, d := range down.GetDispatches() {
			up.Reports = append(up.Reports, &rpc.Report{Attempt: d.GetAttempt(), State: string(dag.AttemptRunning), StartedAt: s.now.UnixMilli()})
			*held = append(*held, d.GetAttempt())
		}
	}
	m.links.Hear(ctx, l, up)
	s.now = s.now.Add(300 * time.Millisecond)
}

// TestAStepDrivenClusterDoesTheSameTwice drives two masters from one goroutine, lets one die, and
// wants the very same messages from the very same steps.
func TestAStepDrivenClusterDoesTheSameTwice(t *testing.T) {
	t.Parallel()
	run := func() string {
		s := newStage(t)
		first, second := s.master("m1"), s.master("m2")
		both := registry.View{Members: []registry.Member{{Node: "m1", Incarnation: "i"}, {Node: "m2", Incarnation: "i"}}}
		first.SeeMasters(both)
		second.SeeMasters(both)
		hello := &rpc.Hello{Worker: "w", Incarnation: "x", Groups: []string{"default"}, Slots: 8}
		cancel := func(error) {}
		l := first.links.Open(hello, cancel)
		first.links.Hear(t.Context(), l, &rpc.WorkerMessage{Ask: 8, Instants: 8})
		ids := s.starts(first, 30)
		var held []*rpc.AttemptID
		for range 6 {
			s.move(first, l, &held)
			second.failover.Look(t.Context(), s.now)
		}
		// The first is gone, and the worker with what it runs comes to the second.
		s.registry.Expire(registry.Master, "m1")
		second.SeeMasters(registry.View{Members: both.Members[1:]})
		for _, id := range held {
			hello.Running = append(hello.Running, &rpc.Running{Attempt: id})
		}
		l = second.links.Open(hello, cancel)
		second.links.Hear(t.Context(), l, &rpc.WorkerMessage{Ask: 8 - int32(len(held)), Instants: 8 - int32(len(held))})
		for range 60 {
			second.failover.Look(t.Context(), s.now)
			s.move(second, l, &held)
		}
		for _, id := range ids {
			row, err := s.store.Instance(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if row.State != dag.InstanceSuccess {
				t.Fatalf("instance %d is %s after all steps, want success", id, row.State)
			}
			s.trace.WriteString(string(row.State) + " " + strconv.FormatInt(row.OwnerEpoch, 10) + " " + strconv.FormatInt(row.Seq, 10) + "\n")
		}
		return s.trace.String()
	}
	if first, second := run(), run(); first != second {
		t.Errorf("two runs of the same steps differ:\n%s\n----\n%s", first, second)
	}
}
