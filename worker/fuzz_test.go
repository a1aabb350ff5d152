package worker

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/porpoise/porpoise/internal/rpc"
)

// FuzzOutboxRecord reads whatever an outbox's file holds: it is taken or refused, and what is taken can be
// sent.
func FuzzOutboxRecord(f *testing.F) {
	report, err := proto.Marshal(&rpc.Report{OutboxId: 7, Attempt: &rpc.AttemptID{InstanceId: 1, Number: 1, Token: "t"}, State: "success"})
	if err != nil {
		f.Fatal(err)
	}
	for kind := range byte(7) {
		f.Add(kind, report)
		f.Add(kind, []byte{})
		f.Add(kind, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	}
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		k := &kept{reports: map[int64]*rpc.Report{}, begun: map[string]*rpc.AttemptID{}, nextID: 1, life: 1}
		for range 2 {
			if k.replay(kind, data) != nil {
				return
			}
		}
		if len(k.reports) > 1 || len(k.begun) > 1 {
			t.Fatalf("one record made %d reports and %d calls", len(k.reports), len(k.begun))
		}
		for id, r := range k.reports {
			if r.OutboxId != id || proto.Size(r) > len(data) {
				t.Fatalf("report %d is kept as %d", r.OutboxId, id)
			}
		}
	})
}
