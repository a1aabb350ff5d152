package master

import (
	stdsql "database/sql"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// The tests below plant by hand what no loop of a master leaves behind as far as is known, and wait
// until the supervisor has it recovered.

const retried = "name: retried\ntasks:\n  - {name: a, type: noop, retry: {times: 3}}\n"

// plant changes rows behind the masters' backs; it must meet one at least.
func (s *site) plant(query string, args ...any) {
	s.t.Helper()
	db, err := stdsql.Open("sqlite", "file:"+s.file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	res, err := db.ExecContext(s.t.Context(), query, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		s.t.Fatalf("%s met %d rows, %v", query, n, err)
	}
}

// recoveries waits until there is one in the state, and returns all.
func (s *site) recoveries(state sql.RecoveryState) []sql.RecoveryRow {
	s.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		rows, _, err := s.store.Recoveries(s.t.Context(), state, sql.Page{})
		if err != nil {
			s.t.Fatal(err)
		}
		if len(rows) > 0 {
			return rows
		}
		if time.Now().After(deadline) {
			all, _, _ := s.store.Recoveries(s.t.Context(), "", sql.Page{})
			s.t.Fatalf("no recovery is %s; there are %+v", state, all)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func TestAStartWhoseCommandVanishedRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.start(s.save(retried))
	s.plant(`DELETE FROM command WHERE id = ?`, id)
	s.plant(`UPDATE workflow_instance SET created_at = 1 WHERE id = ?`, id)
	_, addr, _ := s.master("m1", "i1")
	s.join(&worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 1, run: succeed}, addr)
	s.waitFor(id, dag.InstanceSuccess)
	if r := s.recoveries(sql.RecoveryDone)[0]; r.Step != sql.StepStart || r.InstanceID != id {
		t.Errorf("the recovery is %+v", r)
	}
}

func TestARunningInstanceThatNobodyHasGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, _, stop := s.master("m1", "i1")
	id := s.start(s.save(retried))
	s.waitFor(id, dag.InstanceRunning)
	stop()
	s.plant(`UPDATE workflow_instance SET owner = '', created_at = 1 WHERE id = ?`, id)
	_, addr, _ := s.master("m2", "i2")
	s.join(&worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 1, run: succeed}, addr)
	s.waitFor(id, dag.InstanceSuccess)
}

func TestAPausedInstanceWhoseWishWasLeftAloneGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, _, stop := s.master("m1", "i1")
	id := s.start(s.save(retried))
	s.waitFor(id, dag.InstanceRunning)
	s.control(sql.ControlRow{InstanceID: id, Verb: dag.VerbPause})
	s.waitFor(id, dag.InstancePaused)
	stop()
	s.control(sql.ControlRow{InstanceID: id, Verb: dag.VerbResume})
	s.plant(`DELETE FROM command WHERE instance_id = ?`, id)
	s.plant(`UPDATE control SET created_at = 1 WHERE applied_at = 0`)
	_, addr, _ := s.master("m2", "i2")
	s.join(&worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 1, run: succeed}, addr)
	s.waitFor(id, dag.InstanceSuccess)
}

// TestAKillThatNeverEndsIsRepeatedAndThenGivenUp holds that an operator hears of it: the task has failed
// with a reason, the event is a warning, and the recovery is an error.
func TestAKillThatNeverEndsIsRepeatedAndThenGivenUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, addr, _ := s.master("m1", "i1")
	w := &worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 1}
	kills := 0
	w.run = func(d *rpc.Dispatch) []*rpc.Report {
		return []*rpc.Report{report(d.GetAttempt(), dag.AttemptRunning)}
	}
	w.killed = func(*rpc.Kill) []*rpc.Report { kills++; return nil }
	s.join(w, addr)
	id := s.start(s.save(retried))
	w.until(t, "the task runs", func() bool { return len(w.acks) == 1 })
	s.control(sql.ControlRow{InstanceID: id, Verb: dag.VerbKill, Tasks: []string{"a"}})
	w.until(t, "it is to be killed", func() bool { return kills == 1 })
	for failures := 1; failures <= 4; failures++ {
		s.plant(`UPDATE task_attempt SET complete_by = 1 WHERE instance_id = ?`, id)
		w.until(t, "the kill is sent again", func() bool { return kills >= 1+failures })
		applied := s.recoveries(sql.RecoveryApplied)[0]
		if applied.Step != "killing" || applied.Failures != failures || applied.Result != "sent_again" {
			t.Fatalf("recovery %d is %+v", failures, applied)
		}
		s.plant(`UPDATE recovery SET complete_by = 1`)
	}
	s.plant(`UPDATE task_attempt SET complete_by = 1 WHERE instance_id = ?`, id)
	row := s.waitFor(id, dag.InstanceFailed)
	if got := s.tasks(id); got != "a=failed/1" || row.Reason != dag.ReasonTaskFailed {
		t.Errorf("the instance failed for %s, its tasks are %s", row.Reason, got)
	}
	if r := s.recoveries(sql.RecoveryError)[0]; r.Failures != 5 || !r.GiveUp || r.AnsweredBy != "m1:i1" {
		t.Errorf("the recovery is %+v", r)
	}
	events, err := s.store.Events(t.Context(), id, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	told := false
	for _, e := range events {
		told = told || e.Warning && e.Reason == dag.ReasonUnanswered && strings.Contains(e.Message, "w1")
	}
	if !told {
		t.Errorf("no event warns that nobody answered: %+v", events)
	}
}

// TestAnAttemptThatItsWorkerForgotIsSentAgain has a worker that says it runs an attempt and shows it never
// more. The clock of the look is a quarter of an hour ahead.
func TestAnAttemptThatItsWorkerForgotIsSentAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, addr, _ := s.master("m1", "i1")
	w := &worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 1}
	token := ""
	w.run = func(d *rpc.Dispatch) []*rpc.Report {
		token = d.GetAttempt().GetToken()
		return []*rpc.Report{report(d.GetAttempt(), dag.AttemptRunning)}
	}
	s.join(w, addr)
	id := s.start(s.save(retried))
	w.until(t, "the task runs", func() bool { return len(w.acks) == 1 })
	s.plant(`UPDATE task_attempt SET complete_by = 1 WHERE instance_id = ?`, id)
	if r := s.recoveries(sql.RecoveryDone)[0]; r.Result != "alive" {
		t.Errorf("an attempt that was just shown is %+v", r)
	}
	fence, err := s.store.BeginSupervision(t.Context(), "test", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	ask := sql.RecoveryRow{InstanceID: id, Attempt: 1, Step: "running", Failures: 1, CompleteBy: 1 << 50}
	if err := s.store.AskRecovery(t.Context(), fence, 2, []sql.RecoveryRow{ask}); err != nil {
		t.Fatal(err)
	}
	m.super.Attend(t.Context(), time.Now().Add(15*time.Minute))
	w.until(t, "the attempt is sent again", func() bool { return w.seen[token] == 2 })
}

func TestASupervisorThatDiesIsReplaced(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	holder := func(want string) {
		t.Helper()
		deadline := time.Now().Add(20 * time.Second)
		for {
			who, err := s.store.Supervisor(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if who.Holder == want && who.LookedAt >= who.Since {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the supervisor is %+v, want %s", who, want)
			}
			<-time.After(5 * time.Millisecond)
		}
	}
	_, _, stop := s.master("m1", "i1")
	holder("m1:i1")
	s.master("m2", "i2")
	stop()
	holder("m2:i2")
}
