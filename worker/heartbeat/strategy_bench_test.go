package heartbeat

import (
	"container/list"
	"fmt"
	"testing"
	"time"
)

// counters is the other known way (H9): one queue, a public counter of cycles and a private one per attempt. An
// attempt whose counter is behind beats; one that has beaten goes to the end and is looked at again and
// again until the cycle is over. The result is the same, the looks are more.
type counters struct {
	queue   *list.List
	public  int
	cycleAt time.Duration
	set     Settings
	looks   int64
}

type counted struct {
	id      string
	private int
}

func (c *counters) tick(now time.Duration, batch []string) []string {
	if now-c.cycleAt >= c.set.Cycle {
		c.public, c.cycleAt = c.public+1, now
	}
	batch = batch[:0]
	for range c.queue.Len() {
		if len(batch) == c.set.Batch {
			break
		}
		c.looks++
		e := c.queue.Front()
		c.queue.MoveToBack(e)
		if r := e.Value.(*counted); r.private < c.public {
			r.private = c.public
			batch = append(batch, r.id)
		}
	}
	return batch
}

// BenchmarkStrategies runs a minute of a worker's beats by both ways; "looks" is how often a
// record was touched per beat.
func BenchmarkStrategies(b *testing.B) {
	for _, n := range []int{16, 120, 500} {
		b.Run(fmt.Sprintf("queues-%d", n), func(b *testing.B) {
			m := filled(standard(), n, "m1")
			now, beats := start, 0
			for b.Loop() {
				for range 60 {
					for _, msg := range m.Tick(now, []string{"m1"}) {
						beats += len(msg.Attempts)
						m.Answer("m1", msg.ID, all(msg, "ok"), now)
					}
					now += time.Second
				}
			}
			b.ReportMetric(float64(beats)/float64(b.N), "beats/min")
			b.ReportMetric(2, "looks/beat") // out of main, into backup
		})
		b.Run(fmt.Sprintf("counters-%d", n), func(b *testing.B) {
			c := &counters{queue: list.New(), public: 1, cycleAt: start, set: standard()}
			for i := range n {
				c.queue.PushBack(&counted{id: name(i)})
			}
			now, beats := start, 0
			batch := make([]string, 0, c.set.Batch)
			for b.Loop() {
				for range 60 {
					batch = c.tick(now, batch)
					beats += len(batch)
					now += time.Second
				}
			}
			b.ReportMetric(float64(beats)/float64(b.N), "beats/min")
			b.ReportMetric(float64(c.looks)/float64(max(1, beats)), "looks/beat")
		})
	}
}
