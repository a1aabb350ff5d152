package site

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// TestEveryFireSurvivesItsMaster has schedules that fire each second, kills one master after the other in the middle,
// and wants every second of each schedule to have started one instance.
func TestEveryFireSurvivesItsMaster(t *testing.T) {
	t.Parallel()
	const schedules = 5
	ctx := deadline(t)
	s, err := Cluster(ctx, Options{Binary: binary, Database: cmp.Or(os.Getenv("PORPOISE_TEST_MYSQL"), SQLite), LogLevel: "info"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	save(ctx, t, s.Client, "tick", "name: tick\ntasks:\n  - name: only\n    type: noop\n")
	store, err := sql.Open(ctx, sql.Config{DSN: s.DSN})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	project, err := store.Project(ctx, "p")
	if err != nil {
		t.Fatal(err)
	}
	workflow, err := store.Workflow(ctx, project.ID, "tick")
	if err != nil {
		t.Fatal(err)
	}
	var ids []sql.Schedule
	for i := range schedules {
		made, _, err := store.SaveSchedule(ctx, sql.Schedule{
			WorkflowID: workflow.ID, Name: fmt.Sprint("s", i), Enabled: true, ChangedBy: "ann", Spec: schedule.Spec{Cron: "* * * * * *"},
		}, 0)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, made)
	}
	awaitFires(ctx, t, s, store, ids[0], 3)
	for _, name := range []string{"master-1", "master-2"} {
		master := s.Part(name)
		if master == nil {
			t.Fatalf("there is no %s among %d parts", name, len(s.Parts))
		}
		before := fired(ctx, t, store, ids[0])
		master.Kill()
		awaitFires(ctx, t, s, store, ids[0], before+8) // the other has taken its slots
		if err := s.Restart(ctx, master); err != nil {
			t.Fatal(err)
		}
	}
	awaitMasters(ctx, t, s, 2) // the last one comes in once its former self has gone from the registry
	until := dag.MillisOf(time.Now())
	for _, sch := range ids {
		err := s.Until(ctx, sch.Name+" has fired up to now", func() error {
			sums, err := store.SumFires(ctx, sch.ID, 0, until)
			if err == nil && sums.Open() > 0 {
				err = fmt.Errorf("%d are open", sums.Open())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		checkSeconds(ctx, t, store, sch, until)
	}
}

// fired counts the fires of a schedule that have started an instance.
func fired(ctx context.Context, t *testing.T, store *sql.Store, sch sql.Schedule) int64 {
	t.Helper()
	sums, err := store.SumFires(ctx, sch.ID, 0, math.MaxInt64/2)
	if err != nil {
		t.Fatal(err)
	}
	return sums.States[schedule.Fired]
}

func awaitFires(ctx context.Context, t *testing.T, s *Site, store *sql.Store, sch sql.Schedule, n int64) {
	t.Helper()
	err := s.Until(ctx, fmt.Sprintf("%d fires", n), func() error {
		if got := fired(ctx, t, store, sch); got < n {
			return fmt.Errorf("there are %d", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkSeconds wants each second since a schedule was made, until a moment, to have fired.
func checkSeconds(ctx context.Context, t *testing.T, store *sql.Store, sch sql.Schedule, until dag.Millis) {
	t.Helper()
	want := (sch.CreatedAt + 999) / 1000 * 1000
	instances, worst := map[int64]bool{}, time.Duration(0)
	for cursor := ""; ; {
		list, next, err := store.Fires(ctx, sch.ID, 0, until, "", sql.Page{Cursor: cursor, Limit: 200})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			if f.At != want || f.State != schedule.Fired || instances[f.Instance] {
				t.Fatalf("%s: a fire of %d is %s (%s) with instance %d, want one of %d that fired alone", sch.Name, f.At, f.State, f.Reason, f.Instance, want)
			}
			instances[f.Instance] = true
			want += 1000
			worst = max(worst, f.FiredAt.Sub(f.Due))
		}
		if cursor = next; next == "" {
			break
		}
	}
	if want < until {
		t.Errorf("%s has no fire of %d", sch.Name, want)
	}
	t.Logf("%s: %d fires, the latest %s late", sch.Name, len(instances), worst)
}
