package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

func (c *cluster) group(size int) sql.TaskGroup {
	c.t.Helper()
	g, _, err := c.store.PutTaskGroup(c.t.Context(), sql.TaskGroup{ProjectID: c.project.ID, Name: "Cluster", Size: size})
	c.must(err)
	c.rest()
	return g
}

// tasks are the states of a task of each instance.
func (c *cluster) tasks(name string, ids ...int64) string {
	c.t.Helper()
	var out []string
	for _, id := range ids {
		row, err := c.store.Task(c.t.Context(), id, name)
		c.must(err)
		out = append(out, string(row.State))
	}
	return strings.Join(out, " ")
}

// end has the worker report an end of the latest attempt of an instance.
func (c *cluster) end(id int64, state dag.AttemptState) {
	c.t.Helper()
	for _, d := range slices.Backward(c.dispatched) {
		if d.GetAttempt().GetInstanceId() != id {
			continue
		}
		for _, m := range c.masters {
			if m.Has(id) {
				m.Report(c.t.Context(), &rpc.Report{Attempt: d.GetAttempt(), State: string(state), FinishedAt: c.now.UnixMilli()}, func(string, string) {})
			}
		}
		c.rest()
		return
	}
	c.t.Fatalf("nothing of instance %d was dispatched", id)
}

func (c *cluster) nothingLeft() {
	c.t.Helper()
	g, err := c.store.TaskGroup(c.t.Context(), c.project.ID, "cluster")
	c.must(err)
	if g.Used != 0 || g.Waiting != 0 {
		c.t.Errorf("%d places are used and %d tasks wait, and nothing runs", g.Used, g.Waiting)
	}
	if n, err := c.store.SweepPlaces(c.t.Context()); n != 0 || err != nil {
		c.t.Errorf("a sweep mends %d, %v", n, err)
	}
}

const grouped = "name: grouped\ntasks:\n  - {name: a, type: noop, task_group: cluster, retry: {times: 1, delay: 1m}}\n  - {name: b, type: noop, needs: [a]}\n"

func TestTasksOfAGroupShareItsPlacesAcrossMasters(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	g := c.group(2)
	ids := c.run(c.save(grouped), 5)
	urgent := c.run(c.save(grouped), 1, func(s *sql.Start) { s.Priority = dag.PriorityHigh })[0]
	c.want("at first", c.tasks("a", ids...), "dispatched dispatched ready ready ready")
	tasks, err := c.store.GroupTasks(t.Context(), g.ID)
	c.must(err)
	if len(tasks) != 6 || tasks[0].Waiting || tasks[0].InstanceID != ids[0] || tasks[0].TaskName != "a" || !tasks[2].Waiting || tasks[2].InstanceID != urgent {
		t.Errorf("the group holds %+v", tasks)
	}
	place, err := c.store.TaskPlace(t.Context(), ids[3], 0)
	c.must(err)
	if !place.Waiting || place.Ahead != 2 {
		t.Errorf("the place of the fourth: %+v, want two before it", place)
	}
	c.finish(ids[0])
	c.want("after one has ended", c.tasks("a", ids[0], ids[1], urgent, ids[2]), "success dispatched dispatched ready")
	c.want("what is below it needs no place", c.tasks("b", ids[0]), "dispatched")
	for _, id := range []int64{ids[1], urgent, ids[2], ids[3], ids[4]} {
		c.want("next", c.tasks("a", id), "dispatched")
		c.end(id, dag.AttemptSuccess)
	}
	c.nothingLeft()
}

func TestPlacesOfAGroupAreGivenBackHoweverATaskEnds(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(c *cluster, id int64){
		"stop":       func(c *cluster, id int64) { c.control(id, dag.VerbStop); c.end(id, dag.AttemptKilled) },
		"retry wait": func(c *cluster, id int64) { c.end(id, dag.AttemptFailed) },
		"kill": func(c *cluster, id int64) {
			_, err := c.store.AddControl(c.t.Context(), sql.ControlRow{InstanceID: id, Verb: dag.VerbKill, Tasks: []string{"a"}})
			c.must(err)
			c.rest()
			c.end(id, dag.AttemptKilled)
		},
		"forced stop": func(c *cluster, id int64) {
			_, err := c.store.AddControl(c.t.Context(), sql.ControlRow{InstanceID: id, Verb: dag.VerbStop, Force: true})
			c.must(err)
			c.rest()
		},
		"pause of a task that was handed back": func(c *cluster, id int64) {
			c.control(id, dag.VerbPause)
			c.end(id, dag.AttemptReturned)
		},
		"quarantine": func(c *cluster, id int64) {
			c.must(c.store.Quarantine(c.t.Context(), id, c.row(id).OwnerEpoch, dag.ReasonCrashed, "poison"))
			c.rest()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 2)
			c.group(1)
			ids := c.run(c.save(grouped), 2)
			c.want("at first", c.tasks("a", ids...), "dispatched ready")
			leave(c, ids[0])
			c.want("the next", c.tasks("a", ids[1]), "dispatched")
			c.end(ids[1], dag.AttemptSuccess)
			c.nothingLeft()
		})
	}
}

func TestATaskThatWaitsForItsGroupLeavesIt(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c.group(1)
	ids := c.run(c.save(grouped), 3)
	c.control(ids[1], dag.VerbStop)
	c.want("stopped while it waits", c.states(ids[1]), "stopped")
	c.control(ids[2], dag.VerbPause)
	c.end(ids[0], dag.AttemptSuccess)
	c.want("paused it takes no place", c.tasks("a", ids[2]), "ready")
	c.nothingLeft()
	c.control(ids[2], dag.VerbResume)
	c.want("resumed", c.tasks("a", ids[2]), "dispatched")
}

func TestALostWorkerKeepsThePlaceOfItsTask(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c.group(1)
	ids := c.run(c.save(grouped), 2)
	c.end(ids[0], dag.AttemptReturned)
	c.want("handed back, it goes on before the others", c.tasks("a", ids...), "dispatched ready")
	if n := len(c.dispatched); n != 2 {
		t.Errorf("%d attempts were dispatched, want 2", n)
	}
}

func TestATakeoverKeepsThePlacesOfAGroup(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c.group(1)
	ids := c.run(c.save(grouped), 3)
	heir := c.masters[2]
	for _, dead := range c.masters[:2] {
		taken, err := c.store.TakeOver(t.Context(), dead.Owner, heir.Owner, 100)
		c.must(err)
		heir.Admit(taken)
	}
	c.masters = []*Engine{heir}
	c.rest()
	c.want("after the takeover", c.tasks("a", ids...), "dispatched ready ready")
	for _, id := range ids {
		c.want("next", c.tasks("a", id), "dispatched")
		c.end(id, dag.AttemptSuccess)
	}
	c.nothingLeft()
}

func TestTheSizeOfAGroupHoldsAtOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	ids := c.run(c.save(grouped), 4)
	c.want("without such a group", c.tasks("a", ids...), "ready ready ready ready")
	c.group(0)
	for _, m := range c.masters {
		m.groups.again()
	}
	c.rest()
	c.want("with none to give", c.tasks("a", ids...), "ready ready ready ready")
	g := c.group(2)
	c.want("with two", c.tasks("a", ids...), "dispatched dispatched ready ready")
	c.must(c.store.ForceTask(t.Context(), sql.Force{GroupID: g.ID, InstanceID: ids[3], By: "ann"}))
	c.rest()
	c.want("one by force", c.tasks("a", ids...), "dispatched dispatched ready dispatched")
	c.group(1)
	c.end(ids[0], dag.AttemptSuccess)
	c.end(ids[1], dag.AttemptSuccess)
	c.want("made smaller than what runs", c.tasks("a", ids[2]), "ready")
	c.end(ids[3], dag.AttemptSuccess)
	c.want("the last", c.tasks("a", ids[2]), "dispatched")
	if err := c.store.DeleteTaskGroup(t.Context(), c.project.ID, "cluster"); err == nil {
		t.Error("a group with a task in it was deleted")
	}
	c.end(ids[2], dag.AttemptSuccess)
	c.nothingLeft()
	c.must(c.store.DeleteTaskGroup(t.Context(), c.project.ID, "cluster"))
}

func TestAHeavyTaskIsNotStarved(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c.group(3)
	light := c.save("name: light\ntasks:\n  - {name: a, type: noop, task_group: cluster}\n")
	weighs := func(n int) sql.Workflow {
		return c.save(fmt.Sprintf("name: heavy %d\ntasks:\n  - {name: a, type: noop, task_group: {name: cluster, weight: %d}}\n", n, n))
	}
	first := c.run(light, 2)
	three := c.run(weighs(3), 1)[0]
	four := c.run(weighs(4), 1)[0]
	last := c.run(light, 2)
	c.want("the heavy one keeps the light ones behind it waiting", c.tasks("a", three, four, last[0]), "ready ready ready")
	c.end(first[0], dag.AttemptSuccess)
	c.end(first[1], dag.AttemptSuccess)
	c.want("its turn", c.tasks("a", three, last[0]), "dispatched ready")
	c.end(three, dag.AttemptSuccess)
	c.want("what never fits holds nobody up", c.tasks("a", four, last[0], last[1]), "ready dispatched dispatched")
}

func TestARateHoldsAcrossMastersAndTheirEnds(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	_, _, err := c.store.PutTaskGroup(t.Context(), sql.TaskGroup{
		ProjectID: c.project.ID, Name: "Cluster", Size: 100, Rate: sql.Rate{Tasks: 2, Per: time.Minute},
	})
	c.must(err)
	ids := c.run(c.save(grouped), 6)
	c.want("at first", c.tasks("a", ids...), "dispatched dispatched ready ready ready ready")
	c.end(ids[0], dag.AttemptSuccess)
	c.want("a free place lets nobody go", c.tasks("a", ids...), "success dispatched ready ready ready ready")

	// Two masters end: what they had let go is not counted again.
	heir := c.masters[2]
	for _, dead := range c.masters[:2] {
		taken, err := c.store.TakeOver(t.Context(), dead.Owner, heir.Owner, 100)
		c.must(err)
		heir.Admit(taken)
	}
	c.masters = []*Engine{heir}
	c.now = c.now.Add(time.Minute - time.Millisecond)
	c.rest()
	c.want("just before a minute", c.tasks("a", ids[1:]...), "dispatched ready ready ready ready")
	c.now = c.now.Add(time.Millisecond)
	c.rest()
	c.want("after a minute", c.tasks("a", ids[1:]...), "dispatched dispatched dispatched ready ready")
	c.end(ids[2], dag.AttemptFailed)
	c.now = c.now.Add(time.Minute)
	c.rest()
	c.want("after two", c.tasks("a", ids[1:]...), "dispatched retry_wait dispatched dispatched dispatched")
	for _, id := range []int64{ids[1], ids[3], ids[4], ids[5]} {
		c.end(id, dag.AttemptSuccess)
	}
	c.nothingElse(ids[2])
}

// nothingElse says that only one task is left, which has no place.
func (c *cluster) nothingElse(id int64) {
	c.t.Helper()
	g, err := c.store.TaskGroup(c.t.Context(), c.project.ID, "cluster")
	c.must(err)
	if g.Used != 0 || g.Waiting != 0 {
		c.t.Errorf("%d places are used and %d tasks wait, while instance %d waits for its retry", g.Used, g.Waiting, id)
	}
}
