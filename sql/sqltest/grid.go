package sqltest

import (
	"slices"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

func cellsAreTheTasksOfOneInstance(t *testing.T, b *bench) {
	one, other := b.take("m1:a"), b.take("m1:a")
	for _, state := range []dag.TaskState{dag.TaskDispatched, dag.TaskSuccess} {
		b.must(b.commit(b.step(one, 0, state)))
	}
	b.must(b.commit(b.step(one, 1, dag.TaskDispatched)))
	b.must(b.commit(b.step(other, 1, dag.TaskReady)))
	for id, want := range map[int64][]sql.Cell{
		one.ID:   {{Name: "extract", State: dag.TaskSuccess, Attempts: 1, FinishedAt: 9}, {Name: "load", State: dag.TaskDispatched, Attempts: 1}},
		other.ID: {{Name: "load", State: dag.TaskReady}},
		1 << 40:  nil,
	} {
		cells, err := b.Cells(b.ctx, id)
		b.must(err)
		if !slices.Equal(cells, want) {
			t.Errorf("cells of %d = %+v, want %+v", id, cells, want)
		}
	}
}

func oneTaskOfManyInstancesIsRead(t *testing.T, b *bench) {
	one, other := b.take("m1:a"), b.take("m1:a")
	b.must(b.commit(b.step(one, 1, dag.TaskDispatched)))
	b.must(b.commit(b.step(one, 0, dag.TaskReady)))
	b.must(b.commit(b.step(other, 1, dag.TaskReady)))
	got, err := b.TasksAt(b.ctx, 1, []int64{one.ID, other.ID, 1 << 40})
	b.must(err)
	if len(got) != 2 || got[one.ID].State != dag.TaskDispatched || got[one.ID].Attempts != 1 || got[other.ID].State != dag.TaskReady {
		t.Errorf("task 1 = %+v", got)
	}
	for id, row := range got {
		if row.InstanceID != id || row.Index != 1 || row.Name != "load" {
			t.Errorf("under %d stands %+v", id, row)
		}
	}
	if none, err := b.TasksAt(b.ctx, 1, nil); err != nil || len(none) != 0 {
		t.Errorf("of no instance = %+v, %v", none, err)
	}
}
