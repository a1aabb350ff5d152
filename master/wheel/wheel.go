// Package wheel is the time wheel of a master: every timeout, retry delay and
// deadline of its instances waits here. It owns the armed moments and nothing else;
// what they mean is decided by whoever receives them. Moments are absolute, so a
// wheel is rebuilt from rows at a takeover. engine arms it; master runs it.
package wheel

import (
	"context"
	"math/bits"
	"sync"
	"time"
)

// The wheel is hierarchical: level l has 64 slots of 64^l ms. Arming, disarming and
// firing cost O(1) amortised, whatever waits; six levels reach two years, later
// moments are re-armed as they come into reach.
const (
	slotBits = 6
	slots    = 1 << slotBits
	levels   = 6
)

// afterPanic is when a key whose firing panicked comes again: behind the others, so that it holds none of them up.
const afterPanic = 5 * time.Second

// Wheel holds armed keys until their moment. All methods may be called by any
// goroutine; Advance, which Run calls, by one at a time.
type Wheel[K comparable] struct {
	fire  func(K)
	clock func() time.Time

	mu      sync.Mutex
	now     int64 // every moment up to here has been fired
	entries map[K]*entry[K]
	slot    [levels][slots]*entry[K]
	used    [levels]uint64 // bit per slot that holds an entry
	wake    chan struct{}
}

type entry[K comparable] struct {
	key         K
	at          int64
	level, slot int
	prev, next  *entry[K]
}

// New returns a wheel that calls fire, from the goroutine that calls Advance and without a
// lock held, for each key whose moment has come. fire must not block for long. The clock is
// what Run goes by; nil is time.Now.
func New[K comparable](clock func() time.Time, fire func(K)) *Wheel[K] {
	if clock == nil {
		clock = time.Now
	}
	return &Wheel[K]{
		fire:    fire,
		clock:   clock,
		now:     clock().UnixMilli(),
		entries: make(map[K]*entry[K]),
		wake:    make(chan struct{}, 1),
	}
}

// Arm sets the moment of key, in UTC milliseconds, and replaces an earlier one. A
// moment in the past fires at once.
func (w *Wheel[K]) Arm(key K, at int64) {
	w.mu.Lock()
	if e := w.entries[key]; e != nil {
		w.unlink(e)
	}
	e := &entry[K]{key: key, at: at}
	w.entries[key] = e
	w.place(e)
	w.mu.Unlock()
	w.Look()
}

// Disarm forgets key; a key that is not armed is fine.
func (w *Wheel[K]) Disarm(key K) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.entries[key]; e != nil {
		w.unlink(e)
		delete(w.entries, key)
	}
}

// Len returns how many keys are armed.
func (w *Wheel[K]) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.entries)
}

// Run fires keys as their moments come, until ctx ends. A key never fires early;
// it sleeps while nothing is near.
func (w *Wheel[K]) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if wait, some := w.Turn(); some {
			timer.Reset(wait)
		} else {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-w.wake:
		}
	}
}

// Turn is Advance by the wheel's own clock; it returns how long to wait before the next.
func (w *Wheel[K]) Turn() (wait time.Duration, some bool) {
	next, some := w.Advance(w.clock())
	return next.Sub(w.clock()), some
}

// Look has Run look at its clock, which was set.
func (w *Wheel[K]) Look() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Advance fires the keys whose moment has come, in an order that depends on nothing but the
// calls before, and returns the moment to look again; some is false while nothing is armed.
// Where fire panics no key is lost: those behind come at the next call, the one itself a little later.
func (w *Wheel[K]) Advance(now time.Time) (next time.Time, some bool) {
	due, at := w.advance(now.UnixMilli())
	fired := 0
	defer func() {
		for i, key := range due[fired:] {
			moment := now
			if i == 0 {
				moment = now.Add(afterPanic)
			}
			w.rearm(key, moment.UnixMilli())
		}
	}()
	for _, key := range due {
		w.fire(key)
		fired++
	}
	return time.UnixMilli(at), at >= 0
}

// rearm arms a key that has not been armed again since it came due.
func (w *Wheel[K]) rearm(key K, at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.entries[key] != nil {
		return
	}
	e := &entry[K]{key: key, at: at}
	w.entries[key] = e
	w.place(e)
}

// advance moves the wheel to now and returns the keys that came due, in the order of
// their moments' slots, and the moment to look again; -1 while nothing is armed.
func (w *Wheel[K]) advance(now int64) (due []K, next int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now < w.now {
		w.back(now)
	}
	for {
		at := w.nextSlot()
		if at < 0 || at > now {
			w.now = now
			return due, at
		}
		w.now = max(w.now, at)
		due = w.turn(due)
	}
}

// back moves the wheel to an earlier moment with all that is armed: where the clock was set back, what is armed from then
// on would wait until it is as late again.
func (w *Wheel[K]) back(now int64) {
	armed := w.slot
	w.slot, w.used, w.now = [levels][slots]*entry[K]{}, [levels]uint64{}, now
	for level := range armed {
		for _, e := range armed[level] {
			for e != nil {
				next := e.next
				w.place(e)
				e = next
			}
		}
	}
}

// turn empties every slot that w.now has reached: due keys fire, the others move to a
// finer level.
func (w *Wheel[K]) turn(due []K) []K {
	for level := range levels {
		slot := int(w.now>>(level*slotBits)) & (slots - 1)
		if w.used[level]&(1<<slot) == 0 {
			continue
		}
		for e := w.slot[level][slot]; e != nil; e = w.slot[level][slot] {
			w.unlink(e)
			if e.at <= w.now {
				delete(w.entries, e.key)
				due = append(due, e.key)
				continue
			}
			w.place(e)
			if e.level == level && e.slot == slot {
				break // a moment beyond the wheel's reach: it waits for the next turn
			}
		}
	}
	return due
}

// nextSlot returns the moment at which the nearest used slot is reached.
func (w *Wheel[K]) nextSlot() int64 {
	nearest := int64(-1)
	for level := range levels {
		if w.used[level] == 0 {
			continue
		}
		shift := level * slotBits
		current := int(w.now>>shift) & (slots - 1)
		// Rotated so that bit 0 is the current slot. An entry in the current slot of the
		// finest level is due now; of a coarser one it has just been placed a turn away.
		ahead := bits.TrailingZeros64(bits.RotateLeft64(w.used[level], -current))
		if ahead == 0 && level > 0 {
			rest := bits.RotateLeft64(w.used[level], -current) &^ 1
			if ahead = slots; rest != 0 {
				ahead = bits.TrailingZeros64(rest)
			}
		}
		at := (w.now>>shift + int64(ahead)) << shift
		if nearest < 0 || at < nearest {
			nearest = at
		}
	}
	return nearest
}

// place links e into the slot for its moment, seen from now.
func (w *Wheel[K]) place(e *entry[K]) {
	at := max(e.at, w.now)
	level := 0
	for level < levels-1 && at>>(level*slotBits)-w.now>>(level*slotBits) >= slots {
		level++
	}
	shift := level * slotBits
	// Past the coarsest level's reach, the farthest slot is as good as any: it is looked
	// at again in time.
	at = min(at>>shift, w.now>>shift+slots-1)
	e.level, e.slot = level, int(at)&(slots-1)
	head := &w.slot[e.level][e.slot]
	e.prev, e.next = nil, *head
	if *head != nil {
		(*head).prev = e
	}
	*head = e
	w.used[e.level] |= 1 << e.slot
}

func (w *Wheel[K]) unlink(e *entry[K]) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		w.slot[e.level][e.slot] = e.next
		if e.next == nil {
			w.used[e.level] &^= 1 << e.slot
		}
	}
	if e.next != nil {
		e.next.prev = e.prev
	}
}
