package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// cluster is several engines over one store, whose commands any of them may take.
type cluster struct {
	*bench
	masters []*Engine
	woken   int
	deaf    bool // no command is taken
}

func newCluster(t *testing.T, masters int) *cluster {
	c := &cluster{bench: newBench(t)}
	c.masters = []*Engine{c.Engine}
	for i := 1; i < masters; i++ {
		c.masters = append(c.masters, c.engine(fmt.Sprintf("m%d:a", i+1), c.store))
	}
	for _, m := range c.masters {
		m.Woken = func() { c.woken++ }
	}
	return c
}

// save publishes a text as the workflow of its name.
func (c *cluster) save(text string) sql.Workflow {
	c.t.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "name: "), "\n")
	create := sql.AnyVersion
	w, _, _, err := c.store.SaveVersion(c.t.Context(), sql.SaveVersion{
		ProjectID: c.project.ID, Name: name, Text: text, Format: "yaml", IfMatch: &create, Publish: true, By: "test",
	})
	c.must(err)
	return w
}

// run starts n instances and lets the masters take what there is.
func (c *cluster) run(w sql.Workflow, n int, change ...func(*sql.Start)) []int64 {
	c.t.Helper()
	ids := make([]int64, n)
	for i := range ids {
		start := sql.Start{WorkflowID: w.ID, ProjectID: c.project.ID, Version: w.Published, Priority: dag.PriorityMedium, By: "test"}
		for _, f := range change {
			f(&start)
		}
		var err error
		ids[i], _, err = c.store.Start(c.t.Context(), start)
		c.must(err)
		c.rest()
	}
	return ids
}

// rest lets the masters take turns until there is nothing to do.
func (c *cluster) rest() {
	c.t.Helper()
	ctx := c.t.Context()
	for turn := range 1000 {
		if !c.deaf {
			commands, _, err := c.store.Commands(ctx, nil, 1, sql.CommandCursor{})
			c.must(err)
			for _, command := range commands {
				m := c.masters[turn%len(c.masters)]
				claimed, err := c.store.Claim(ctx, []sql.Claim{{Command: command, Owner: m.Owner}})
				c.must(err)
				m.Admit(claimed)
			}
		}
		again := false
		for _, m := range c.masters {
			m.ControlAll(ctx)
			asked, _ := m.EnterOnce(ctx)
			m.GroupOnce(ctx)
			again = m.WakeOnce(ctx) || asked > 0 || again
			for m.StepOne() {
				again = true
			}
			if n, _ := m.CommitOnce(ctx); n > 0 {
				again = true
			}
		}
		if left, _, err := c.store.Commands(ctx, nil, 1, sql.CommandCursor{}); err != nil || !again && (c.deaf || len(left) == 0) {
			c.must(err)
			return
		}
	}
	c.t.Fatal("the masters do not come to rest")
}

// finish has the worker report success for the running attempt of an instance.
func (c *cluster) finish(id int64) {
	c.t.Helper()
	for _, d := range slices.Backward(c.dispatched) {
		if d.GetAttempt().GetInstanceId() != id {
			continue
		}
		for _, m := range c.masters {
			if m.Has(id) {
				m.Report(c.t.Context(), &rpc.Report{Attempt: d.GetAttempt(), State: string(dag.AttemptSuccess), FinishedAt: c.now.UnixMilli()}, func(string, string) {})
			}
		}
		c.rest()
		return
	}
	c.t.Fatalf("nothing of instance %d was dispatched", id)
}

// states are those of the instances, in their order.
func (c *cluster) states(ids ...int64) string {
	c.t.Helper()
	var out []string
	for _, id := range ids {
		out = append(out, string(c.row(id).State))
	}
	return strings.Join(out, " ")
}

func (c *cluster) want(what, got, want string) {
	c.t.Helper()
	if got != want {
		c.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func (c *cluster) control(id int64, verb dag.Verb) {
	c.t.Helper()
	_, err := c.store.AddControl(c.t.Context(), sql.ControlRow{InstanceID: id, Verb: verb, By: "ann"})
	c.must(err)
	c.rest()
}

const serial = "name: serial\nconcurrency: {limit: 1}\ntasks:\n  - {name: a, type: noop}\n"

func TestInstancesOfSerialWorkflowRunOneAfterTheOtherAcrossMasters(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	w := c.save(serial)
	ids := c.run(w, 3)
	urgent := c.run(w, 1, func(s *sql.Start) { s.Priority = dag.PriorityHighest })[0]
	all := []int64{ids[0], urgent, ids[1], ids[2]}
	c.want("at first", c.states(all...), "running serial_wait serial_wait serial_wait")
	for _, m := range c.masters {
		if m.Has(ids[1]) {
			t.Error("an instance that waits for its turn stays in memory")
		}
	}
	for i, id := range all {
		before := c.woken
		c.finish(id)
		if i+1 < len(all) {
			if c.woken == before {
				t.Error("who wakes the next does not hint it")
			}
			c.want("next", c.states(all[i+1]), "running")
		}
	}
	c.want("at last", c.states(all...), "success success success success")
}

func TestStartsThatFindNoPlaceAreDiscarded(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	w := c.save("name: discarding\nconcurrency: {limit: 1, when_full: discard}\ntasks:\n  - {name: a, type: noop}\n")
	ids := c.run(w, 2)
	c.want("the second", c.states(ids...), "running stopped")
	if reason := c.row(ids[1]).Reason; reason != dag.ReasonDiscarded {
		t.Errorf("its reason is %q", reason)
	}
	c.control(ids[1], dag.VerbRecover)
	c.want("recovered by hand", c.states(ids...), "running serial_wait")
	c.finish(ids[0])
	c.want("then", c.states(ids...), "success running")
	c.finish(ids[1])
	c.want("at last", c.states(ids...), "success success")
}

func TestTheNewestTakesThePlaceOfTheOlder(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	w := c.save("name: replacing\nconcurrency: {limit: 1, when_full: replace}\ntasks:\n  - {name: a, type: noop}\n")
	old := c.run(w, 1)[0]
	next := c.run(w, 1)[0]
	c.want("while the worker ends the old one", c.states(old, next), "stopping serial_wait")
	newest := c.run(w, 1)[0]
	c.want("a third", c.states(old, next, newest), "stopping stopped serial_wait")
	d := c.dispatched[0]
	for _, m := range c.masters {
		if m.Has(old) {
			m.Report(t.Context(), &rpc.Report{Attempt: d.GetAttempt(), State: string(dag.AttemptKilled), FinishedAt: c.now.UnixMilli()}, func(string, string) {})
		}
	}
	c.rest()
	c.want("once it has ended", c.states(old, next, newest), "stopped stopped running")
	for _, id := range []int64{old, next} {
		if reason := c.row(id).Reason; reason != dag.ReasonReplaced {
			t.Errorf("the reason of %d is %q", id, reason)
		}
	}
	events, err := c.store.Events(t.Context(), old, 0, 100)
	c.must(err)
	if !slices.ContainsFunc(events, func(e sql.EventRow) bool { return e.By == fmt.Sprintf("instance %d", next) }) {
		t.Error("the history of the old one does not say who replaced it")
	}
}

func TestAnInstanceThatWaitsItsTurnCanBeStopped(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	w := c.save(serial)
	ids := c.run(w, 3)
	c.control(ids[1], dag.VerbStop)
	c.want("after the stop", c.states(ids...), "running stopped serial_wait")
	c.control(ids[2], dag.VerbPause)
	c.want("a pause does nothing", c.states(ids[2]), "serial_wait")
	c.finish(ids[0])
	c.want("the one behind it", c.states(ids...), "success stopped running")
}

func TestPausedInstancesKeepTheirPlace(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c.idle = true
	ids := c.run(c.save(serial), 2)
	c.control(ids[0], dag.VerbPause)
	c.want("paused", c.states(ids...), "paused serial_wait")
	c.control(ids[0], dag.VerbResume)
	c.want("resumed", c.states(ids...), "running serial_wait")
	c.control(ids[0], dag.VerbStop)
	c.want("stopped", c.states(ids...), "stopped running")
}

func TestALaterRoundWaitsForAPlace(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	w := c.save("name: rounds\nconcurrency: {limit: 1}\ntasks:\n  - {name: a, type: noop}\n  - {name: b, type: noop, needs: [a]}\n")
	ids := c.run(w, 2)
	c.finish(ids[0])
	c.control(ids[0], dag.VerbStop) // b is on a worker
	d := c.dispatched[len(c.dispatched)-1]
	for _, m := range c.masters {
		m.Report(t.Context(), &rpc.Report{Attempt: d.GetAttempt(), State: string(dag.AttemptKilled), FinishedAt: c.now.UnixMilli()}, func(string, string) {})
	}
	c.rest()
	c.want("the first is stopped", c.states(ids...), "stopped running")
	c.control(ids[0], dag.VerbRecover)
	c.want("recovered beside the other", c.states(ids...), "serial_wait running")
	c.control(ids[0], dag.VerbStop)
	c.want("stopped in its line", c.states(ids...), "stopped running")
	c.control(ids[0], dag.VerbRecover)
	c.finish(ids[1])
	c.finish(ids[1])
	c.want("its turn", c.states(ids...), "running success")
	c.finish(ids[0])
	c.want("b alone had to run again", c.states(ids...), "success success")
	c.control(ids[0], dag.VerbRerun)
	c.want("a rerun with nobody else", c.states(ids[0]), "running")
}

func TestNothingOfALineIsLostWithAMaster(t *testing.T) {
	t.Parallel()
	// The master ends after so many steps of its work; another takes over what it has.
	for after := range 12 {
		c := newCluster(t, 2)
		w := c.save(serial)
		first := c.run(w, 1)[0]
		dying, heir := c.engine("m9:dying", c.store), c.masters[0]
		living := c.masters
		id, _, err := c.store.Start(t.Context(), sql.Start{WorkflowID: w.ID, ProjectID: c.project.ID, Version: 1, Priority: dag.PriorityMedium})
		c.must(err)
		claimed, err := c.store.Claim(t.Context(), []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id}, Owner: dying.Owner}})
		c.must(err)
		dying.Admit(claimed)
		steps := []func(){
			func() { dying.EnterOnce(t.Context()) }, func() { dying.StepOne() }, func() { c.deaf = true; c.finish(first) },
			func() { dying.CommitOnce(t.Context()) }, func() { dying.StepOne() }, func() { dying.CommitOnce(t.Context()) },
		}
		if after >= len(steps) { // the end of the first comes before all of it
			steps = append([]func(){steps[2]}, slices.Delete(slices.Clone(steps), 2, 3)...)
		}
		for _, step := range steps[:after%len(steps)] {
			step()
		}
		c.deaf, c.masters = false, living
		taken, err := c.store.TakeOver(t.Context(), dying.Owner, heir.Owner, 100)
		c.must(err)
		heir.Admit(taken)
		c.rest()
		if c.row(first).State == dag.InstanceRunning {
			c.want(fmt.Sprintf("after %d steps", after), c.states(id), "serial_wait")
			c.finish(first)
		}
		c.want(fmt.Sprintf("after %d steps, with the place free", after), c.states(first, id), "success running")
		c.finish(id)
		if n, err := c.store.SweepPlaces(t.Context()); n != 0 || err != nil {
			t.Errorf("after %d steps: a sweep mends %d, %v", after, n, err)
		}
	}
}

func TestARemovedLimitLetsTheWaitingGo(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	ids := c.run(c.save(serial), 4)
	c.save(strings.Replace(serial, "limit: 1", "limit: 2", 1))
	c.rest()
	c.want("with two places", c.states(ids...), "running running serial_wait serial_wait")
	c.save(strings.Replace(serial, "concurrency: {limit: 1}\n", "", 1))
	c.rest()
	c.want("without a limit", c.states(ids...), "running running running running")
}

func TestInstancesOfDifferentKeysDoNotWait(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	w := c.save("name: keyed\nparams: {region: eu}\nconcurrency: {limit: 1, key: \"${region}-${system.workflow.name}\"}\ntasks:\n  - {name: a, type: noop}\n")
	us := func(s *sql.Start) { s.Params = map[string]string{"region": "us"} }
	ids := append(c.run(w, 2), c.run(w, 2, us)...)
	c.want("two regions", c.states(ids...), "running serial_wait running serial_wait")
	place, err := c.store.Place(t.Context(), ids[3])
	c.must(err)
	c.want("its key", place.Key, "us-keyed")
}
