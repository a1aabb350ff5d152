package master

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

const diamond = `
name: diamond
tasks:
  - {name: a, type: noop}
  - {name: b, type: noop, needs: [a]}
  - {name: c, type: noop, needs: [a]}
  - {name: d, type: noop, needs: [b, c]}
`

func TestADiamondRunsInOrderAndEachTaskOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, addr, _ := s.master("m1", "i1")
	var order []string
	w := &worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 4}
	w.run = func(d *rpc.Dispatch) []*rpc.Report {
		order = append(order, d.GetTaskName())
		return succeed(d)
	}
	s.join(w, addr)
	id := s.start(s.save(diamond))
	row := s.waitFor(id, dag.InstanceSuccess)
	if row.Owner != "" {
		t.Errorf("owner of a finished instance = %q, want none", row.Owner)
	}
	w.until(t, "all reports are acknowledged", func() bool { return len(w.acks) == 4 })
	got := strings.Join(order, "")
	if got != "abcd" && got != "acbd" {
		t.Errorf("tasks ran in the order %q, want a, then b and c, then d", got)
	}
	if got, want := s.tasks(id), "a=success/1 b=success/1 c=success/1 d=success/1"; got != want {
		t.Errorf("tasks = %s, want %s", got, want)
	}
}

func TestAStartWithoutWorkersWaitsAndRunsWhenOneComes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, addr, _ := s.master("m1", "i1")
	id := s.start(s.save(diamond))
	s.waitFor(id, dag.InstanceRunning)
	s.join(&worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 1, run: succeed}, addr)
	s.waitFor(id, dag.InstanceSuccess)
}

func TestFiftyWaysToFailAndTheThirdTryWorks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, addr, _ := s.master("m1", "i1")
	w := &worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 4}
	w.run = func(d *rpc.Dispatch) []*rpc.Report {
		if d.GetAttempt().GetNumber() < 3 {
			return []*rpc.Report{report(d.GetAttempt(), dag.AttemptFailed)}
		}
		return succeed(d)
	}
	s.join(w, addr)
	id := s.start(s.save("name: retried\ntasks:\n  - {name: a, type: noop, retry: {times: 2, delay: 20ms}}\n"))
	s.waitFor(id, dag.InstanceSuccess)
	if got, want := s.tasks(id), "a=success/3"; got != want {
		t.Errorf("tasks = %s, want %s", got, want)
	}
}

func TestAKilledMastersInstancesGoOnElsewhereWithTheirAttempts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, addr, stop := s.master("m1", "i1")
	w := &worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 4}
	var held *rpc.AttemptID
	w.run = func(d *rpc.Dispatch) []*rpc.Report {
		held = d.GetAttempt()
		return []*rpc.Report{report(held, dag.AttemptRunning)}
	}
	cut := s.join(w, addr)
	id := s.start(s.save(diamond))
	w.until(t, "the first task runs", func() bool { return held != nil && len(w.acks) == 1 })
	cut()
	stop()

	_, addr, _ = s.master("m2", "i2")
	w2 := &worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 4, run: succeed}
	w2.running = []*rpc.Running{{Attempt: held}}
	s.join(w2, addr)
	// Until it has taken over, the new master gives no final answer: the worker sends again.
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	w2.report(report(held, dag.AttemptSuccess))
	w2.until(t, "the report is accepted", func() bool {
		select {
		case <-again.C:
			w2.mu.Unlock()
			w2.report(report(held, dag.AttemptSuccess))
			w2.mu.Lock()
		default:
		}
		stale := false
		for _, verdict := range w2.acks {
			if verdict == "ok" {
				return true
			}
			stale = stale || verdict == "stale"
		}
		if stale {
			t.Fatal("the report of a live attempt was called stale")
		}
		return false
	})
	row := s.waitFor(id, dag.InstanceSuccess)
	if row.OwnerEpoch != 2 {
		t.Errorf("owner epoch = %d, want 2 after one takeover", row.OwnerEpoch)
	}
	if got, want := s.tasks(id), "a=success/1 b=success/1 c=success/1 d=success/1"; got != want {
		t.Errorf("tasks = %s, want %s", got, want)
	}
}

func TestARestartedWorkerLosesWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, addr, _ := s.master("m1", "i1")
	w := &worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 4}
	started := false
	w.run = func(d *rpc.Dispatch) []*rpc.Report {
		started = true
		return []*rpc.Report{report(d.GetAttempt(), dag.AttemptRunning)}
	}
	cut := s.join(w, addr)
	id := s.start(s.save("name: one\ntasks:\n  - {name: a, type: noop}\n"))
	w.until(t, "the task runs", func() bool { return started && len(w.acks) == 1 })
	cut()
	s.join(&worker{node: "w1", incarnation: "y", groups: []string{"default"}, slots: 4, run: succeed}, addr)
	s.waitFor(id, dag.InstanceSuccess)
	if got, want := s.tasks(id), "a=success/2"; got != want {
		t.Errorf("tasks = %s, want %s: one attempt lost, one that ran", got, want)
	}
}

func TestPauseHoldsWhatIsNotRunningAndResumeGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, addr, _ := s.master("m1", "i1")
	w := &worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 4}
	var held *rpc.AttemptID
	w.run = func(d *rpc.Dispatch) []*rpc.Report {
		if d.GetTaskName() == "a" {
			held = d.GetAttempt()
			return []*rpc.Report{report(held, dag.AttemptRunning)}
		}
		return succeed(d)
	}
	s.join(w, addr)
	id := s.start(s.save(diamond))
	w.until(t, "a runs", func() bool { return held != nil })
	s.control(sql.ControlRow{InstanceID: id, Verb: dag.VerbPause})
	s.waitFor(id, dag.InstancePausing)
	w.report(report(held, dag.AttemptSuccess))
	row := s.waitFor(id, dag.InstancePaused)
	if row.Owner != "" {
		t.Errorf("a paused instance is owned by %q, want nobody", row.Owner)
	}
	if got, want := s.tasks(id), "a=success/1 b=ready/0 c=ready/0 d=waiting/0"; got != want {
		t.Errorf("tasks = %s, want %s", got, want)
	}
	s.control(sql.ControlRow{InstanceID: id, Verb: dag.VerbResume})
	s.waitFor(id, dag.InstanceSuccess)
}

func TestStopKillsWhatRunsAndRecoverRunsIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, addr, _ := s.master("m1", "i1")
	w := &worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 4}
	running := 0
	w.run = func(d *rpc.Dispatch) []*rpc.Report {
		if d.GetTaskName() == "b" && d.GetAttempt().GetNumber() == 1 {
			running++
			return []*rpc.Report{report(d.GetAttempt(), dag.AttemptRunning)}
		}
		return succeed(d)
	}
	w.killed = func(k *rpc.Kill) []*rpc.Report {
		return []*rpc.Report{report(k.GetAttempt(), dag.AttemptKilled)}
	}
	s.join(w, addr)
	id := s.start(s.save(diamond))
	w.until(t, "b runs", func() bool { return running == 1 })
	s.control(sql.ControlRow{InstanceID: id, Verb: dag.VerbStop})
	s.waitFor(id, dag.InstanceStopped)
	s.control(sql.ControlRow{InstanceID: id, Verb: dag.VerbRecover})
	row := waitRound(s, id, 2)
	if row.State != dag.InstanceSuccess {
		t.Errorf("after recover the instance is %s (%s): %s", row.State, row.Reason, s.tasks(id))
	}
	if got, want := s.tasks(id), "a=success/1 b=success/2 c=success/1 d=success/1"; got != want {
		t.Errorf("tasks = %s, want %s", got, want)
	}
}

// waitRound looks until a round of the instance is over, within a deadline.
func waitRound(s *site, id int64, round int) sql.InstanceRow {
	s.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		row, err := s.store.Instance(s.t.Context(), id)
		if err != nil {
			s.t.Fatal(err)
		}
		if row.Round == round && row.State.Final() {
			return row
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("instance %d is %s in round %d, want the end of round %d; tasks: %s; %+v", id, row.State, row.Round, round, s.tasks(id), row)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func TestADefinitionThatCannotBeReadIsQuarantinedAndOthersGoOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	any := sql.AnyVersion
	bad, _, _, err := s.store.SaveVersion(t.Context(), sql.SaveVersion{
		ProjectID: s.project.ID, Name: "bad", Text: "tasks: {", Format: "yaml", IfMatch: &any, Publish: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, addr, _ := s.master("m1", "i1")
	s.join(&worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 1, run: succeed}, addr)
	lost := s.start(bad)
	fine := s.start(s.save(diamond))
	s.waitFor(lost, dag.InstanceQuarantined)
	s.waitFor(fine, dag.InstanceSuccess)
}

func BenchmarkChainOf100(b *testing.B) { benchmark(b, 1, chain(100), 100) }
func BenchmarkFanOf1000(b *testing.B)  { benchmark(b, 1, fan(1000), 1002) }
func BenchmarkManyOfOne(b *testing.B)  { benchmark(b, 500, chain(1), 500) }

func benchmark(b *testing.B, instances int, text string, tasks int) {
	s := newSite(b)
	m, addr, _ := s.master("m1", "i1")
	s.join(&worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 64, run: succeed}, addr)
	w := s.save(text)
	b.ResetTimer()
	for range b.N {
		ids := make([]int64, instances)
		for i := range ids {
			ids[i] = s.start(w)
			m.intake.Hint()
		}
		for _, id := range ids {
			s.waitFor(id, dag.InstanceSuccess)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*tasks), "us/task")
}

func chain(n int) string {
	var text strings.Builder
	text.WriteString("name: chain\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&text, "  - {name: t%d, type: noop", i)
		if i > 0 {
			fmt.Fprintf(&text, ", needs: [t%d]", i-1)
		}
		text.WriteString("}\n")
	}
	return text.String()
}

func fan(n int) string {
	var text, all strings.Builder
	text.WriteString("name: fan\ntasks:\n  - {name: first, type: noop}\n")
	for i := range n {
		fmt.Fprintf(&text, "  - {name: t%d, type: noop, needs: [first]}\n", i)
		fmt.Fprintf(&all, "t%d, ", i)
	}
	fmt.Fprintf(&text, "  - {name: last, type: noop, needs: [%s]}\n", strings.TrimSuffix(all.String(), ", "))
	return text.String()
}
