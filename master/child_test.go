package master

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/sql"
)

// relay passes what each master writes for the others on to them, as every apiserver does.
func (s *site) relay(addrs ...string) {
	s.t.Helper()
	cert, err := s.ca.NewCertificate(registry.APIServer, "a1", "127.0.0.1")
	if err != nil {
		s.t.Fatal(err)
	}
	streams := make([]rpc.Master_WatchClient, len(addrs))
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	for i, addr := range addrs {
		conn, err := rpc.Dial(ctx, addr, cert.Credentials(registry.Master))
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = conn.Close() })
		if streams[i], err = rpc.NewMasterClient(conn).Watch(ctx); err != nil {
			s.t.Fatal(err)
		}
		if err := streams[i].Send(&rpc.Hint{}); err != nil {
			s.t.Fatal(err)
		}
	}
	hints := make([]chan *rpc.Hint, len(addrs))
	for i := range addrs {
		hints[i] = make(chan *rpc.Hint, 1000)
	}
	for i := range addrs {
		go func() {
			for {
				m, err := streams[i].Recv()
				if err != nil {
					return
				}
				for k := range addrs {
					if k != i && m.GetHint() != nil {
						hints[k] <- m.GetHint()
					}
				}
			}
		}()
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case h := <-hints[i]:
					_ = streams[i].Send(h)
				}
			}
		}()
	}
}

// family makes a parent that runs n children, one after the other.
func (s *site) family(n int) sql.Workflow {
	s.t.Helper()
	s.save("name: child\ntasks:\n  - {name: work, type: shell, script: ok}\n")
	var text strings.Builder
	text.WriteString("name: parent\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&text, "  - {name: t%02d, type: sub_workflow, workflow: child", i)
		if i > 0 {
			fmt.Fprintf(&text, ", needs: [t%02d]", i-1)
		}
		text.WriteString("}\n")
	}
	return s.save(text.String())
}

func TestParentsAndChildrenFindEachOtherAcrossMasters(t *testing.T) {
	t.Parallel()
	const n = 24
	s := newSite(t)
	_, first, _ := s.master("m1", "i1")
	_, second, _ := s.master("m2", "i2")
	s.relay(first, second)
	w := &worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 8, run: succeed}
	s.join(w, first)
	other := &worker{node: "w2", incarnation: "x", groups: []string{"default"}, slots: 8, run: succeed}
	s.join(other, second)
	s.layout(2)
	id := s.start(s.family(n))
	// Each child must be found twice: by the master of its slot, and when it has ended by that of its
	// parent. Polls alone take a second for half of them.
	within(t, 10*time.Second, "the parent is over", func() bool { return s.done(id) })
	s.waitFor(id, dag.InstanceSuccess)
	kids, _, err := s.store.ChildrenOf(t.Context(), id, sql.Page{Limit: 200})
	if err != nil || len(kids) != n {
		t.Fatalf("%d children, %v, want %d", len(kids), err, n)
	}
	var slowest dag.Millis
	for _, kid := range kids {
		task, err := s.store.Task(t.Context(), id, kid.Parent.Task)
		if err != nil {
			t.Fatal(err)
		}
		slowest = max(slowest, task.FinishedAt-kid.FinishedAt)
	}
	t.Logf("%d children; the slowest end was noticed after %d ms", n, slowest)
}

func TestAParentIsTakenOverWhileItsChildRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, first, stop := s.master("m1", "i1")
	w := holding("w1", 8)
	s.join(w, first)
	id := s.start(s.family(2))
	w.until(t, "the child's task runs", func() bool { return len(w.got) == 1 && len(w.acks) == 1 })
	_, second, _ := s.master("m2", "i2")
	adopter := holding("w1", 8)
	s.join(adopter, second)
	crash(m, stop)
	within(t, 10*time.Second, "the second owns both", func() bool { return s.owned()["m2:i2"] == 2 })
	adopter.until(t, "the child's attempt is adopted", func() bool { return len(adopter.got) >= 1 })
	adopter.report(report(adopter.got[0], dag.AttemptSuccess))
	adopter.until(t, "the next child's task runs", func() bool { return len(adopter.got) >= 2 })
	adopter.report(report(adopter.got[1], dag.AttemptSuccess))
	s.waitFor(id, dag.InstanceSuccess)
	if kids, _, err := s.store.ChildrenOf(t.Context(), id, sql.Page{}); err != nil || len(kids) != 2 {
		t.Errorf("%d children, %v, want 2", len(kids), err)
	}
}

func TestADependentHearsOfAnEndAtAnotherMaster(t *testing.T) {
	t.Parallel()
	const n = 8
	s := newSite(t)
	_, first, _ := s.master("m1", "i1")
	_, second, _ := s.master("m2", "i2")
	s.relay(first, second)
	w := &worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 8, run: succeed}
	s.join(w, first)
	other := &worker{node: "w2", incarnation: "x", groups: []string{"default"}, slots: 8, run: succeed}
	s.join(other, second)
	s.layout(2)
	up := s.save("name: up\ntasks:\n  - {name: work, type: shell, script: ok}\n")
	waits := s.save("name: waits\ntasks:\n  - {name: a, type: dependent, interval: 1h, check: {all: [{workflow: up, date: today}]}}\n")
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = s.start(waits)
	}
	within(t, 10*time.Second, "all wait", func() bool {
		for _, id := range ids {
			if s.tasks(id) != "a=running/1" {
				return false
			}
		}
		return true
	})
	s.waitFor(s.start(up), dag.InstanceSuccess)
	for _, id := range ids {
		s.waitFor(id, dag.InstanceSuccess)
	}
}
