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

// reportMessage is what a worker sends for the end of one.
func reportMessage() *WorkerMessage {
	return &WorkerMessage{Ask: 1, Reports: []*Report{{
		OutboxId: 7, Attempt: &AttemptID{InstanceId: 1 << 40, Task: 3, Number: 1, Token: "0123456789abcdef"}, State: "success",
		StartedAt: 1_700_000_000_000, FinishedAt: 1_700_000_001_000, Outputs: map[string]string{"rows": "42"}, Tail: []byte("done\n"), LogBytes: 5,
	}}}
}

// BenchmarkReport is the same for a report.
func BenchmarkReport(b *testing.B) {
	m := reportMessage()
	b.ReportAllocs()
	for b.Loop() {
		text, err := proto.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		var got WorkerMessage
		if err := proto.Unmarshal(text, &got); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMessagesAreEncodedAndDecodedWithinTheirBudgets holds how often master and worker allocate for a dispatch and for a report, of
// which each task makes one: a field that is boxed, or a second copy, shows here. It runs alone, as all that counts allocations.
func TestMessagesAreEncodedAndDecodedWithinTheirBudgets(t *testing.T) {
	for _, c := range []struct {
		what           string
		message, empty proto.Message
		encode, decode float64
	}{
		{"dispatch", dispatchMessage(), &MasterMessage{}, 12, 28},
		{"report", reportMessage(), &WorkerMessage{}, 7, 17},
	} {
		text, err := proto.Marshal(c.message)
		if err != nil {
			t.Fatal(err)
		}
		encoded := testing.AllocsPerRun(100, func() {
			if _, err := proto.Marshal(c.message); err != nil {
				t.Error(err)
			}
		})
		decoded := testing.AllocsPerRun(100, func() {
			if err := proto.Unmarshal(text, c.empty); err != nil { // which resets it
				t.Error(err)
			}
		})
		t.Logf("a %s: %.0f allocations to encode, %.0f to decode", c.what, encoded, decoded)
		if encoded > c.encode || decoded > c.decode {
			t.Errorf("a %s is encoded with %.0f allocations and decoded with %.0f, the budgets are %.0f and %.0f", c.what, encoded, decoded, c.encode, c.decode)
		}
	}
}
