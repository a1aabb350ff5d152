// Package lease says until when a worker's attempts may run. It owns the rule that two attempts
// of one task never overlap: a deadline is absolute, on the clock that counts the machine's sleep,
// and counts from when the newest evidence was sent that somebody still counts on the attempt. The
// control process computes deadlines with Book, the runner obeys them by Phase, the simulator uses both.
// Only Now reads a clock, and nothing here decides what a master does.
package lease

import "time"

const (
	// Length is how long evidence lasts. A worker's membership must be leased for at least as
	// long, and a master must hear nothing for a second more before it calls an attempt lost.
	Length = 6 * time.Second
	// TermBefore is how long before the deadline TERM goes out.
	TermBefore = time.Second
	// MaxHold bounds a planned absence of the control process.
	MaxHold = 60 * time.Second
)

// Phase says what a deadline means at a moment.
type Phase uint8

// The phases, in their order.
const (
	Valid  Phase = iota
	Ending       // TERM is due
	Over         // KILL is due
)

// At says how far a deadline is; 0 is none.
func At(until, now time.Duration) Phase {
	switch {
	case until == 0 || now < until-TermBefore:
		return Valid
	case now < until:
		return Ending
	default:
		return Over
	}
}

// Book knows the newest evidence: renewals of the membership, which speak for every attempt,
// and answers of masters, which speak for the attempts that they own. The zero value is an empty book. Times
// are of CLOCK_BOOTTIME.
type Book struct {
	member  time.Duration
	masters map[string]time.Duration
}

// Renewed says that a renewal that was sent then was answered.
func (b *Book) Renewed(sent time.Duration) { b.member = max(b.member, sent) }

// Answered says that a master has answered a message that was sent then.
func (b *Book) Answered(master string, sent time.Duration) {
	if b.masters == nil {
		b.masters = map[string]time.Duration{}
	}
	b.masters[master] = max(b.masters[master], sent)
}

// Member is when the newest answered renewal was sent; 0: never.
func (b *Book) Member() time.Duration { return b.member }

// Until is the deadline of an attempt of that owner; 0 where there is no evidence at all.
func (b *Book) Until(owner string) time.Duration {
	newest := b.member
	if owner != "" {
		newest = max(newest, b.masters[owner])
	}
	if newest == 0 {
		return 0
	}
	return newest + Length
}

// Sighting turns moments of a clock that stops while the machine sleeps into such of one that
// does not. The two differ by the sleep so far, which only grows: a moment that may be from before a sleep counts as
// one before it. The zero value is ready.
type Sighting struct {
	base   time.Time
	sleeps []sleep // in order; the first is what was slept before base
}

// sleep is how far the clocks were apart since a moment on the one that stops.
type sleep struct{ since, offset time.Duration }

const (
	// noise is how far apart two readings of the clocks may be without a sleep in between.
	noise = 10 * time.Millisecond
	// maxSleeps bounds what is remembered: the moments that matter are seconds old.
	maxSleeps = 8
)

// See returns when at was, given now on both clocks. It wants to be called often: what it sees for the
// first time after a sleep counts as from before.
func (s *Sighting) See(at, now time.Time, boot time.Duration) time.Duration {
	if s.base.IsZero() {
		s.base = now
	}
	mono := now.Sub(s.base)
	offset := boot - mono
	switch last := len(s.sleeps) - 1; {
	case last < 0:
		s.sleeps = []sleep{{offset: offset}}
	case offset > s.sleeps[last].offset+noise:
		s.sleeps = append(s.sleeps[max(0, last+2-maxSleeps):], sleep{since: mono, offset: offset})
	case offset < s.sleeps[last].offset:
		s.sleeps[last].offset = offset // the clocks were not read at quite the same time
	}
	then := at.Sub(s.base)
	for i := len(s.sleeps) - 1; i > 0; i-- {
		if then > s.sleeps[i].since {
			return then + s.sleeps[i].offset
		}
	}
	return then + s.sleeps[0].offset
}
