package sqltest

import (
	"errors"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// never is later than every moment of the suite.
const never = dag.Millis(1) << 50

func (b *bench) overdue(now dag.Millis) []sql.OverdueStep {
	b.t.Helper()
	steps, err := b.Overdue(b.ctx, now, 100)
	b.must(err)
	return steps
}

// ask is one look of the supervisor.
func (b *bench) ask(fence int64, now dag.Millis, asks ...sql.RecoveryRow) {
	b.t.Helper()
	b.must(b.AskRecovery(b.ctx, fence, now, asks))
}

func attemptsHaveATimeToCompleteBy(t *testing.T, b *bench) {
	o := b.take("m1:a")
	dispatched := b.step(o, 0, dag.TaskDispatched)
	b.must(b.commit(dispatched))
	by := dispatched.At.Add(sql.DispatchWithin)
	if got := b.overdue(by - 1); len(got) != 0 {
		t.Errorf("before its time is past: %+v", got)
	}
	got := b.overdue(by)
	if len(got) != 1 || got[0] != (sql.OverdueStep{InstanceID: o.ID, Attempt: 1, State: dag.AttemptDispatched, CompleteBy: by}) {
		t.Fatalf("when it is past: %+v", got)
	}
	running := b.step(o, 0, dag.TaskRunning)
	a := o.Tasks[0].Attempt
	a.State, a.StartedAt, a.Deadline = dag.AttemptRunning, 8, 100
	running.Effects.Attempts = []dag.Attempt{a}
	b.must(b.commit(running))
	by = dag.Millis(100).Add(sql.KillWithin)
	if got := b.overdue(by); len(got) != 1 || got[0].State != dag.AttemptRunning || got[0].CompleteBy != by {
		t.Errorf("running with a timeout at 100: %+v, want it complete by %d", got, by)
	}
	b.must(b.ExtendAttempts(b.ctx, "m2:b", 50, []sql.AttemptKey{{InstanceID: o.ID, Attempt: 1}}))
	b.must(b.ExtendAttempts(b.ctx, "m1:a", 50, []sql.AttemptKey{{InstanceID: o.ID, Attempt: 1}, {InstanceID: 1 << 40, Attempt: 1}}))
	if got := b.overdue(never); len(got) != 1 || got[0].CompleteBy != by {
		t.Errorf("extended it is complete by %+v, want %d: no longer than its timeout needs", got, by)
	}
	o.Tasks[0].Attempt = a
	b.must(b.commit(b.step(o, 0, dag.TaskSuccess)))
	if got := b.overdue(never); len(got) != 0 {
		t.Errorf("over, it is overdue: %+v", got)
	}
}

func runningAttemptsGetMoreTime(t *testing.T, b *bench) {
	o := b.take("m1:a")
	b.must(b.commit(b.step(o, 0, dag.TaskDispatched)))
	running := b.step(o, 0, dag.TaskRunning)
	a := o.Tasks[0].Attempt
	a.State, a.StartedAt = dag.AttemptRunning, 8
	running.Effects.Attempts = []dag.Attempt{a}
	b.must(b.commit(running))
	key := []sql.AttemptKey{{InstanceID: o.ID, Attempt: 1}}
	b.must(b.ExtendAttempts(b.ctx, "m2:b", 1_000, key))
	if got := b.overdue(never); len(got) != 1 || got[0].CompleteBy != running.At.Add(sql.RunWithin) {
		t.Errorf("extended by a stranger: %+v", got)
	}
	b.must(b.ExtendAttempts(b.ctx, "m1:a", 1_000, key))
	if got := b.overdue(never); len(got) != 1 || got[0].CompleteBy != dag.Millis(1_000).Add(sql.RunWithin) {
		t.Errorf("extended by its owner: %+v", got)
	}
}

func onlyOneSupervises(t *testing.T, b *bench) {
	o := b.take("m1:a")
	b.must(b.commit(b.step(o, 0, dag.TaskDispatched)))
	first, err := b.BeginSupervision(b.ctx, "m1:a", 10, 5_000)
	b.must(err)
	ask := sql.RecoveryRow{InstanceID: o.ID, Attempt: 1, Step: "dispatched", Failures: 1, CompleteBy: 90_000}
	second, err := b.BeginSupervision(b.ctx, "m2:b", 20, 5_000)
	b.must(err)
	if second <= first {
		t.Errorf("the fence went from %d to %d", first, second)
	}
	if err := b.AskRecovery(b.ctx, first, 30, []sql.RecoveryRow{ask}); !errors.Is(err, sql.ErrStale) {
		t.Errorf("the first supervisor asks: %v, want ErrStale", err)
	}
	rows, _, err := b.Recoveries(b.ctx, "", sql.Page{})
	b.must(err)
	if len(rows) != 0 {
		t.Errorf("it wrote %+v", rows)
	}
	b.ask(second, 40_000, ask)
	who, err := b.Supervisor(b.ctx)
	b.must(err)
	if want := (sql.SupervisorRow{Fence: second, Holder: "m2:b", Since: 20, LookedAt: 40_000, EveryMS: 5_000}); who != want {
		t.Errorf("the supervisor is %+v, want %+v", who, want)
	}
}

func recoveriesAreAnsweredByTheOwner(t *testing.T, b *bench) {
	o := b.take("m1:a")
	b.must(b.commit(b.step(o, 0, dag.TaskDispatched)))
	fence, err := b.BeginSupervision(b.ctx, "m9:z", 10, 5_000)
	b.must(err)
	ask := sql.RecoveryRow{InstanceID: o.ID, Attempt: 1, Step: "dispatched", Failures: 1, CompleteBy: 90_000}
	b.ask(fence, 40_000, ask)
	if got := b.overdue(60_000); len(got) != 0 {
		t.Errorf("asked for it is overdue: %+v", got)
	}
	if got := b.overdue(90_000); len(got) != 1 || got[0].Failures != 1 || got[0].Recovery != sql.RecoveryAsked {
		t.Errorf("past the request's time: %+v", got)
	}
	// The owner dies; what is asked waits for its successor.
	_, err = b.TakeOver(b.ctx, "m1:a", "m2:b", 10)
	b.must(err)
	mine, err := b.RecoveriesOf(b.ctx, "m1:a")
	b.must(err)
	asked, err := b.RecoveriesOf(b.ctx, "m2:b")
	b.must(err)
	if len(mine) != 0 || len(asked) != 1 || asked[0].InstanceID != o.ID || asked[0].FirstAt != 40_000 {
		t.Fatalf("the dead one reads %+v, its successor %+v", mine, asked)
	}
	answer := asked[0]
	answer.State, answer.Result, answer.AnsweredAt = sql.RecoveryApplied, "sent_again", 41_000
	b.must(b.AnswerRecovery(b.ctx, "m1:a", answer))
	if again, err := b.RecoveriesOf(b.ctx, "m2:b"); err != nil || len(again) != 1 {
		t.Errorf("answered by the dead owner it is %+v, %v", again, err)
	}
	b.must(b.AnswerRecovery(b.ctx, "m2:b", answer))
	if got := b.overdue(never); len(got) != 1 || got[0].CompleteBy != 90_000 || got[0].Recovery != sql.RecoveryApplied {
		t.Errorf("answered, the attempt is %+v; want its time to be the request's", got)
	}
	ask.Failures = 2
	b.ask(fence, 95_000, ask)
	rows, _, err := b.Recoveries(b.ctx, sql.RecoveryAsked, sql.Page{})
	b.must(err)
	if len(rows) != 1 || rows[0].ID != answer.ID || rows[0].Failures != 2 || rows[0].FirstAt != 40_000 || rows[0].AskedAt != 95_000 || rows[0].Result != "" {
		t.Errorf("asked again: %+v", rows)
	}
	o.epoch++
	b.must(b.commit(b.step(o, 0, dag.TaskSuccess)))
	b.ask(fence, 96_000)
	rows, _, err = b.Recoveries(b.ctx, sql.RecoveryDone, sql.Page{})
	b.must(err)
	if len(rows) != 1 || rows[0].ID != answer.ID {
		t.Errorf("after the attempt has moved on: %+v", rows)
	}
}

func instancesWithoutOwnerGetACommand(t *testing.T, b *bench) {
	o, waiting, owned := b.take("m1:a"), b.begin(), b.take("m1:a")
	b.must(b.commit(b.step(owned, 0, dag.TaskDispatched)))
	release := b.step(o, 0, dag.TaskReady)
	release.Release = true
	b.must(b.commit(release)) // it runs, and nobody has it
	later := dag.MillisOf(time.Now().Add(time.Hour))
	walk := func(window int) (found []int64) {
		t.Helper()
		var at sql.OrphanCursor
		for range 100 {
			orphans, next, err := b.Orphans(b.ctx, later, at, window)
			b.must(err)
			for _, orphan := range orphans {
				found = append(found, orphan.InstanceID)
			}
			if at = next; at == (sql.OrphanCursor{}) {
				return found
			}
		}
		t.Fatal("the walk has no end")
		return nil
	}
	for _, window := range []int{1, 100} {
		if got := walk(window); len(got) != 1 || got[0] != o.ID {
			t.Errorf("without owner, in windows of %d, are %v, want only %d", window, got, o.ID)
		}
	}
	fence, err := b.BeginSupervision(b.ctx, "m9:z", 10, 5_000)
	b.must(err)
	start := func(id int64) sql.RecoveryRow {
		return sql.RecoveryRow{InstanceID: id, Task: -1, Step: sql.StepStart, Failures: 1, CompleteBy: 90_000}
	}
	before := len(b.commands())
	b.ask(fence, 40_000, start(o.ID), start(waiting), start(owned.ID))
	if got := len(b.commands()); got != before+1 {
		t.Errorf("%d commands more, want one: the others have an owner or a command", got-before)
	}
	if got := walk(100); len(got) != 0 {
		t.Errorf("with a command it is still without: %v", got)
	}
	for _, c := range b.claim("m2:b") {
		if c.Instance.ID == o.ID && (c.Instance.Owner != "m2:b" || c.Instance.OwnerEpoch != 2) {
			t.Errorf("claimed: %+v", c.Instance)
		}
	}
	b.ask(fence, 41_000)
	rows, _, err := b.Recoveries(b.ctx, "", sql.Page{})
	b.must(err)
	if len(rows) != 1 || rows[0].State != sql.RecoveryDone || rows[0].InstanceID != o.ID {
		t.Errorf("the recovery of one that has an owner is %+v", rows)
	}
}

func unclaimedCommandsAreLent(t *testing.T, b *bench) {
	old := b.begin()
	commands := b.commands()
	now := dag.MillisOf(time.Now())
	got, next, err := b.Unclaimed(b.ctx, now.Add(time.Hour), 0, 10, 10)
	b.must(err)
	if len(got) != 1 || got[0].InstanceID != old || next != 0 {
		t.Fatalf("unclaimed are %+v, then %d", got, next)
	}
	if young, _, err := b.Unclaimed(b.ctx, 1, 0, 10, 10); err != nil || len(young) != 0 {
		t.Errorf("unclaimed before they were made: %+v, %v", young, err)
	}
	fence, err := b.BeginSupervision(b.ctx, "m9:z", 10, 5_000)
	b.must(err)
	b.ask(fence, 40_000, sql.RecoveryRow{InstanceID: old, Task: -1, Attempt: int(commands[0].ID), Step: sql.StepCommand, Failures: 1, CompleteBy: 90_000})
	lent, _, err := b.Commands(b.ctx, make([]bool, 256), 10, sql.CommandCursor{})
	b.must(err)
	if len(lent) != 1 || lent[0].InstanceID != old {
		t.Errorf("a master without slots may take %+v", lent)
	}
	b.claim("m1:a")
	b.ask(fence, 41_000)
	rows, _, err := b.Recoveries(b.ctx, sql.RecoveryDone, sql.Page{})
	b.must(err)
	if len(rows) != 1 || rows[0].Step != sql.StepCommand {
		t.Errorf("the recovery of one that was claimed is %+v", rows)
	}
}
