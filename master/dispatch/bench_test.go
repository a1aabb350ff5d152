package dispatch

import (
	"fmt"
	"testing"

	"github.com/porpoise/porpoise/internal/rpc"
)

// asking is a core with some workers of the group g.
func asking(workers int) (*Core, []rpc.Process) {
	c := NewCore()
	var all []rpc.Process
	for i := range workers {
		who := rpc.Process{Node: fmt.Sprint("w", i), Incarnation: "x"}
		c.Join(who, []string{"g"}, nil)
		all = append(all, who)
	}
	return c, all
}

// BenchmarkDecide is one decision of which worker gets a task: where asks wait for tasks, and where tasks wait for asks.
func BenchmarkDecide(b *testing.B) {
	for _, workers := range []int{8, 1000} {
		b.Run(fmt.Sprint("asks of ", workers), func(b *testing.B) {
			c, all := asking(workers)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				c.Ask(all[n%workers], 1)
				if _, ok := c.Offer(item(n, "g")); !ok {
					b.Fatal("an ask was not used")
				}
			}
		})
	}
	for _, waiting := range []int{100, 10_000} {
		b.Run(fmt.Sprint("tasks waiting ", waiting), func(b *testing.B) {
			c, all := asking(8)
			for n := range waiting {
				c.Offer(item(n, "g"))
			}
			b.ReportAllocs()
			for n := waiting; b.Loop(); n++ {
				c.Offer(item(n, "g"))
				if len(c.Ask(all[n%len(all)], 1)) != 1 {
					b.Fatal("no task was given for an ask")
				}
			}
		})
	}
}

// TestADecisionIsMadeWithinItsBudget holds how often it allocates, which is under the dispatcher's lock, for which every ready
// task and every worker waits. It runs alone, as all that counts allocations.
func TestADecisionIsMadeWithinItsBudget(t *testing.T) {
	const asked, queued = 0, 4
	c, all := asking(8)
	n := 0
	got := testing.AllocsPerRun(500, func() {
		n++
		c.Ask(all[n%len(all)], 1)
		if _, ok := c.Offer(item(n, "g")); !ok {
			t.Error("an ask was not used")
		}
	})
	t.Logf("%.0f allocations", got)
	if got > asked {
		t.Errorf("a task for a worker that asks makes %.0f allocations, the budget is %d", got, asked)
	}
	for range 1000 {
		n++
		c.Offer(item(n, "g"))
	}
	got = testing.AllocsPerRun(500, func() {
		n++
		c.Offer(item(n, "g"))
		if len(c.Ask(all[n%len(all)], 1)) != 1 {
			t.Error("no task was given for an ask")
		}
	})
	t.Logf("%.0f allocations", got)
	if got > queued {
		t.Errorf("a worker for a task that waited makes %.0f allocations, the budget is %d", got, queued)
	}
}
