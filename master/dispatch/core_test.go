package dispatch

import (
	"fmt"
	"maps"
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
		c.Join(who, []string{"default"}, nil)
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
	c.Join(who, []string{"g"}, nil)
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
	c.Join(who, []string{"busy"}, nil)
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
		has := rapid.SampledFrom([]dag.Labels{nil, {"zone": "eu"}, {"zone": "us"}, {"disk": "ssd"}, {"zone": "eu", "disk": "ssd"}})
		wants := rapid.SampledFrom([]dag.Labels{nil, nil, {"zone": "eu"}, {"disk": "ssd"}, {"zone": "eu", "disk": "ssd"}, {"zone": "moon"}})
		type member struct {
			groups []string
			labels dag.Labels
		}
		// what a worker should have left: asks, and leave for instant tasks
		given := map[bool]map[rpc.Process]int{false: {}, true: {}}
		members := map[rpc.Process]member{}
		queued := map[Key]Item{}
		next := 0
		may := func(who rpc.Process, it Item) bool {
			m, known := members[who]
			return known && slices.Contains(m.groups, it.Group) && it.Labels.In(m.labels)
		}
		avoided := func(who rpc.Process, it Item) bool {
			if it.AvoidWorker != who.Node {
				return false
			}
			for other := range members {
				if other.Node != who.Node && may(other, it) {
					return true
				}
			}
			return false
		}
		take := func(grants []Grant) {
			for _, g := range grants {
				it, waits := queued[g.Item.Key]
				if !waits {
					t.Fatalf("task %v was granted but did not wait", g.Item.Key)
				}
				if !may(g.Worker, it) {
					t.Fatalf("worker %v of %v was granted a task of %s with %v", g.Worker, members[g.Worker], it.Group, it.Labels)
				}
				if avoided(g.Worker, it) {
					t.Fatalf("task %v was granted to the worker that it avoids", g.Item.Key)
				}
				delete(queued, g.Item.Key)
				given[it.Instant][g.Worker]--
			}
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			who := rpc.Process{Node: fmt.Sprint("w", rapid.IntRange(0, 3).Draw(t, "worker"))}
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				m := member{rapid.SliceOfNDistinct(rapid.SampledFrom(groups), 1, 3, rapid.ID[string]).Draw(t, "groups"), has.Draw(t, "has")}
				members[who], given[false][who], given[true][who] = m, 0, 0
				take(c.Join(who, m.groups, m.labels))
			case 1:
				delete(members, who)
				delete(given[false], who)
				delete(given[true], who)
				take(c.Leave(who))
			case 2:
				n, instant := rapid.IntRange(1, 3).Draw(t, "asks"), rapid.Bool().Draw(t, "for instant ones")
				if members[who].groups == nil {
					break
				}
				given[instant][who] += n
				if instant {
					take(c.AskInstant(who, n))
				} else {
					take(c.Ask(who, n))
				}
			case 3, 4:
				next++
				it := item(next, rapid.SampledFrom(groups).Draw(t, "group"))
				it.AvoidWorker = rapid.SampledFrom([]string{"", "", "w0", "w1"}).Draw(t, "avoid")
				it.Labels = wants.Draw(t, "wants")
				it.Instant = rapid.Bool().Draw(t, "instant")
				grant, ok := c.Offer(it)
				queued[it.Key] = it
				if ok {
					take([]Grant{grant})
				}
			case 5:
				for key, it := range queued {
					it.Labels = maps.Clone(it.Labels)
					c.Withdraw(it)
					delete(queued, key)
					break
				}
			case 6:
				given[false][who] -= c.Recall(who, rapid.IntRange(1, 2).Draw(t, "recall"))
			}
			for who := range members {
				asks := given[false][who]
				if got := c.Asks(who); got != asks || asks < 0 {
					t.Fatalf("asks of %v = %d, want %d", who, got, asks)
				}
				waiting := map[string]int{}
				for key, it := range queued {
					if !may(who, it) {
						continue
					}
					if !it.Instant {
						waiting[it.Group]++
					}
					if given[it.Instant][who] > 0 && !avoided(who, it) {
						t.Fatalf("task %v of %s with %v (instant: %t) waits while %v asks", key, it.Group, it.Labels, it.Instant, who)
					}
				}
				for _, name := range groups {
					if got := c.Waiting(name, who); got != waiting[name] {
						t.Fatalf("%d tasks of %s wait for %v, want %d", got, name, who, waiting[name])
					}
				}
			}
			want := map[string]bool{}
			for _, it := range queued {
				want[it.Group] = true
			}
			if got := c.Groups(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
				t.Fatalf("tasks wait in %v, want %v", got, want)
			}
		}
	})
}

func TestAHeldCoreGivesOutNothingUntilItsRelease(t *testing.T) {
	t.Parallel()
	c := NewCore()
	for _, node := range []string{"w1", "w2"} {
		c.Join(rpc.Process{Node: node}, []string{"g"}, nil)
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
	c.Join(failed, []string{"g"}, nil)
	c.Join(other, []string{"g"}, nil)
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
