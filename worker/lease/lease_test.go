package lease

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTermIsDueASecondBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	const until = time.Hour
	for now, want := range map[time.Duration]Phase{
		0: Valid, until - TermBefore - 1: Valid, until - TermBefore: Ending, until - 1: Ending, until: Over, until + time.Hour: Over,
	} {
		if got := At(until, now); got != want {
			t.Errorf("%v before the deadline the phase is %d, want %d", until-now, got, want)
		}
	}
	if At(0, time.Hour) != Valid {
		t.Error("an attempt without a deadline has ended")
	}
}

func TestADeadlineFollowsTheNewestEvidenceOfItsOwnOwner(t *testing.T) {
	t.Parallel()
	var b Book
	if b.Until("m1") != 0 {
		t.Error("a deadline without evidence")
	}
	b.Answered("m1", 10*time.Second)
	b.Answered("m2", 20*time.Second)
	b.Answered("m1", 9*time.Second) // an answer that was overtaken
	b.Renewed(12 * time.Second)
	for owner, want := range map[string]time.Duration{"m1": 18 * time.Second, "m2": 26 * time.Second, "": 18 * time.Second, "m3": 18 * time.Second} {
		if got := b.Until(owner); got != want {
			t.Errorf("deadline with owner %q = %v, want %v", owner, got, want)
		}
	}
}

func TestAMomentFirstSeenAfterASleepCountsAsBeforeIt(t *testing.T) {
	t.Parallel()
	var s Sighting
	wall, boot := time.Now(), 100*time.Second
	if got := s.See(wall.Add(-time.Second), wall, boot); got != 99*time.Second {
		t.Errorf("a second ago = %v, want 99s", got)
	}
	old := wall.Add(-time.Second)
	wall, boot = wall.Add(time.Second), boot+61*time.Second // a minute asleep
	if got := s.See(old, wall, boot); got != 99*time.Second {
		t.Errorf("the same moment after a sleep = %v, want as before", got)
	}
	fresh := wall.Add(-100 * time.Millisecond)
	if got := s.See(fresh, wall, boot); got > 101*time.Second {
		t.Errorf("a moment first seen after a sleep = %v, want one before it", got)
	}
	wall, boot = wall.Add(time.Second), boot+time.Second
	if got := s.See(wall, wall, boot); got != boot {
		t.Errorf("now = %v, want %v", got, boot)
	}
}

// The proof that two attempts never overlap, at random: a worker sends renewals and ticks that arrive late or
// never, answers come late or never, and control process and runner are stopped at any moment. Whenever the
// master's side says lost, the deadline that the runner holds is at least a second past.
func TestALostAttemptIsPastItsDeadline(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const step = 100 * time.Millisecond
		var b Book
		var held time.Duration            // by the runner
		var keyUntil, heard time.Duration // the registry's lease, and when the master last heard the link
		now := time.Hour
		b.Renewed(now)
		b.Answered("m1", now)
		held, keyUntil, heard = b.Until("m1"), now+Length, now
		type event struct {
			at time.Duration
			do func()
		}
		var due []event
		up := map[string]bool{"registry": true, "link": true, "control": true}
		for range 300 {
			now += step
			if rapid.IntRange(0, 39).Draw(t, "turn") == 0 {
				what := rapid.SampledFrom([]string{"registry", "link", "control"}).Draw(t, "what")
				up[what] = !up[what]
			}
			kept := due[:0]
			for _, e := range due {
				if e.at <= now {
					e.do()
				} else {
					kept = append(kept, e)
				}
			}
			due = kept
			late := func() time.Duration { return time.Duration(rapid.IntRange(1, 30).Draw(t, "late")) * step }
			sent := now
			if up["control"] && int(now/step)%15 == 0 && up["registry"] {
				due = append(due, event{now + late(), func() {
					keyUntil = max(keyUntil, now+Length)
					due = append(due, event{now + late(), func() { b.Renewed(sent) }})
				}})
			}
			if up["control"] && int(now/step)%10 == 0 && up["link"] {
				due = append(due, event{now + late(), func() {
					heard = now
					due = append(due, event{now + late(), func() { b.Answered("m1", sent) }})
				}})
			}
			if up["control"] && int(now/step)%10 == 5 {
				held = max(held, b.Until("m1"))
			}
			if now > keyUntil && now-heard > Length+time.Second && now < held+time.Second {
				t.Fatalf("lost %v before a second after the runner's deadline", held+time.Second-now)
			}
		}
	})
}
