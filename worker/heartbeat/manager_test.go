package heartbeat

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// start is any moment of a clock that never runs back.
const start = time.Hour

func standard() Settings { return Settings{}.WithDefaults() }

// literal is the mechanism one attempt at a time: a beat per second, a cycle of two minutes.
func literal() Settings {
	return Settings{Timeout: 300 * time.Second, Cycle: 120 * time.Second, Period: time.Second, Batch: 1, MaxRetry: 3}.WithDefaults()
}

// modes runs a test at the defaults and one attempt at a time (T18).
func modes(t *testing.T, test func(t *testing.T, set Settings)) {
	t.Helper()
	for name, set := range map[string]Settings{"batched": standard(), "literal": literal()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, set)
		})
	}
}

func name(i int) string { return fmt.Sprintf("a%04d", i) }

// filled makes a manager with n attempts of an owner.
func filled(set Settings, n int, owner string) *Manager {
	m := New(set)
	for i := range n {
		m.Add(name(i), owner, start)
	}
	return m
}

// all gives every attempt of a message the same verdict.
func all(m Message, kind string) []Verdict {
	out := make([]Verdict, len(m.Attempts))
	for i, a := range m.Attempts {
		out[i] = Verdict{Attempt: a, Kind: kind}
	}
	return out
}

// one takes the only message of a tick.
func one(t *testing.T, messages []Message) Message {
	t.Helper()
	if len(messages) != 1 {
		t.Fatalf("%d messages, want one: %v", len(messages), messages)
	}
	return messages[0]
}

// T1, T2, H4 to H6, H8: every attempt beats once in every cycle, none twice, with one message per tick at most.
func TestEveryAttemptBeatsOnceInEveryCycle(t *testing.T) {
	t.Parallel()
	modes(t, func(t *testing.T, set Settings) {
		n := set.Capacity()
		m := filled(set, n, "m1")
		now := start
		for cycle := range 3 {
			beats := map[string]int{}
			for range int(set.Cycle / set.Period) {
				messages := m.Tick(now, []string{"m1"})
				if len(messages) > 1 {
					t.Fatalf("%d messages in one tick", len(messages))
				}
				for _, msg := range messages {
					for _, a := range msg.Attempts {
						beats[a]++
					}
					m.Answer("m1", msg.ID, all(msg, "ok"), now)
				}
				now += set.Period
			}
			if len(beats) != n {
				t.Errorf("cycle %d: %d of %d attempts beat", cycle, len(beats), n)
			}
			for a, times := range beats {
				if times != 1 {
					t.Errorf("cycle %d: %s beat %d times", cycle, a, times)
				}
			}
		}
		if f := m.Figures(now); f.Overruns != 0 || f.Lapsed != 0 || f.Main+f.Backup != n {
			t.Errorf("figures = %+v", f)
		}
	})
}

// T3, H14: what was throttled is first again, in its order, after the time that the master named.
func TestThrottledAttemptsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	set := standard()
	set.Batch = 3
	m := filled(set, 9, "m1")
	first := one(t, m.Tick(start, []string{"m1"}))
	verdicts := all(first, "throttled")
	for i := range verdicts {
		verdicts[i].RetryAfter = 2 * time.Second
	}
	m.Answer("m1", first.ID, verdicts, start)
	if got := m.Tick(start+time.Second, []string{"m1"}); len(got) != 0 {
		t.Errorf("sent %v before the time that the master named", got)
	}
	again := one(t, m.Tick(start+2*time.Second, []string{"m1"}))
	if !slices.Equal(again.Attempts, first.Attempts) {
		t.Errorf("after the throttling %v went out, want %v", again.Attempts, first.Attempts)
	}
	if f := m.Figures(start); f.Throttled != 3 {
		t.Errorf("%d throttled, want 3", f.Throttled)
	}
}

// T4, H15, H16: an error sends an attempt to the end, in the same cycle, and delays nobody.
func TestAnErrorGoesLast(t *testing.T) {
	t.Parallel()
	set := standard()
	set.Batch, set.Cycle, set.Timeout = 1, 20*time.Second, time.Minute
	m := filled(set, 3, "m1")
	now := start
	var order []string
	for range 4 {
		msg := one(t, m.Tick(now, []string{"m1"}))
		order = append(order, msg.Attempts...)
		kind := "ok"
		if len(order) == 1 {
			kind = "error"
		}
		m.Answer("m1", msg.ID, all(msg, kind), now)
		now += time.Second
	}
	if want := []string{name(0), name(1), name(2), name(0)}; !slices.Equal(order, want) {
		t.Errorf("order = %v, want %v", order, want)
	}
}

// T5, H15: after too many errors an attempt waits for the next cycle, and is first of it.
func TestTooManyErrorsWaitForTheNextCycle(t *testing.T) {
	t.Parallel()
	set := standard()
	set.Cycle, set.Timeout = 20*time.Second, time.Minute
	m := filled(set, 2, "m1")
	now, sent := start, 0
	for ; now < start+set.Cycle; now += time.Second {
		for _, msg := range m.Tick(now, []string{"m1"}) {
			var verdicts []Verdict
			for _, a := range msg.Attempts {
				kind := "ok"
				if a == name(1) {
					kind = ""
					sent++
				}
				verdicts = append(verdicts, Verdict{Attempt: a, Kind: kind})
			}
			m.Answer("m1", msg.ID, verdicts, now)
		}
	}
	if sent != 1+set.MaxRetry {
		t.Errorf("%d tries in a cycle, want %d", sent, 1+set.MaxRetry)
	}
	if msg := one(t, m.Tick(now, []string{"m1"})); msg.Attempts[0] != name(1) {
		t.Errorf("first of the next cycle is %s, want the one that missed the last", msg.Attempts[0])
	}
	if f := m.Figures(now); f.Moved != 1 {
		t.Errorf("%d moved, want 1", f.Moved)
	}
}

// T6, H13: whatever says that an attempt is not wanted is told once, and it never beats again, also
// when the word comes after a cycle has moved it.
func TestUnwantedAttemptsAreGoneForGood(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"gone", "cancelled", "stale"} {
		m := filled(standard(), 2, "m1")
		msg := one(t, m.Tick(start, []string{"m1"}))
		now := start + Send + time.Second
		m.Tick(now, []string{"m2"}) // given up, and a new cycle: both are in main again
		verdicts := []Verdict{{Attempt: name(0), Kind: kind}, {Attempt: name(1), Kind: "ok"}}
		if got := m.Answer("m1", msg.ID, verdicts, now); len(got) != 1 || got[0].Attempt != name(0) {
			t.Errorf("%s: unwanted = %v, want %s", kind, got, name(0))
		}
		if got := m.Answer("m1", msg.ID, verdicts, now); len(got) != 0 {
			t.Errorf("%s: told again: %v", kind, got)
		}
		for range 30 {
			now += time.Second
			for _, msg := range m.Tick(now, []string{"m1"}) {
				if slices.Contains(msg.Attempts, name(0)) {
					t.Fatalf("%s: it beats on", kind)
				}
				m.Answer("m1", msg.ID, all(msg, "ok"), now)
			}
		}
	}
}

// T7: an attempt that ends while its beat is under way leaves nothing behind.
func TestAnEndDuringABeatLeavesNothing(t *testing.T) {
	t.Parallel()
	m := filled(standard(), 1, "m1")
	msg := one(t, m.Tick(start, []string{"m1"}))
	m.Remove(name(0))
	m.Answer("m1", msg.ID, all(msg, "ok"), start)
	m.Tick(start+time.Minute, []string{"m1"})
	if f := m.Figures(start); f.Main+f.Backup+f.InFlight != 0 || len(m.Attempts()) != 0 {
		t.Errorf("left: %+v", f)
	}
}

// T8, H7: while a beat is under way its attempt is not sent again, until the beat has failed.
func TestNoAttemptIsInTwoMessages(t *testing.T) {
	t.Parallel()
	m := filled(standard(), 300, "m1")
	flying := map[string]bool{}
	now := start
	for ; now < start+Send; now += time.Second {
		for _, msg := range m.Tick(now, []string{"m1"}) {
			for _, a := range msg.Attempts {
				if flying[a] {
					t.Fatalf("%s is sent again after %v without an answer", a, now-start)
				}
				flying[a] = true
			}
		}
	}
	if len(flying) != 300 {
		t.Errorf("%d sent", len(flying))
	}
	if f := m.Figures(now); f.InFlight != 300 {
		t.Errorf("figures = %+v", f)
	}
}

// T9, H18: after a stall there is no burst, however many ticks come at once.
func TestNoBurstAfterAStall(t *testing.T) {
	t.Parallel()
	modes(t, func(t *testing.T, set Settings) {
		set.Batch = 1
		m := filled(set, 60, "m1")
		for i := range 5 {
			now := start + time.Duration(i)*set.Period
			for _, msg := range m.Tick(now, []string{"m1"}) {
				m.Answer("m1", msg.ID, all(msg, "ok"), now)
			}
		}
		now, sent := start+5*time.Second+time.Minute, 0
		for range 60 { // every tick that was missed, at once
			sent += len(m.Tick(now, []string{"m1"}))
		}
		if sent > bucket {
			t.Errorf("%d messages at once after a stall, want %d at most", sent, bucket)
		}
		for range 20 {
			now += set.Period / 10
			sent += len(m.Tick(now, []string{"m1"}))
		}
		if sent > bucket+2 {
			t.Errorf("%d messages in the two periods after a stall, want %d at most", sent, bucket+2)
		}
	})
}

// T12: an owner that changes in the middle of a cycle loses no beat, and no late word of the old one counts.
func TestAnOwnerMayChangeDuringACycle(t *testing.T) {
	t.Parallel()
	m := filled(standard(), 3, "m1")
	msg := one(t, m.Tick(start, []string{"m1", "m2"}))
	m.Move(name(0), "m2") // told by the new owner's dispatch
	m.Answer("m1", msg.ID, []Verdict{
		{Attempt: name(0), Kind: "ok"}, {Attempt: name(1), Kind: "not_owner", Owner: "m2"}, {Attempt: name(2), Kind: "not_owner"},
	}, start)
	now := start + time.Second
	to := map[string]string{}
	for range 12 {
		for _, msg := range m.Tick(now, []string{"m1", "m2"}) {
			for _, a := range msg.Attempts {
				to[a] = msg.To
			}
			kind := "ok"
			if msg.To == "m1" {
				kind = "not_owner"
			}
			m.Answer(msg.To, msg.ID, all(msg, kind), now)
		}
		now += time.Second
	}
	for i := range 3 {
		if to[name(i)] != "m2" {
			t.Errorf("%s last beat to %q, want m2", name(i), to[name(i)])
		}
	}
	if lapsed := m.Lapsed(now); len(lapsed) != 0 {
		t.Errorf("lapsed: %v", lapsed)
	}
}

// T16, H16: a master that does not answer, or throttles for an hour, delays no beat to another one.
func TestOneSlowMasterDelaysNoOther(t *testing.T) {
	t.Parallel()
	modes(t, func(t *testing.T, set Settings) {
		m := New(set)
		n := set.Capacity() / 2
		for i := range n {
			m.Add(fmt.Sprint("quick", i), "quick", start)
			m.Add(fmt.Sprint("slow", i), "slow", start)
			m.Add(fmt.Sprint("busy", i), "busy", start)
		}
		last := map[string]time.Duration{}
		for now := start; now < start+4*set.Cycle; now += set.Period {
			for _, msg := range m.Tick(now, []string{"busy", "quick", "slow"}) {
				switch msg.To {
				case "quick":
					for _, a := range msg.Attempts {
						if gap := now - last[a]; last[a] != 0 && gap > set.Cycle+set.Period {
							t.Fatalf("%s was silent for %v", a, gap)
						}
						last[a] = now
					}
					m.Answer("quick", msg.ID, all(msg, "ok"), now)
				case "busy":
					verdicts := all(msg, "throttled")
					verdicts[0].RetryAfter = time.Hour
					m.Answer("busy", msg.ID, verdicts, now)
				}
			}
		}
		if len(last) != n {
			t.Errorf("%d of %d attempts of the quick master beat", len(last), n)
		}
	})
}

// H1, T14: silence is time since the last beat that was answered well was sent, on a clock of its own: by its
// type no wall clock can come in. It is told once.
func TestSilenceIsMeasuredFromSending(t *testing.T) {
	t.Parallel()
	set := standard()
	m := filled(set, 1, "m1")
	msg := one(t, m.Tick(start, []string{"m1"}))
	m.Answer("m1", msg.ID, all(msg, "ok"), start+4*time.Second)
	if got := m.Figures(start + 4*time.Second).Oldest; got != 4*time.Second {
		t.Errorf("silence = %v, want it counted from sending", got)
	}
	if got := m.Lapsed(start + set.Timeout); len(got) != 0 {
		t.Errorf("lapsed at the timeout: %v", got)
	}
	for i, want := range []int{1, 0} {
		if got := m.Lapsed(start + set.Timeout + time.Millisecond); len(got) != want {
			t.Errorf("look %d after the timeout: %v", i, got)
		}
	}
	m.Delivered(name(0), start+set.Timeout)
	if got := m.Lapsed(start + 2*set.Timeout + time.Millisecond); len(got) != 1 {
		t.Errorf("after a report that was taken and another timeout: %v", got)
	}
}

// T13, H10, H11: settings that break a law are refused by name.
func TestSettingsThatBreakALawAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set   Settings
		slots int
		names string // of the setting; "" is accepted
	}{
		{Settings{}, 500, ""},
		{Settings{}, 501, "slots"},
		{literal(), 60, ""},
		{literal(), 61, "slots"},
		{Settings{Timeout: 300 * time.Second, Cycle: 120 * time.Second}, 16, ""},
		{Settings{Timeout: 300 * time.Second, Cycle: 180 * time.Second}, 16, "heartbeat-cycle"},
		{Settings{Cycle: 6 * time.Second}, 16, "heartbeat-cycle"},
		{Settings{Cycle: 500 * time.Millisecond}, 16, "heartbeat-cycle"},
		{Settings{Timeout: time.Second}, 16, "heartbeat-cycle"},
		{Settings{Timeout: -time.Second}, 16, "heartbeat-timeout"},
		{Settings{Period: time.Millisecond}, 16, "heartbeat-period"},
		{Settings{Batch: -1}, 16, "heartbeat-batch"},
		{Settings{Batch: MaxBatch + 1}, 16, "heartbeat-batch"},
		{Settings{MaxRetry: 1000}, 16, "heartbeat-max-retry"},
	} {
		err := c.set.WithDefaults().Err(c.slots)
		switch {
		case c.names == "" && err != nil:
			t.Errorf("%+v, %d slots: %v", c.set, c.slots, err)
		case c.names != "" && (err == nil || err.Error()[:len(c.names)+1] != c.names+":"):
			t.Errorf("%+v, %d slots: %v, want one about %s", c.set, c.slots, err, c.names)
		}
	}
}

func TestTheDefaultBatchHoldsAnyNumberOfSlots(t *testing.T) {
	t.Parallel()
	for slots, want := range map[int]int{1: Batch, 500: Batch, 501: 201, 1024: 410, 4096: 1639} {
		set := standard()
		set.Batch = BatchFor(slots)
		if err := set.Err(slots); set.Batch != want || err != nil {
			t.Errorf("%d slots: batch %d, %v; want %d", slots, set.Batch, err, want)
		}
	}
}

// T11, H19, H23: whatever masters answer, and in whatever order, every live attempt is in exactly one place;
// and once they answer well again none is silent for more than two cycles.
func TestNoAttemptIsEverLostOrStarved(t *testing.T) {
	t.Parallel()
	masters := []string{"m1", "m2", "m3"}
	rapid.Check(t, func(t *rapid.T) {
		set := standard()
		set.Batch = rapid.IntRange(1, 5).Draw(t, "batch")
		m := New(set)
		live, owner := map[string]bool{}, map[string]string{}
		now, next := start, 0
		var flying []Message
		check := func() {
			t.Helper()
			f := m.Figures(now)
			if f.Main+f.Backup+f.InFlight != len(live) || len(m.Attempts()) != len(live) {
				t.Fatalf("%d live, but %d in main, %d in backup, %d in flight", len(live), f.Main, f.Backup, f.InFlight)
			}
			queued := 0
			for _, q := range m.byOwner {
				queued += q.main.Len() + q.backup.Len()
			}
			if queued != f.Main+f.Backup {
				t.Fatalf("%d are queued, %d say so", queued, f.Main+f.Backup)
			}
		}
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				if len(live) < set.Capacity() {
					a, o := name(next), rapid.SampledFrom(append(masters, "", "away")).Draw(t, "owner")
					m.Add(a, o, now)
					live[a], owner[a], next = true, rapid.SampledFrom(masters).Draw(t, "truth"), next+1
				}
			case 1:
				if names := m.Attempts(); len(names) > 0 {
					a := rapid.SampledFrom(names).Draw(t, "ended")
					m.Remove(a)
					delete(live, a)
				}
			case 2, 3:
				up := masters[:rapid.IntRange(0, 3).Draw(t, "up")]
				flying = append(flying, m.Tick(now, up)...)
			case 4:
				if len(flying) > 0 {
					i := rapid.IntRange(0, len(flying)-1).Draw(t, "answered")
					msg := flying[i]
					if rapid.Bool().Draw(t, "once") {
						flying = slices.Delete(flying, i, i+1)
					}
					var verdicts []Verdict
					for _, a := range msg.Attempts {
						kind := rapid.SampledFrom([]string{"ok", "gone", "stale", "throttled", "not_owner", "error", "none"}).Draw(t, "verdict")
						if kind != "none" {
							hint := rapid.SampledFrom([]string{"", "m1", "m2", "away"}).Draw(t, "hint")
							verdicts = append(verdicts, Verdict{Attempt: a, Kind: kind, Owner: hint})
						}
					}
					for _, v := range m.Answer(msg.To, msg.ID, verdicts, now) {
						if !live[v.Attempt] {
							t.Fatalf("%s is unwanted and was not there", v.Attempt)
						}
						delete(live, v.Attempt)
					}
				}
			case 5:
				m.Failed(rapid.SampledFrom(masters).Draw(t, "failed"))
			case 6:
				now += time.Duration(rapid.IntRange(0, 8000).Draw(t, "ms")) * time.Millisecond
			}
			check()
		}
		// From here on all masters are well; what was on its way is lost.
		heal := now + set.Timeout + set.Cycle
		for ; now < heal+4*set.Cycle; now += set.Period {
			for _, msg := range m.Tick(now, masters) {
				var verdicts []Verdict
				for _, a := range msg.Attempts {
					v := Verdict{Attempt: a, Kind: "ok"}
					if owner[a] != msg.To {
						v = Verdict{Attempt: a, Kind: "not_owner", Owner: owner[a]}
					}
					verdicts = append(verdicts, v)
				}
				m.Answer(msg.To, msg.ID, verdicts, now)
			}
			check()
			if oldest := m.Figures(now).Oldest; now > heal+2*set.Cycle && oldest > 2*set.Cycle {
				t.Fatalf("an attempt was silent for %v, two cycles are %v", oldest, 2*set.Cycle)
			}
		}
	})
}
