package link

import (
	"context"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/porpoise/porpoise/internal/rpc"
)

const (
	// maxMessage keeps a batch well under the 4 MiB that a peer accepts.
	maxMessage = 1 << 20
	// maxPending bounds the parts that wait for a worker that reads too slowly; then its link is closed,
	// and what it missed is sent again on the next.
	maxPending = 200_000
)

// outbound gathers what is to be sent while the message before is on its way.
type outbound struct {
	some chan struct{}

	mu      sync.Mutex
	message *rpc.MasterMessage
	parts   int
}

func newOutbound() *outbound {
	return &outbound{some: make(chan struct{}, 1), message: &rpc.MasterMessage{}}
}

// add lets put append to the next message; it never blocks.
func (o *outbound) add(put func(*rpc.MasterMessage)) {
	o.mu.Lock()
	if o.parts < maxPending {
		o.parts++
		put(o.message)
	}
	o.mu.Unlock()
	select {
	case o.some <- struct{}{}:
	default:
	}
}

// take returns what was added since, nil for nothing.
func (o *outbound) take() *rpc.MasterMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.parts == 0 {
		return nil
	}
	m := o.message
	o.message, o.parts = &rpc.MasterMessage{}, 0
	return m
}

// sender is the part of a stream that outbound writes to.
type sender interface {
	Send(message *rpc.MasterMessage) error
}

// run sends what is added until ctx ends or the stream fails.
func (o *outbound) run(ctx context.Context, stream sender) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-o.some:
		}
		message := o.take()
		if message == nil {
			continue
		}
		for _, message := range split(message) {
			if err := stream.Send(message); err != nil {
				return err
			}
		}
	}
}

// split cuts a message whose dispatches are too large for one; the rest of it goes first.
func split(m *rpc.MasterMessage) []*rpc.MasterMessage {
	dispatches := m.Dispatches
	m.Dispatches = nil
	messages := []*rpc.MasterMessage{m}
	size := 0
	for _, d := range dispatches {
		n := proto.Size(d)
		if size > 0 && size+n > maxMessage {
			m = &rpc.MasterMessage{}
			messages = append(messages, m)
			size = 0
		}
		size += n
		m.Dispatches = append(m.Dispatches, d)
	}
	return messages
}
