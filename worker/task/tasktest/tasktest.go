// Package tasktest is the contract that every task type keeps, run through a real worker
// and a real runner: an attempt ends once, a failure says why, a kill ends it in time,
// output and declared outputs arrive, a dry run does nothing. Each type's tests call Run
// with examples of its own.
package tasktest

import (
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/workertest"
)

// Main is for the TestMain of a type's tests: workers and runners are this binary.
func Main(m *testing.M) { workertest.Main(m) }

// Example is a type with specs that show how it behaves. A nil spec says that the
// type has no such behaviour; Quick it must have.
type Example struct {
	Type string
	// Quick succeeds at once; Output is what it writes.
	Quick  any
	Output string
	// Fails fails with Reason.
	Fails  any
	Reason string
	// Slow runs for a minute, unless it is killed.
	Slow any
	// Sets sets the output Name to Value.
	Sets        any
	Name, Value string
	// Trace succeeds and leaves a trace; Traced says whether it has.
	Trace  any
	Traced func() bool
}

// Run checks one type.
func Run(t *testing.T, e Example) {
	t.Helper()
	m := workertest.NewMaster(t, "m1")
	spec := workertest.NewSpec(t, 4, m)
	workertest.Run(t, spec)
	s := &suite{Example: e, m: m, spec: spec}
	t.Run("a quick task succeeds", s.quick)
	t.Run("an unknown key is refused", s.unknownKey)
	for _, c := range []struct {
		name string
		spec any
		test func(t *testing.T)
	}{
		{"a failure says why", e.Fails, s.fails},
		{"a kill ends it in time", e.Slow, s.killed},
		{"declared outputs arrive and others do not", e.Sets, s.sets},
		{"a dry run does nothing", e.Trace, s.dry},
	} {
		if c.spec != nil {
			t.Run(c.name, c.test)
		}
	}
}

type suite struct {
	Example
	m    *workertest.Master
	spec workertest.Spec
	next int64
}

func (s *suite) dispatch(spec any) *rpc.Dispatch {
	s.next++
	return workertest.Dispatch(s.next, s.Type, spec)
}

func (s *suite) quick(t *testing.T) {
	d := s.dispatch(s.Quick)
	begin := time.Now().UnixMilli()
	s.m.Submit(d)
	r := s.m.Report(d.Attempt.Token)
	if r.State != "success" || r.Reason != "" || string(r.Tail) != s.Output || r.LogBytes != int64(len(s.Output)) {
		t.Errorf("report = %v, want success with output %q", r, s.Output)
	}
	if r.StartedAt < begin || r.FinishedAt < r.StartedAt {
		t.Errorf("started %d, finished %d, sent %d", r.StartedAt, r.FinishedAt, begin)
	}
	s.m.Send(&rpc.MasterMessage{Dispatches: []*rpc.Dispatch{d}})
	before := r.FinishedAt
	s.m.Until("the answer to a second dispatch", func() bool { return s.m.Count(d.Attempt.Token) >= 2 })
	for _, again := range s.m.Reports(d.Attempt.Token) {
		if again.State != "running" && again.FinishedAt != before {
			t.Errorf("it was run again: %v", again)
		}
	}
}

func (s *suite) fails(t *testing.T) {
	d := s.dispatch(s.Fails)
	s.m.Submit(d)
	if r := s.m.Report(d.Attempt.Token); r.State != "failed" || r.Reason != s.Reason || r.Message == "" {
		t.Errorf("report = %v, want failed for %s, in words", r, s.Reason)
	}
}

func (s *suite) unknownKey(t *testing.T) {
	d := s.dispatch(map[string]string{"no_such_key": "x"})
	s.m.Submit(d)
	if r := s.m.Report(d.Attempt.Token); r.State != "failed" || r.Reason != "bad_spec" || !strings.Contains(r.Message, "no_such_key") {
		t.Errorf("report = %v, want bad_spec that names the key", r)
	}
}

func (s *suite) killed(t *testing.T) {
	d := s.dispatch(s.Slow)
	s.m.Submit(d)
	s.m.Report(d.Attempt.Token, "running")
	begin := time.Now()
	s.m.Send(&rpc.MasterMessage{Kills: []*rpc.Kill{{Attempt: d.Attempt, OwnerEpoch: 1, Reason: "timeout", GraceMs: 500}}})
	r := s.m.Report(d.Attempt.Token)
	if r.State != "killed" || r.Reason != "timeout" {
		t.Errorf("report = %v, want killed for timeout", r)
	}
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("the kill took %v", took)
	}
	if left := workertest.Marked(s.spec.Dir); len(left) != 0 {
		t.Errorf("processes %v live", left)
	}
}

func (s *suite) sets(t *testing.T) {
	declared, other := s.dispatch(s.Sets), s.dispatch(s.Sets)
	declared.Outputs = []string{s.Name}
	other.Outputs = []string{"something_else"}
	s.m.Submit(declared, other)
	if r := s.m.Report(declared.Attempt.Token); r.State != "success" || r.Outputs[s.Name] != s.Value {
		t.Errorf("report = %v, want %s=%q", r, s.Name, s.Value)
	}
	if r := s.m.Report(other.Attempt.Token); r.State != "success" || len(r.Outputs) != 0 {
		t.Errorf("report = %v, want no outputs", r)
	}
}

func (s *suite) dry(t *testing.T) {
	d := s.dispatch(s.Trace)
	d.DryRun = true
	s.m.Submit(d)
	if r := s.m.Report(d.Attempt.Token); r.State != "success" {
		t.Errorf("report = %v", r)
	}
	if s.Traced() {
		t.Error("a dry run left a trace")
	}
	d = s.dispatch(s.Trace)
	s.m.Submit(d)
	if r := s.m.Report(d.Attempt.Token); r.State != "success" || !s.Traced() {
		t.Errorf("report = %v; trace = %v: the example shows nothing", r, s.Traced())
	}
}
