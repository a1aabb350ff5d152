package sql

import (
	"context"
	"strings"
	"sync"
	"testing"
)

// TestAnInstanceThatMovesOnWhileItIsReadIsLeftOut has the owner write between two of the
// reads: the rows would contradict each other.
func TestAnInstanceThatMovesOnWhileItIsReadIsLeftOut(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, s := range emptyStores(t) {
		p, err := s.CreateProject(ctx, Project{Name: "p"})
		if err != nil {
			t.Fatal(err)
		}
		w, v, _, err := s.SaveVersion(ctx, SaveVersion{ProjectID: p.ID, Name: "w", Text: "name: w\ntasks: [{name: a, type: noop}]\n", Format: "yaml", Publish: true})
		if err != nil {
			t.Fatal(err)
		}
		id, _, err := s.Start(ctx, Start{WorkflowID: w.ID, ProjectID: p.ID, Version: v.Version})
		if err != nil {
			t.Fatal(err)
		}
		claimed, err := s.Claim(ctx, []Claim{{Command: Command{ID: id, InstanceID: id}, Owner: "m:1"}})
		if err != nil || len(claimed) != 1 {
			t.Fatalf("%s: claimed %d, %v", name, len(claimed), err)
		}
		var once sync.Once
		s.trace = func(query string, _ []any) {
			if !strings.Contains(query, "FROM control") {
				return
			}
			once.Do(func() {
				_, err = s.db.ExecContext(context.WithoutCancel(ctx), `UPDATE workflow_instance SET write_id = write_id + 1 WHERE id = ?`, id)
			})
		}
		got, lerr := s.Load(ctx, "m:1", []int64{id})
		if err != nil || lerr != nil || len(got) != 0 {
			t.Errorf("%s: loaded %d, %v, %v; want none of what was written meanwhile", name, len(got), err, lerr)
		}
		if got, err = s.Load(ctx, "m:1", []int64{id}); err != nil || len(got) != 1 {
			t.Errorf("%s: loaded %d, %v; want the one that stands still", name, len(got), err)
		}
	}
}
