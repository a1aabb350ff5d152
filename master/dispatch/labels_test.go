package dispatch

import (
	"fmt"
	"slices"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

// labelled is a task of group g that asks for labels.
func labelled(n int, labels dag.Labels) Item {
	it := item(n, "g")
	it.Labels = labels
	return it
}

func TestATaskWhoseLabelsNobodyHasHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	c := NewCore()
	w := rpc.Process{Node: "w"}
	c.Join(w, []string{"g"}, dag.Labels{"zone": "us", "disk": "ssd"})
	for i := range 100 {
		it := labelled(i, dag.Labels{"zone": "eu", "disk": "ssd"})
		it.InstancePriority = dag.PriorityHighest
		if grant, ok := c.Offer(it); ok {
			t.Fatalf("%v was given to a worker of another zone", grant)
		}
	}
	c.Offer(labelled(200, nil))
	c.Offer(labelled(201, dag.Labels{"disk": "ssd"}))
	var got []int64
	for _, grant := range c.Ask(w, 5) {
		got = append(got, grant.Item.Instance)
	}
	if !slices.Equal(got, []int64{200, 201}) || c.Asks(w) != 3 {
		t.Errorf("the worker got %v and has %d asks left, want what it may have, and 3", got, c.Asks(w))
	}
	if grants := c.Join(w, []string{"g"}, dag.Labels{"zone": "eu", "disk": "ssd"}); len(grants) != 0 {
		t.Errorf("a worker without an ask was given %v", grants)
	}
	if grants := c.Ask(w, 1); len(grants) != 1 || grants[0].Item.Instance != 0 {
		t.Errorf("once it has the labels, it gets %v, want the oldest task", grants)
	}
}

func TestTasksWithLabelsAreSpreadOverTheWorkersThatHaveThem(t *testing.T) {
	t.Parallel()
	c := NewCore()
	for i := range 6 {
		labels := dag.Labels{"zone": "us"}
		if i%2 == 1 {
			labels["zone"] = "eu"
		}
		who := rpc.Process{Node: fmt.Sprint("w", i)}
		c.Join(who, []string{"g"}, labels)
		c.Ask(who, 5)
	}
	// Each third task may go anywhere; all workers have been given one before any gets its second.
	got := map[string]int{}
	for i, labels := range []dag.Labels{nil, {"zone": "eu"}, {"zone": "us"}, nil, {"zone": "eu"}, {"zone": "us"}} {
		grant, ok := c.Offer(labelled(i, labels))
		if !ok {
			t.Fatalf("task %d found no worker", i)
		}
		got[grant.Worker.Node]++
	}
	if len(got) != 6 {
		t.Errorf("tasks per worker = %v, want one each", got)
	}
}

func TestARetryGoesElsewhereOnlyAmongWorkersWithItsLabels(t *testing.T) {
	t.Parallel()
	c := NewCore()
	failed, other := rpc.Process{Node: "w1"}, rpc.Process{Node: "w2"}
	c.Join(failed, []string{"g"}, dag.Labels{"zone": "eu"})
	c.Join(other, []string{"g"}, nil)
	c.Ask(failed, 2)
	retried := labelled(1, dag.Labels{"zone": "eu"})
	retried.AvoidWorker = failed.Node
	if grant, ok := c.Offer(retried); !ok || grant.Worker != failed {
		t.Errorf("the only worker of the zone was not tried again: %v, %v", grant, ok)
	}
	c.Join(other, []string{"g"}, dag.Labels{"zone": "eu"})
	if grant, ok := c.Offer(retried); ok {
		t.Errorf("%v was not kept for the other worker of the zone", grant)
	}
	if grants := c.Join(other, []string{"g"}, nil); len(grants) != 1 || grants[0].Worker != failed {
		t.Errorf("when the other worker has left the zone, %v is given, want the task to %v", grants, failed)
	}
}

func TestWorkersAreToldOfWhatTheyMayHave(t *testing.T) {
	t.Parallel()
	d := New()
	var told []string
	d.Notify = func(n Notice) { told = append(told, fmt.Sprintf("%s:%s:%d", n.Worker.Node, n.Group, n.Count)) }
	heard := func() []string {
		got := told
		told = nil
		slices.Sort(got)
		return got
	}
	d.Join(rpc.Process{Node: "us"}, []string{"g"}, dag.Labels{"zone": "us"})
	d.Join(rpc.Process{Node: "eu"}, []string{"g"}, dag.Labels{"zone": "eu"})
	for i, step := range []struct {
		labels dag.Labels
		want   []string
	}{
		{dag.Labels{"zone": "moon"}, nil},
		{dag.Labels{"zone": "eu"}, []string{"eu:g:1"}},
		{nil, []string{"eu:g:2", "us:g:1"}},
		{dag.Labels{"zone": "eu"}, []string{"eu:g:3"}},
	} {
		d.Offer(labelled(i, step.labels))
		if got := heard(); !slices.Equal(got, step.want) {
			t.Errorf("task %d with %v: told %v, want %v", i, step.labels, got, step.want)
		}
	}
	d.Remind()
	if got, want := heard(), []string{"eu:g:3", "us:g:1"}; !slices.Equal(got, want) {
		t.Errorf("reminded %v, want %v", got, want)
	}
	d.Join(rpc.Process{Node: "moon"}, []string{"g"}, dag.Labels{"zone": "moon"})
	if got, want := heard(), []string{"moon:g:2"}; !slices.Equal(got, want) {
		t.Errorf("who joins is told %v, want %v", got, want)
	}
}
