package dispatch

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

func item(n int, group string) Item {
	return Item{
		Key: Key{Instance: int64(n)}, Group: group, InstancePriority: dag.PriorityMedium,
		TaskPriority: dag.PriorityMedium, ReadyAt: dag.Millis(n),
	}
}

// Requirement W2: 5 tasks over 5 idle workers of 5 slots is one each.
func TestFiveTasksOverFiveIdleWorkersIsOneEach(t *testing.T) {
	t.Parallel()
	c := NewCore()
	for i := range 5 {
		who := rpc.Process{Node: fmt.Sprint("w", i)}
		c.Join(who, []string{"default"})
		c.Ask(who, 5)
	}
	got := map[string]int{}
	for i := range 5 {
		grant, ok := c.Offer(item(i, "default"))
		if !ok {
			t.Fatalf("task %d found no worker", i)
		}
		got[grant.Worker.Node]++
	}
	if len(got) != 5 {
		t.Errorf("tasks per worker = %v, want one each", got)
	}
}

func TestQueuedTasksGoByPriorityThenAge(t *testing.T) {
	t.Parallel()
	c := NewCore()
	low, high, first, second := item(1, "g"), item(2, "g"), item(3, "g"), item(4, "g")
	low.InstancePriority = dag.PriorityLow
	high.InstancePriority = dag.PriorityHigh
	for _, it := range []Item{second, low, first, high} {
		c.Offer(it)
	}
	who := rpc.Process{Node: "w"}
	c.Join(who, []string{"g"})
	var order []int64
	for _, grant := range c.Ask(who, 4) {
		order = append(order, grant.Item.Instance)
	}
	if want := []int64{2, 3, 4, 1}; !slices.Equal(order, want) {
		t.Errorf("order = %v, want %v", order, want)
	}
}

func TestAGroupWithoutWorkersHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	c := NewCore()
	who := rpc.Process{Node: "w"}
	c.Join(who, []string{"busy"})
	c.Ask(who, 1)
	for i := range 100 {
		if _, ok := c.Offer(item(i, "empty")); ok {
			t.Fatal("a group without workers got a grant")
		}
	}
	if _, ok := c.Offer(item(200, "busy")); !ok {
		t.Error("the task of a group with a free worker was not granted")
	}
}

// TestNoAskIsLostOrDoubled compares the core with a plain count under random steps.
func TestNoAskIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := NewCore()
		groups := []string{"a", "b", "c"}
		given := map[rpc.Process]int{} // asks that a worker should have left
		memberOf := map[rpc.Process][]string{}
		queued := map[Key]string{}
		avoids := map[Key]string{} // the node that a task goes to only where nobody else is
		next := 0
		others := func(group, node string) bool {
			for who, of := range memberOf {
				if who.Node != node && slices.Contains(of, group) {
					return true
				}
			}
			return false
		}
		take := func(grants []Grant) {
			for _, g := range grants {
				if queued[g.Item.Key] == "" {
					t.Fatalf("task %v was granted but did not wait", g.Item.Key)
				}
				if !slices.Contains(memberOf[g.Worker], g.Item.Group) {
					t.Fatalf("worker %v of %v was granted a task of %s", g.Worker, memberOf[g.Worker], g.Item.Group)
				}
				if node := avoids[g.Item.Key]; node == g.Worker.Node && others(g.Item.Group, node) {
					t.Fatalf("task %v was granted to the worker that it avoids", g.Item.Key)
				}
				delete(queued, g.Item.Key)
				given[g.Worker]--
			}
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			who := rpc.Process{Node: fmt.Sprint("w", rapid.IntRange(0, 3).Draw(t, "worker"))}
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				memberOf[who] = rapid.SliceOfNDistinct(rapid.SampledFrom(groups), 1, 3, rapid.ID[string]).Draw(t, "groups")
				given[who] = 0
				take(c.Join(who, memberOf[who]))
			case 1:
				delete(memberOf, who)
				delete(given, who)
				take(c.Leave(who))
			case 2:
				if n := rapid.IntRange(1, 3).Draw(t, "asks"); memberOf[who] != nil {
					given[who] += n
					take(c.Ask(who, n))
				}
			case 3, 4:
				next++
				it := item(next, rapid.SampledFrom(groups).Draw(t, "group"))
				it.AvoidWorker = rapid.SampledFrom([]string{"", "", "w0", "w1"}).Draw(t, "avoid")
				avoids[it.Key] = it.AvoidWorker
				if grant, ok := c.Offer(it); ok {
					queued[it.Key] = it.Group
					take([]Grant{grant})
				} else {
					queued[it.Key] = it.Group
				}
			case 5:
				for key, group := range queued {
					c.Withdraw(group, key)
					delete(queued, key)
					break
				}
			case 6:
				given[who] -= c.Recall(who, rapid.IntRange(1, 2).Draw(t, "recall"))
			}
			for who, asks := range given {
				if memberOf[who] == nil {
					continue
				}
				if got := c.Asks(who); got != asks || asks < 0 {
					t.Fatalf("asks of %v = %d, want %d", who, got, asks)
				}
				for key, group := range queued {
					if asks > 0 && slices.Contains(memberOf[who], group) && (avoids[key] != who.Node || !others(group, who.Node)) {
						t.Fatalf("task %v of %s waits while %v asks", key, group, who)
					}
				}
			}
			total := 0
			for _, n := range c.Queued() {
				total += n
			}
			if total != len(queued) {
				t.Fatalf("%d tasks queued, want %d", total, len(queued))
			}
		}
	})
}

func TestAHeldCoreGivesOutNothingUntilItsRelease(t *testing.T) {
	t.Parallel()
	c := NewCore()
	for _, node := range []string{"w1", "w2"} {
		c.Join(rpc.Process{Node: node}, []string{"g"})
	}
	c.Hold()
	for i := range 3 {
		if _, ok := c.Offer(item(i, "g")); ok {
			t.Fatal("a held core gave a task")
		}
	}
	for _, node := range []string{"w1", "w2"} {
		if grants := c.Ask(rpc.Process{Node: node}, 2); len(grants) != 0 {
			t.Fatalf("a held core gave %v", grants)
		}
	}
	given := map[string]int{}
	for _, g := range c.Release() {
		given[g.Worker.Node]++
	}
	if given["w1"] != 2 || given["w2"] != 1 || c.Asks(rpc.Process{Node: "w2"}) != 1 || len(c.Release()) != 0 {
		t.Errorf("the release gave %v and left %d asks, want 2 and 1, and 1 ask", given, c.Asks(rpc.Process{Node: "w2"}))
	}
}

func TestAnotherWorkerIsTriedWhileThereIsOne(t *testing.T) {
	t.Parallel()
	c := NewCore()
	failed, other := rpc.Process{Node: "w1"}, rpc.Process{Node: "w2"}
	c.Join(failed, []string{"g"})
	c.Join(other, []string{"g"})
	c.Ask(failed, 2)
	retried := item(1, "g")
	retried.AvoidWorker = failed.Node
	if grant, ok := c.Offer(retried); ok {
		t.Fatalf("%v was given to the worker on which it failed", grant)
	}
	if grant, ok := c.Offer(item(2, "g")); !ok || grant.Worker != failed {
		t.Errorf("the next task was not given past the one that waits: %v, %v", grant, ok)
	}
	if grants := c.Ask(other, 1); len(grants) != 1 || grants[0].Item.Instance != 1 {
		t.Errorf("the other worker got %v, want the task that waited for it", grants)
	}
	c.Offer(retried)
	if grants := c.Leave(other); len(grants) != 1 || grants[0].Worker != failed {
		t.Errorf("when nobody else is left, it is given as %v, want to %v", grants, failed)
	}
}
