package worker

import (
	"testing"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/runner"
)

// of opens a stream to a master that tells its generation.
func (b *bench) of(node string, generation int64) *wire {
	w := &wire{bench: b, node: node}
	b.core.Open(w)
	b.core.Flush()
	b.core.Message(w, &rpc.MasterMessage{Welcome: &rpc.Welcome{Master: node, Generation: generation}})
	b.core.Flush()
	return w
}

// Requirement I44: nothing of an earlier generation is told to the cluster that was restored.
func TestARestoredClusterHearsNothingOfTheGenerationBefore(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	old := b.of("m1", 1)
	ended, alive := b.run(old, 1), b.run(old, 2)
	exit := &runner.Exit{Mark: ended, State: "success", Attempt: toRunner(&rpc.AttemptID{InstanceId: 1, Number: 1, Token: "t1"}, 1)}
	b.core.News(b, &runner.News{Exits: []*runner.Exit{exit}})
	b.core.Flush()
	b.core.Closed(old)

	next := b.of("m1", 2)
	b.pass(resendMost)
	b.tick(next)
	var stops []*runner.Stop
	for _, o := range b.orders {
		stops = append(stops, o.Stops...)
	}
	if len(stops) != 1 || stops[0].Mark != alive || stops[0].Reason != restored {
		t.Errorf("stops = %v, want the one that was alive", stops)
	}
	b.core.News(b, &runner.News{Exits: []*runner.Exit{{Mark: alive, State: "killed", Attempt: toRunner(&rpc.AttemptID{InstanceId: 2, Number: 1, Token: "t2"}, 1)}}})
	b.core.Flush()
	b.pass(resendMost)
	b.tick(next)
	for _, m := range next.sent {
		if len(m.Reports) > 0 || m.Tick != nil && len(m.Tick.Running) > 0 {
			t.Errorf("the restored cluster was told %v", m)
		}
	}
	if len(b.core.attempts) != 0 || len(b.core.outbox.items) != 0 || len(b.core.kept.reports) != 0 {
		t.Errorf("left are %d attempts, %d reports, %d of them on disk", len(b.core.attempts), len(b.core.outbox.items), len(b.core.kept.reports))
	}
	// A master that lives on from before is not linked; new work of the new generation is told.
	if late := b.of("m2", 1); !late.reset || b.core.links["m2"] != nil {
		t.Error("a master of the generation before was linked")
	}
	b.run(next, 3)
	if last := next.sent[len(next.sent)-1]; len(last.Reports) != 1 || last.Reports[0].State != "running" {
		t.Errorf("of the new generation's attempt it was told %v", last)
	}
}
