package rpc

import (
	"testing"

	"google.golang.org/protobuf/proto"
)

// dispatchMessage is what a master sends for one attempt.
func dispatchMessage() *MasterMessage {
	return &MasterMessage{Dispatches: []*Dispatch{{
		Attempt: &AttemptID{InstanceId: 1 << 40, Task: 3, Number: 1, Token: "0123456789abcdef"}, OwnerEpoch: 1, Type: "shell", Spec: []byte(`{"script":"echo x"}`),
		Env: map[string]string{"day": "2026-01-01", "PORPOISE_TASK": "t3"}, TaskName: "t3", Workflow: "daily", Project: "sales", IdempotencyKey: "0123456789abcdef0123456789abcdef", KillGraceMs: 10_000,
	}}}
}

// BenchmarkDispatch is what a dispatch costs its sender and its receiver, without the stream.
func BenchmarkDispatch(b *testing.B) {
	b.Run("encode", func(b *testing.B) {
		m := dispatchMessage()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := proto.Marshal(m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		text, err := proto.Marshal(dispatchMessage())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			var m MasterMessage
			if err := proto.Unmarshal(text, &m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestADispatchIsDecodedWithinItsBudget holds how often a worker allocates for one. It runs alone, as all that counts allocations.
func TestADispatchIsDecodedWithinItsBudget(t *testing.T) {
	const budget = 40
	text, err := proto.Marshal(dispatchMessage())
	if err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(100, func() {
		var m MasterMessage
		if err := proto.Unmarshal(text, &m); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%.0f allocations", n)
	if n > budget {
		t.Errorf("a dispatch is decoded with %.0f allocations, the budget is %d", n, budget)
	}
}
