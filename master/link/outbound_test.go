package link

import (
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/porpoise/porpoise/internal/rpc"
)

// pipe is a stream that hands messages to the test.
type pipe chan *rpc.MasterMessage

func (p pipe) Send(m *rpc.MasterMessage) error { p <- m; return nil }

func TestWhatIsAddedDuringASendTravelsTogether(t *testing.T) {
	t.Parallel()
	o := newOutbound()
	stream := make(pipe)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- o.run(ctx, stream) }()
	ack := func(id int64) {
		o.add(func(m *rpc.MasterMessage) { m.Acks = append(m.Acks, &rpc.Ack{OutboxId: id}) })
	}
	ack(0)
	first := <-stream
	for id := range int64(100) {
		ack(id + 1)
	}
	got := len(first.GetAcks())
	messages := 1
	for got < 101 {
		got += len((<-stream).GetAcks())
		messages++
	}
	// The sender may have taken a few before the others were there.
	if messages > 10 {
		t.Errorf("101 acks took %d messages", messages)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("run ended with %v", err)
	}
}

func TestLargeDispatchesAreSplitUnderTheLimitOfAMessage(t *testing.T) {
	t.Parallel()
	m := &rpc.MasterMessage{Acks: []*rpc.Ack{{OutboxId: 1}}}
	for range 20 {
		m.Dispatches = append(m.Dispatches, &rpc.Dispatch{Spec: make([]byte, 400<<10)})
	}
	total := 0
	messages := split(m)
	for i, part := range messages {
		if size := proto.Size(part); size > 3<<20 {
			t.Errorf("message %d has %d bytes", i, size)
		}
		total += len(part.GetDispatches())
	}
	if total != 20 || len(messages[0].GetAcks()) != 1 {
		t.Errorf("%d dispatches and %d acks after the split, want 20 and 1", total, len(messages[0].GetAcks()))
	}
}
