package sql

import (
	"path/filepath"
	"testing"
)

// TestASweepMendsWhatALineShouldNotHold breaks the rows of a line by hand, in every way that the sweep knows.
func TestASweepMendsWhatALineShouldNotHold(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := Open(ctx, Config{DSN: "sqlite:" + filepath.Join(t.TempDir(), "porpoise.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Migrate(ctx))
	p, err := s.CreateProject(ctx, Project{Name: "p"})
	must(err)
	w, _, _, err := s.SaveVersion(ctx, SaveVersion{ProjectID: p.ID, Name: "w", Text: "name: w\nconcurrency: {limit: 1}\n", Format: "yaml", Publish: true})
	must(err)
	var ids []int64
	for range 3 {
		id, _, err := s.Start(ctx, Start{WorkflowID: w.ID, ProjectID: p.ID, Version: 1})
		must(err)
		got, err := s.Claim(ctx, []Claim{{Command: Command{ID: id, InstanceID: id}, Owner: "m1:a"}})
		must(err)
		_, _, err = s.Enter(ctx, []Entry{{InstanceID: id, Owner: "m1:a", Epoch: got[0].Instance.OwnerEpoch, WorkflowID: w.ID, First: true}})
		must(err)
		ids = append(ids, id)
	}
	commands := func() []int64 {
		t.Helper()
		list, _, err := s.Commands(ctx, nil, 10, CommandCursor{})
		must(err)
		var of []int64
		for _, c := range list {
			of = append(of, c.InstanceID)
		}
		return of
	}
	for _, c := range []struct {
		name, text string
		instance   int64
		wakes      int64
	}{
		{"a place of an instance that has ended", `UPDATE workflow_instance SET state = 'success', owner = '' WHERE id = ?`, ids[0], ids[1]},
		{"an instance that was not told", `UPDATE workflow_instance SET state = 'serial_wait', owner = '' WHERE id = ?`, ids[1], ids[1]},
		{"a place of an instance that is gone", `DELETE FROM workflow_instance WHERE id = ?`, ids[1], ids[2]},
		{"a free place", `UPDATE workflow_place SET state = 'waiting' WHERE instance_id = ?`, ids[2], ids[2]},
	} {
		_, err := s.db.ExecContext(ctx, `DELETE FROM command`)
		must(err)
		_, err = s.db.ExecContext(ctx, c.text, c.instance)
		must(err)
		if n, err := s.SweepPlaces(ctx); n == 0 || err != nil {
			t.Errorf("%s: it mends %d, %v", c.name, n, err)
		}
		if got := commands(); len(got) != 1 || got[0] != c.wakes {
			t.Errorf("%s: it wakes %v, want %d", c.name, got, c.wakes)
		}
		if n, err := s.SweepPlaces(ctx); n != 0 || err != nil {
			t.Errorf("%s: once more it mends %d, %v", c.name, n, err)
		}
	}
}
