package main

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/interval"
	"github.com/porpoise/porpoise/sql"
)

// faultyStore is the database as one process reaches it: a call may not get there, or be done
// without an answer. Whoever calls hears the same of both.
type faultyStore struct {
	*sql.Store
	db   *database
	host *host
}

// refusal is how likely a class of faults hits one call, by the mean time of its options.
func (w *world) refusal(class string) float64 {
	mean := w.opt.Faults[class]
	if mean == 0 || w.healing {
		return 0
	}
	return 0.3 / mean.Seconds()
}

// call says whether a call reaches the database, and whether its answer comes back.
func (f *faultyStore) call(name string) (reaches, answered bool) {
	w := f.db.w
	switch {
	case w.now < f.db.down, w.net.cut(f.host.name, "db"):
		return false, false
	case w.chance(w.refusal("database_refuses")):
		w.fault("database_refuses")
		w.note("%s of %s is refused", name, f.host.name)
		return false, false
	case w.chance(w.refusal("database_forgets")):
		w.fault("database_forgets")
		w.note("%s of %s is not answered", name, f.host.name)
		return true, false
	}
	return true, true
}

// latency is how long the database takes for a write.
func (f *faultyStore) latency() time.Duration {
	w := f.db.w
	if w.now < f.db.slow {
		return w.between(50*time.Millisecond, 800*time.Millisecond)
	}
	return w.between(200*time.Microsecond, 3*time.Millisecond)
}

var errAway = fmt.Errorf("%w: of the simulator", sql.ErrUnavailable)

// faulty does a call as the faults have it.
func faulty[T any](f *faultyStore, name string, do func() (T, error)) (T, error) {
	reaches, answered := f.call(name)
	var none, got T
	var err error
	if reaches {
		got, err = do()
	}
	if !answered {
		return none, errAway
	}
	return got, err
}

// Commit implements engine.Store.
func (f *faultyStore) Commit(ctx context.Context, transitions []sql.Transition) []error {
	reaches, answered := f.call("commit")
	var errs []error
	if reaches {
		errs = f.Store.Commit(ctx, transitions)
		f.db.w.count.Commits += len(transitions)
	}
	if answered {
		return errs
	}
	errs = make([]error, len(transitions))
	for i := range errs {
		errs[i] = errAway
	}
	return errs
}

// Controls implements engine.Store.
func (f *faultyStore) Controls(ctx context.Context, instances ...int64) ([]sql.ControlRow, error) {
	return faulty(f, "controls", func() ([]sql.ControlRow, error) { return f.Store.Controls(ctx, instances...) })
}

// ControlsOf implements engine.Store.
func (f *faultyStore) ControlsOf(ctx context.Context, owner string) ([]sql.ControlRow, error) {
	return faulty(f, "controls", func() ([]sql.ControlRow, error) { return f.Store.ControlsOf(ctx, owner) })
}

// Quarantine implements engine.Store.
func (f *faultyStore) Quarantine(ctx context.Context, instance, epoch int64, reason dag.Reason, message string) error {
	_, err := faulty(f, "quarantine", func() (struct{}, error) {
		return struct{}{}, f.Store.Quarantine(ctx, instance, epoch, reason, message)
	})
	return err
}

// Enter implements engine.Store.
func (f *faultyStore) Enter(ctx context.Context, entries []sql.Entry) (answers []sql.Admission, woke bool, err error) {
	answers, err = faulty(f, "enter", func() (got []sql.Admission, err error) {
		got, woke, err = f.Store.Enter(ctx, entries)
		return got, err
	})
	return answers, woke, err
}

// EnterGroups implements engine.Store.
func (f *faultyStore) EnterGroups(ctx context.Context, now dag.Millis, entries []sql.TaskEntry) (sql.Entered, error) {
	return faulty(f, "enter groups", func() (sql.Entered, error) {
		entered, err := f.Store.EnterGroups(ctx, now, entries)
		for _, a := range entered.Answers {
			if a == sql.Waits {
				f.db.w.count.Queued++
			}
		}
		return entered, err
	})
}

// PaceGroups implements engine.Store.
func (f *faultyStore) PaceGroups(ctx context.Context, now dag.Millis, groups []int64) (map[int64]dag.Millis, error) {
	return faulty(f, "pace groups", func() (map[int64]dag.Millis, error) { return f.Store.PaceGroups(ctx, now, groups) })
}

// Given implements engine.Store.
func (f *faultyStore) Given(ctx context.Context, owner string) ([]sql.TaskPlace, error) {
	return faulty(f, "given", func() ([]sql.TaskPlace, error) { return f.Store.Given(ctx, owner) })
}

// SweepPlaces implements master.Sweeper.
func (f *faultyStore) SweepPlaces(ctx context.Context) (int, error) {
	return faulty(f, "sweep places", func() (int, error) { return f.Store.SweepPlaces(ctx) })
}

// Instance implements engine.Store.
func (f *faultyStore) Instance(ctx context.Context, id int64) (sql.InstanceRow, error) {
	return faulty(f, "instance", func() (sql.InstanceRow, error) { return f.Store.Instance(ctx, id) })
}

// Commands implements intake.Store.
func (f *faultyStore) Commands(ctx context.Context, owned []bool, limit int, after sql.CommandCursor) ([]sql.Command, sql.CommandCursor, error) {
	reaches, answered := f.call("commands")
	if !reaches || !answered {
		return nil, sql.CommandCursor{}, errAway
	}
	return f.Store.Commands(ctx, owned, limit, after)
}

// Claim implements intake.Store.
func (f *faultyStore) Claim(ctx context.Context, claims []sql.Claim) ([]sql.Claimed, error) {
	return faulty(f, "claim", func() ([]sql.Claimed, error) { return f.Store.Claim(ctx, claims) })
}

// Load implements intake.Store and failover.Store.
func (f *faultyStore) Load(ctx context.Context, owner string, ids []int64) ([]sql.Claimed, error) {
	return faulty(f, "load", func() ([]sql.Claimed, error) { return f.Store.Load(ctx, owner, ids) })
}

// Owners implements failover.Store.
func (f *faultyStore) Owners(ctx context.Context) ([]sql.OwnerCount, error) {
	return faulty(f, "owners", func() ([]sql.OwnerCount, error) { return f.Store.Owners(ctx) })
}

// TakeOver implements failover.Store.
func (f *faultyStore) TakeOver(ctx context.Context, from, to string, limit int) ([]sql.Claimed, error) {
	return faulty(f, "takeover", func() ([]sql.Claimed, error) { return f.Store.TakeOver(ctx, from, to, limit) })
}

// Owned implements failover.Store.
func (f *faultyStore) Owned(ctx context.Context, owner string, after int64, limit int) ([]int64, error) {
	return faulty(f, "owned", func() ([]int64, error) { return f.Store.Owned(ctx, owner, after, limit) })
}

// Lend implements intake.Store.
func (f *faultyStore) Lend(ctx context.Context, ids []int64) error {
	_, err := faulty(f, "lend", func() (struct{}, error) { return struct{}{}, f.Store.Lend(ctx, ids) })
	return err
}

// Retake implements engine.Store.
func (f *faultyStore) Retake(ctx context.Context, owner string, ids []int64) ([]sql.Claimed, error) {
	return faulty(f, "retake", func() ([]sql.Claimed, error) { return f.Store.Retake(ctx, owner, ids) })
}

// Standings implements engine.Store.
func (f *faultyStore) Standings(ctx context.Context, owner string, after int64, limit int) ([]sql.Standing, error) {
	return faulty(f, "standings", func() ([]sql.Standing, error) { return f.Store.Standings(ctx, owner, after, limit) })
}

// HandOver implements failover.Store.
func (f *faultyStore) HandOver(ctx context.Context, from, to string, ids []int64) (int, error) {
	return faulty(f, "handover", func() (int, error) { return f.Store.HandOver(ctx, from, to, ids) })
}

// SaveFailover implements failover.Store.
func (f *faultyStore) SaveFailover(ctx context.Context, row sql.FailoverRow) (sql.FailoverRow, error) {
	return faulty(f, "account", func() (sql.FailoverRow, error) { return f.Store.SaveFailover(ctx, row) })
}

// BeginSupervision implements supervise.Store.
func (f *faultyStore) BeginSupervision(ctx context.Context, holder string, at dag.Millis, everyMS int64) (int64, error) {
	return faulty(f, "begin supervision", func() (int64, error) { return f.Store.BeginSupervision(ctx, holder, at, everyMS) })
}

// AskRecovery implements supervise.Store.
func (f *faultyStore) AskRecovery(ctx context.Context, fence int64, now dag.Millis, asks []sql.RecoveryRow) error {
	_, err := faulty(f, "ask recovery", func() (struct{}, error) { return struct{}{}, f.Store.AskRecovery(ctx, fence, now, asks) })
	f.db.w.count.Asked += len(asks)
	return err
}

// RecoveriesOf implements supervise.Store.
func (f *faultyStore) RecoveriesOf(ctx context.Context, owner string) ([]sql.RecoveryRow, error) {
	return faulty(f, "recoveries", func() ([]sql.RecoveryRow, error) { return f.Store.RecoveriesOf(ctx, owner) })
}

// AnswerRecovery implements supervise.Store.
func (f *faultyStore) AnswerRecovery(ctx context.Context, owner string, r sql.RecoveryRow) error {
	_, err := faulty(f, "answer recovery", func() (struct{}, error) { return struct{}{}, f.Store.AnswerRecovery(ctx, owner, r) })
	return err
}

// NextLayout implements slot.History.
func (f *faultyStore) NextLayout(ctx context.Context, atLeast int64) (int64, error) {
	return faulty(f, "floor", func() (int64, error) { return f.Store.NextLayout(ctx, atLeast) })
}

// PlanEnds implements schedule.Store.
func (f *faultyStore) PlanEnds(ctx context.Context, limit int, owns func(id int64) bool) (fires []sql.Verdict, more bool, err error) {
	fires, err = faulty(f, "plan ends", func() (got []sql.Verdict, err error) {
		got, more, err = f.Store.PlanEnds(ctx, limit, owns)
		return got, err
	})
	return fires, more, err
}

// Children implements engine.Store.
func (f *faultyStore) Children(ctx context.Context, ids []int64) ([]sql.ChildRow, error) {
	return faulty(f, "children", func() ([]sql.ChildRow, error) { return f.Store.Children(ctx, ids) })
}

// NextIDs implements engine.Store.
func (f *faultyStore) NextIDs(ctx context.Context, n int) (int64, error) {
	return faulty(f, "ids", func() (int64, error) { return f.Store.NextIDs(ctx, n) })
}

// Version implements engine.Definitions.
func (f *faultyStore) Version(ctx context.Context, workflowID int64, n int) (sql.Version, error) {
	return faulty(f, "version", func() (sql.Version, error) { return f.Store.Version(ctx, workflowID, n) })
}

// Dependency implements engine.Runs.
func (f *faultyStore) Dependency(ctx context.Context, item interval.Item, by sql.Asker) (facts interval.Facts, workflow int64, err error) {
	facts, err = faulty(f, "dependency", func() (got interval.Facts, err error) {
		got, workflow, err = f.Store.Dependency(ctx, item, by)
		return got, err
	})
	return facts, workflow, err
}

// PlanFires implements schedule.Store.
func (f *faultyStore) PlanFires(ctx context.Context, stretches []sql.Stretch) (int, error) {
	return faulty(f, "plan", func() (int, error) { return f.Store.PlanFires(ctx, stretches) })
}

// DueFires implements schedule.Store.
func (f *faultyStore) DueFires(ctx context.Context, from, until dag.Millis, limit int) ([]sql.DueFire, error) {
	return faulty(f, "due", func() ([]sql.DueFire, error) { return f.Store.DueFires(ctx, from, until, limit) })
}

// OverdueFires implements schedule.Store.
func (f *faultyStore) OverdueFires(ctx context.Context, now dag.Millis, limit int, owns func(int64, dag.Millis) bool) (late, waiting []sql.DueFire, err error) {
	late, err = faulty(f, "overdue", func() (late []sql.DueFire, err error) {
		late, waiting, err = f.Store.OverdueFires(ctx, now, limit, owns)
		return late, err
	})
	return late, waiting, err
}

// SettleFires implements schedule.Store.
func (f *faultyStore) SettleFires(ctx context.Context, verdicts []sql.Verdict, master string, epoch int64) (sql.Settlement, error) {
	return faulty(f, "settle", func() (sql.Settlement, error) { return f.Store.SettleFires(ctx, verdicts, master, epoch) })
}

// Clock implements schedule.Store. The database's host has a clock of its own, which is right.
func (f *faultyStore) Clock(context.Context) (dag.Millis, error) {
	return faulty(f, "clock", func() (dag.Millis, error) { return dag.MillisOf(epoch.Add(f.db.w.now)), nil })
}

// Ping implements master.Pinger.
func (f *faultyStore) Ping(context.Context) error {
	if reaches, answered := f.call("ping"); !reaches || !answered {
		return errAway
	}
	return nil
}
