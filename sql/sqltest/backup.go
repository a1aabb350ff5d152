package sqltest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

func quiet(string, int64) {}

// aBackupUnderLoad makes a backup while instances start and are committed, and restores it.
func aBackupUnderLoad(t *testing.T, b *bench) {
	before := b.take("m1:a")
	b.must(b.commit(b.step(before, 0, dag.TaskDispatched)))
	stop := make(chan struct{})
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				o := b.take("m1:a")
				for _, state := range []dag.TaskState{dag.TaskDispatched, dag.TaskSuccess} {
					if err := b.commit(b.step(o, 0, state)); err != nil {
						t.Errorf("commit under load: %v", err)
						return
					}
				}
			}
		})
	}
	file := filepath.Join(t.TempDir(), "backup")
	made, err := b.Backup(b.ctx, file, "test", quiet)
	close(stop)
	load.Wait()
	b.must(err)
	last, err := b.NextIDs(b.ctx, 1)
	b.must(err)

	to := b.open(t, t.Name()+" restored")
	got, err := to.Restore(b.ctx, file, quiet)
	b.must(err)
	if got.Cluster != made.Cluster || got.Rows() != made.Rows() || got.Rows() == 0 {
		t.Errorf("restored %+v, want %+v", got, made)
	}
	was, err := b.Cluster(b.ctx)
	b.must(err)
	is, err := to.Cluster(b.ctx)
	b.must(err)
	if is.ID != was.ID || is.Slots != was.Slots || was.Generation != 1 || is.Generation != 2 {
		t.Errorf("the cluster was %+v and is %+v, want the same in generation 2", was, is)
	}
	if id, err := to.NextIDs(b.ctx, 1); err != nil || id <= last {
		t.Errorf("the next id is %d, %v; %d was given before", id, err, last)
	}
	restoredIsWhole(t, b, to, made)
	row, err := to.Attempt(b.ctx, before.ID, 0, 1)
	b.must(err)
	if row.Token == before.Tasks[0].Attempt.Token || row.Worker != "w1" || row.State.Final() {
		t.Errorf("the attempt that was alive is %+v; want it alive, with a token that nobody has", row)
	}
	if err := to.Commit(b.ctx, []sql.Transition{b.step(before, 0, dag.TaskSuccess)})[0]; !errors.Is(err, sql.ErrNotOwner) {
		t.Errorf("a commit of the generation before: %v, want ErrNotOwner", err)
	}
	if _, err := to.Restore(b.ctx, file, quiet); !errors.Is(err, sql.ErrNotEmpty) {
		t.Errorf("restored into what is not empty: %v", err)
	}
	if _, err := b.Backup(b.ctx, file, "test", quiet); !errors.Is(err, os.ErrExist) {
		t.Errorf("backed up over a file: %v", err)
	}
}

// restoredIsWhole reads every instance as a master that takes it over would.
func restoredIsWhole(t *testing.T, b *bench, to *sql.Store, made sql.Backup) {
	t.Helper()
	taken, n := 0, int64(0)
	for _, table := range made.Tables {
		if table.Name == "workflow_instance" {
			n = table.Rows
		}
	}
	for {
		got, err := to.TakeOver(b.ctx, "m1:a", "m2:b", 100)
		b.must(err)
		for _, c := range got {
			if c.Err != nil {
				t.Errorf("instance %d: %v", c.Instance.ID, c.Err)
			}
			if c.Instance.OwnerEpoch < 1<<20 {
				t.Errorf("instance %d has epoch %d, which somebody may remember", c.Instance.ID, c.Instance.OwnerEpoch)
			}
			events, err := to.Events(b.ctx, c.Instance.ID, 0, 100)
			b.must(err)
			if int64(len(events)) != c.Instance.Seq {
				t.Errorf("instance %d has %d events and seq %d: half of a transaction", c.Instance.ID, len(events), c.Instance.Seq)
			}
		}
		if taken += len(got); len(got) < 100 {
			break
		}
	}
	waiting, _, err := to.Commands(b.ctx, nil, 1000, sql.CommandCursor{})
	b.must(err)
	if int64(taken+len(waiting)) != n {
		t.Errorf("%d instances have an owner and %d a command, want %d in all", taken, len(waiting), n)
	}
}

func aDamagedBackupIsRefused(t *testing.T, b *bench) {
	b.begin()
	file := filepath.Join(t.TempDir(), "backup")
	_, err := b.Backup(b.ctx, file, "test", quiet)
	b.must(err)
	to := b.open(t, t.Name()+" restored")
	text, err := os.ReadFile(file)
	b.must(err)
	for name, damage := range map[string][]byte{"cut": text[:len(text)/2], "empty": {}, "other": []byte("nothing of the kind, for sixteen bytes and more")} {
		bad := filepath.Join(t.TempDir(), name)
		b.must(os.WriteFile(bad, damage, 0o600))
		if _, err := to.Restore(b.ctx, bad, quiet); !errors.Is(err, sql.ErrDamagedBackup) {
			t.Errorf("%s: %v, want ErrDamagedBackup", name, err)
		}
	}
	if _, err := to.Restore(b.ctx, file, quiet); err != nil {
		t.Errorf("after the refusals: %v", err)
	}
}

// restoredSchedulesGoOn: a restored database's schedules fire on from the rows that it has: what had fired before the backup fires
// no more, what was planned fires once, and what follows is planned from where the plan ended.
func restoredSchedulesGoOn(t *testing.T, b *bench) {
	sch := b.hourly("hourly")
	b.planned(sch, 1000, 2000, 3000)
	b.fire(sch, 1000)
	file := filepath.Join(t.TempDir(), "backup")
	_, err := b.Backup(b.ctx, file, "test", quiet)
	b.must(err)
	b.fire(sch, 2000) // the old cluster went on for a while, which is lost
	store := b.open(t, t.Name()+" restored")
	_, err = store.Restore(b.ctx, file, quiet)
	b.must(err)
	to := *b
	to.Store = store
	again, err := to.ScheduleByID(b.ctx, sch.ID)
	b.must(err)
	before, err := b.ScheduleByID(b.ctx, sch.ID)
	b.must(err)
	if again.PlannedUntil != before.PlannedUntil || again.Revision != before.Revision || !again.Enabled {
		t.Fatalf("restored is %+v, want %+v", again, before)
	}
	next := again.PlannedUntil + 1000
	st := sql.Stretch{Schedule: again, Fires: []schedule.Fire{{At: next, Due: next}}, Until: next + 1}
	for _, want := range []int{1, 0} {
		if n, err := to.PlanFires(b.ctx, []sql.Stretch{st}); err != nil || n != want {
			t.Errorf("planned %d, %v; want %d", n, err, want)
		}
	}
	for _, want := range []int{3, 0} {
		if got := to.fire(again, 1000, 2000, 3000, next); len(got.Started) != want {
			t.Errorf("%d instances started, want %d: one for each fire that had none", len(got.Started), want)
		}
	}
	fires, err := to.FiresFrom(b.ctx, sch.ID, 0, next+1, 10)
	b.must(err)
	started := map[int64]bool{}
	for _, f := range fires {
		if f.State != schedule.Fired || f.Instance == 0 || started[f.Instance] {
			t.Errorf("the fire %+v has not an instance of its own", f)
		}
		started[f.Instance] = true
	}
	if times, err := to.Fireless(b.ctx, &again, 0, next+1, 10); err != nil || len(times) != 0 || len(fires) != 4 {
		t.Errorf("without a fire are instances of %v, %v; of %d fires", times, err, len(fires))
	}
}
