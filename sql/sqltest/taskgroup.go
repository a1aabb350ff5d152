package sqltest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// groupPlan is the bench's plan with its first task in a group.
func (b *bench) groupPlan() *dag.Plan {
	def := *b.plan.Definition
	def.Tasks = []dag.Task{{Name: "extract", Type: "noop", TaskGroup: dag.TaskGroup{Name: "cluster", Weight: 1}}, {Name: "load", Type: "noop"}}
	plan, wrong := dag.NewPlan(&def)
	if plan == nil {
		b.t.Fatal(wrong)
	}
	return plan
}

// ready claims a new instance for an owner, and makes its first task ready.
func (b *bench) ready(owner string) (owned, sql.TaskEntry) {
	b.t.Helper()
	o := b.take(owner)
	b.must(b.commit(b.step(o, 0, dag.TaskReady)))
	return o, sql.TaskEntry{
		InstanceID: o.ID, Owner: owner, Epoch: o.epoch, ProjectID: b.project.ID, Group: "Cluster", Weight: 1, ReadyAt: dag.Millis(o.ID), Ask: o.ID,
	}
}

// ended commits the end of the first task.
func (b *bench) ended(o owned) sql.Transition {
	tr := b.step(o, 0, dag.TaskSuccess)
	tr.Plan = b.groupPlan()
	tr.Effects.Attempts = nil
	return tr
}

func placesOfAGroupComeAndGo(t *testing.T, b *bench) {
	first, one := b.ready("m1:a")
	second, two := b.ready("m2:b")
	_, three := b.ready("m2:b")
	three.Turn = -1
	enter := func(es ...sql.TaskEntry) []sql.Admission {
		t.Helper()
		got, err := b.EnterGroups(b.ctx, 1, es)
		b.must(err)
		return got.Answers
	}
	b.want("no such group", enter(one), []sql.Admission{sql.NoGroup})
	g, made, err := b.PutTaskGroup(b.ctx, sql.TaskGroup{ProjectID: b.project.ID, Name: "Cluster", Description: "the big one", Size: 1})
	b.must(err)
	if !made || g.Size != 1 || g.Description != "the big one" {
		t.Errorf("made %v: %+v", made, g)
	}
	b.want("the first", enter(one), []sql.Admission{sql.Admitted})
	b.want("the others", enter(two, three), []sql.Admission{sql.Waits, sql.Waits})
	b.want("all again", enter(one, two, three), []sql.Admission{sql.Admitted, sql.Waits, sql.Waits})
	stranger := two
	stranger.Owner = "m9:z"
	b.want("from another owner", enter(stranger), []sql.Admission{sql.NotOwned})
	tr := []sql.Transition{b.ended(first)}
	b.must(b.Commit(b.ctx, tr)[0])
	if !tr[0].Given {
		t.Error("a commit that gives places does not say so")
	}
	b.want("an ended task", enter(one), []sql.Admission{sql.NotOwned})
	if given, err := b.Given(b.ctx, "m1:a"); err != nil || len(given) != 0 {
		t.Errorf("given to the first master: %+v, %v", given, err)
	}
	given, err := b.Given(b.ctx, "m2:b")
	b.must(err)
	if len(given) != 1 || given[0] != (sql.TaskPlace{InstanceID: three.InstanceID, Ask: three.Ask}) {
		t.Errorf("given: %+v, want the one of the higher priority", given)
	}
	if again, err := b.Given(b.ctx, "m2:b"); err != nil || len(again) != 0 {
		t.Errorf("given twice: %+v, %v", again, err)
	}
	force := sql.Force{GroupID: g.ID, InstanceID: second.ID, By: "ann", Reason: "the report is due"}
	b.must(b.ForceTask(b.ctx, force))
	if err := b.ForceTask(b.ctx, force); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("forced twice: %v, want ErrNotFound", err)
	}
	if given, err = b.Given(b.ctx, "m2:b"); err != nil || len(given) != 1 || given[0].InstanceID != second.ID {
		t.Errorf("given by force: %+v, %v", given, err)
	}
	shown, err := b.GroupTasks(b.ctx, g.ID)
	b.must(err)
	if i := slices.IndexFunc(shown, func(x sql.GroupTask) bool { return x.InstanceID == second.ID }); i < 0 || shown[i].ForcedBy != "ann" || shown[i].ForcedReason != "the report is due" {
		t.Errorf("shown after the force: %+v", shown)
	}
	var used *sql.InUseError
	if err := b.DeleteTaskGroup(b.ctx, b.project.ID, "cluster"); !errors.As(err, &used) {
		t.Errorf("deleted in use: %v", err)
	}
	list, _, err := b.TaskGroups(b.ctx, b.project.ID, sql.Page{})
	b.must(err)
	if len(list) != 1 || list[0].Used != 2 || list[0].Waiting != 0 {
		t.Errorf("listed: %+v", list)
	}
}

// neverMoreThanTheSize lets two stores run tasks of a group at once, and counts who runs.
func neverMoreThanTheSize(t *testing.T, b *bench) {
	const size, each, workers = 2, 10, 4
	_, _, err := b.PutTaskGroup(b.ctx, sql.TaskGroup{ProjectID: b.project.ID, Name: "Cluster", Size: size})
	b.must(err)
	var mu sync.Mutex
	running, most := 0, 0
	var todo sync.WaitGroup
	errs := make(chan error, workers)
	for w := range workers {
		own := *b
		if w%2 == 1 {
			own.Store = b.open(t, t.Name())
		}
		owner := fmt.Sprintf("m%d:x", w)
		waiting := map[int64]owned{}
		var entries []sql.TaskEntry
		for range each {
			o, e := own.ready(owner)
			waiting[o.ID] = o
			entries = append(entries, e)
		}
		run := func(id int64) error {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			o := waiting[id]
			delete(waiting, id)
			tr := own.ended(o)
			mu.Lock()
			running--
			mu.Unlock()
			return own.commit(tr)
		}
		todo.Go(func() {
			got, err := own.EnterGroups(own.ctx, 1, entries)
			for i := range got.Answers {
				if got.Answers[i] == sql.Admitted && err == nil {
					err = run(entries[i].InstanceID)
				}
			}
			for err == nil && len(waiting) > 0 {
				var given []sql.TaskPlace
				if given, err = own.Given(own.ctx, owner); err == nil {
					for _, g := range given {
						if err == nil {
							err = run(g.InstanceID)
						}
					}
				}
			}
			errs <- err
		})
	}
	todo.Wait()
	close(errs)
	for err := range errs {
		b.must(err)
	}
	if most > size {
		t.Errorf("%d ran at once in a group of %d", most, size)
	}
	g, err := b.TaskGroup(b.ctx, b.project.ID, "cluster")
	b.must(err)
	if g.Used != 0 || g.Waiting != 0 {
		t.Errorf("left behind: %+v", g)
	}
}
