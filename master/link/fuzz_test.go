package link

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/porpoise/porpoise/internal/rpc"
)

// FuzzWorkerMessage hears whatever bytes a worker's process sends once it is let in: none brings the master down,
// or makes it answer without a bound.
func FuzzWorkerMessage(f *testing.F) {
	for _, m := range []*rpc.WorkerMessage{
		{},
		{Ask: 1, Recall: -1, Draining: "x"},
		{Ask: 1 << 30, Recall: 1 << 30},
		{Hello: &rpc.Hello{Worker: "w2"}},
		{Tick: &rpc.Tick{Id: -1, Running: []*rpc.Running{{}, {Attempt: &rpc.AttemptID{InstanceId: -1, Task: -1, Number: -1}}}}},
		{Reports: []*rpc.Report{{}, {OutboxId: -1, Attempt: &rpc.AttemptID{}, State: "nonsense", Tail: []byte{0xff}}}},
	} {
		text, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m := &rpc.WorkerMessage{}
		if proto.Unmarshal(text, m) != nil {
			return
		}
		now := time.Now()
		l, _ := newTestLinks(&now)
		open := l.openTest("w1")
		l.Hear(context.Background(), open, m)
		if answer := open.Take(); len(answer.GetTick().GetVerdicts()) > len(m.GetTick().GetRunning()) || len(answer.GetAcks()) > len(m.GetReports()) {
			t.Fatalf("%v was answered %v", m, answer)
		}
		l.Close(open)
	})
}

func TestAHelloWithoutAnIncarnationIsNone(t *testing.T) {
	t.Parallel()
	for _, incarnation := range []string{"", "..", "a b", "a/b", strings.Repeat("x", 129), "\x00"} {
		if checkHello(&rpc.Hello{Worker: "w1", Incarnation: incarnation}, "w1") == nil {
			t.Errorf("incarnation %.20q was taken", incarnation)
		}
	}
	if err := checkHello(&rpc.Hello{Worker: "w1", Incarnation: "18cf04c2"}, "w1"); err != nil {
		t.Error(err)
	}
	if checkHello(&rpc.Hello{Worker: "w2", Incarnation: "18cf04c2"}, "w1") == nil {
		t.Error("a worker was taken for another one")
	}
}
