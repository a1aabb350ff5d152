package wheel

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestEveryKeyFiresOnceAtItsMoment drives random arms, disarms and steps of the clock
// against a plain map.
func TestEveryKeyFiresOnceAtItsMoment(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := New(nil, func(int) {})
		w.now = rapid.Int64Range(0, 1<<40).Draw(t, "start")
		clock := w.now
		want := map[int]int64{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				key := rapid.IntRange(0, 20).Draw(t, "key")
				reach := rapid.SampledFrom([]int64{5, 70, 5_000, 300_000, 20_000_000, 2_000_000_000, 200_000_000_000}).Draw(t, "reach")
				at := clock + rapid.Int64Range(-3, reach).Draw(t, "in")
				w.Arm(key, at)
				want[key] = at
			case 2:
				key := rapid.IntRange(0, 20).Draw(t, "key")
				w.Disarm(key)
				delete(want, key)
			case 3:
				reach := rapid.SampledFrom([]int64{1, 64, 4_096, 1_000_000, 70_000_000_000}).Draw(t, "reach")
				clock += rapid.Int64Range(0, reach).Draw(t, "step")
				due, next := w.advance(clock)
				for _, key := range due {
					if at, ok := want[key]; !ok || at > clock {
						t.Fatalf("key %d fired at %d, want %d (armed: %v)", key, clock, at, ok)
					}
					delete(want, key)
				}
				for key, at := range want {
					if at <= clock {
						t.Fatalf("key %d of %d has not fired at %d", key, at, clock)
					}
					if next < 0 || next > at {
						t.Fatalf("next look is at %d, but key %d is due at %d", next, key, at)
					}
				}
			}
			if w.Len() != len(want) {
				t.Fatalf("Len() = %d, want %d", w.Len(), len(want))
			}
		}
	})
}

func TestRunFiresOnTheMillisecondAndSleepsOtherwise(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		fired := map[string]time.Duration{}
		w := New(nil, func(key string) { fired[key] = time.Since(start) })
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = w.Run(ctx) }()
		want := map[string]time.Duration{
			"soon": 3 * time.Millisecond, "second": time.Second, "hour": time.Hour, "year": 400 * 24 * time.Hour,
			"decade": 3650 * 24 * time.Hour,
		}
		for key, in := range want {
			w.Arm(key, start.Add(in).UnixMilli())
		}
		w.Arm("dropped", start.Add(time.Minute).UnixMilli())
		w.Arm("moved", start.Add(time.Minute).UnixMilli())
		time.Sleep(time.Second) // virtual
		w.Disarm("dropped")
		w.Arm("moved", start.Add(2*time.Hour).UnixMilli())
		want["moved"] = 2 * time.Hour
		time.Sleep(3651 * 24 * time.Hour)
		synctest.Wait()
		cancel()
		for key, in := range want {
			if fired[key] != in {
				t.Errorf("%s fired after %v, want %v", key, fired[key], in)
			}
		}
		if _, ok := fired["dropped"]; ok {
			t.Error("a disarmed key fired")
		}
	})
}

func BenchmarkArmAndDisarm(b *testing.B) {
	w := New(nil, func(int) {})
	for i := range 100_000 {
		w.Arm(i, w.now+int64(i)*37)
	}
	b.ResetTimer()
	for i := range b.N {
		w.Arm(-1, w.now+int64(i%1_000_000))
		w.Disarm(-1)
	}
}

// A key that moves to a finer level in the very turn before its moment must wait for it.
func TestAKeyJustBehindACoarseSlotDoesNotFireEarly(t *testing.T) {
	t.Parallel()
	for level := 1; level < levels; level++ {
		w := New(nil, func(int) {})
		w.now = 0
		boundary := int64(3) << (level * slotBits)
		w.Arm(level, boundary+1)
		if due, _ := w.advance(boundary); len(due) > 0 {
			t.Errorf("level %d: a key fired at %d, want %d", level, boundary, boundary+1)
		}
		if due, _ := w.advance(boundary + 1); len(due) != 1 {
			t.Errorf("level %d: %d keys fired at their moment, want 1", level, len(due))
		}
	}
}

func TestAPanicOfOneKeyLosesNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fired, poisoned := map[int]time.Duration{}, true
		begin := time.Now()
		w := New(nil, func(key int) {
			if key == 2 && poisoned {
				poisoned = false
				panic("poison")
			}
			fired[key] = time.Since(begin)
		})
		for key := range 5 {
			w.Arm(key, begin.UnixMilli()+10)
		}
		again := func() (panicked any) {
			defer func() { panicked = recover() }()
			w.Advance(time.Now())
			return nil
		}
		time.Sleep(10 * time.Millisecond)
		if again() == nil || len(fired) == 5 {
			t.Fatalf("fired %v, want a panic", fired)
		}
		w.Arm(4, begin.Add(time.Hour).UnixMilli()) // what was armed meanwhile counts
		fourth := fired[4]
		if _, some := w.Advance(time.Now()); !some {
			t.Error("nothing is armed")
		}
		time.Sleep(afterPanic)
		w.Advance(time.Now())
		for key := range 5 {
			want := 10 * time.Millisecond
			switch key {
			case 2:
				want += afterPanic
			case 4:
				want = fourth
			}
			if fired[key] != want {
				t.Errorf("key %d fired after %s, want %s", key, fired[key], want)
			}
		}
		if w.Len() != 1 {
			t.Errorf("%d keys are armed, want the one of an hour", w.Len())
		}
	})
}

// A wheel that stayed where a wrong clock had taken it would hold up all that is armed until it is as late again.
func TestAWheelGoesBackWithItsClock(t *testing.T) {
	t.Parallel()
	hour := time.Hour.Milliseconds()
	w := New(nil, func(string) {})
	w.now = 0
	w.Arm("before", 2*hour)
	w.advance(hour)
	w.Arm("while ahead", hour+1_000)
	for _, step := range []struct {
		now  int64
		want string
	}{{1_000, ""}, {2_000, "new"}, {hour + 1_000, "while ahead"}, {2 * hour, "before"}} {
		due, _ := w.advance(step.now)
		if got := strings.Join(due, " "); got != step.want {
			t.Errorf("at %d %q came due, want %q", step.now, got, step.want)
		}
		if step.now == 1_000 {
			w.Arm("new", 2_000)
		}
	}
}
