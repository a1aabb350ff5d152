package watch

import (
	"testing"

	"github.com/porpoise/porpoise/internal/rpc"
)

func TestOfSeveralChangesOfAnInstanceTheLastIsSent(t *testing.T) {
	t.Parallel()
	w := &watcher{some: make(chan struct{}, 1), waiting: make(map[int64]*rpc.Change)}
	for seq := range int64(5) {
		w.put(&rpc.Change{InstanceId: 7, Seq: seq})
	}
	w.put(&rpc.Change{InstanceId: 8, Seq: 1})
	changes := w.take()
	if len(changes) != 2 {
		t.Fatalf("%d changes wait, want one per instance", len(changes))
	}
	for _, c := range changes {
		if c.GetInstanceId() == 7 && c.GetSeq() != 4 {
			t.Errorf("sequence %d of instance 7 is sent, want the last, 4", c.GetSeq())
		}
	}
}

func TestASlowWatcherHoldsABoundedNumberOfChanges(t *testing.T) {
	t.Parallel()
	w := &watcher{some: make(chan struct{}, 1), waiting: make(map[int64]*rpc.Change)}
	for id := range int64(maxWaiting + 100) {
		w.put(&rpc.Change{InstanceId: id})
	}
	if n := len(w.take()); n != maxWaiting {
		t.Errorf("%d changes wait, want at most %d", n, maxWaiting)
	}
}
