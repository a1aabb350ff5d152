package sql

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

// However many others are late or wait, and however long they have, what is late of this master is found.
func TestWhatIsLateIsFoundBehindWhatOthersHave(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{DSN: "sqlite:" + filepath.Join(t.TempDir(), "porpoise.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	exec := func(text string, args ...any) {
		t.Helper()
		err := s.write(t.Context(), func(tx *sqlTx) error {
			_, err := tx.ExecContext(t.Context(), text, args...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	fire := func(id, at int64, state string) {
		exec(`INSERT INTO fire (source_id, planned_at, due_at, bucket, revision, open, state, reason, instance_id, fired_at, master, epoch) VALUES (?, ?, ?, 0, 1, 1, ?, '', 0, 0, '', 0)`, id, at, at, state)
	}
	for id := int64(1); id <= 12; id++ {
		exec(`INSERT INTO schedule (id, project_id, workflow_id, name, name_key, spec, revision, enabled, why, planned_until, after_workflow, created_by, created_at, changed_by, changed_at)
			VALUES (?, 1, 1, ?, ?, '{}', 1, 1, '', 1000000, 0, '', 0, '', 0)`, id, fmt.Sprint(id), fmt.Sprint(id))
		fire(id, 100-id, "waiting")
		fire(id, 200-id, "waiting")
		fire(id, 1000-id, "planned")
		fire(id, 2000-id, "planned")
	}
	var plans []string
	s.trace = func(query string, args []any) { plans = append(plans, queryPlan(t, s, query, args)...) }
	if _, _, err := s.OverdueFires(t.Context(), 5000, 3, func(int64, dag.Millis) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(plans, "; "); !strings.Contains(got, "fire_due") {
		t.Errorf("plan %q, want a walk along fire_due: the ledger may be long", got)
	}
	s.trace = nil
	// Of the slot of three, from the farthest behind on.
	owns := func(id int64, due dag.Millis) bool { return id%3 == 0 && due == dag.Millis(1000-id) }
	for page := 3; page <= 50; page++ {
		late, waiting, err := s.overdueFires(t.Context(), 5000, 3, page, owns)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, f := range late {
			got = append(got, f.Source)
			if f.Late != 2 {
				t.Errorf("page %d: schedule %d has %d late fires, want 2", page, f.Source, f.Late)
			}
		}
		if fmt.Sprint(got) != "[12 9 6]" || len(waiting) != 24 || waiting[0].At != 88 || waiting[23].At != 199 {
			t.Errorf("page %d: late %v, and %d wait; want 12, 9 and 6, and 24", page, got, len(waiting))
		}
	}
}
