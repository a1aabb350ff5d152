// Package heartbeat decides which attempts of a worker are named to their masters and when:
// every live attempt once per cycle, in at most one message per period and master, with a main
// deque and a backup queue per master, so that a master that is slow or throttles delays nobody
// else's. It owns the order, the tries and the times. It never sends, reads a clock or
// starts a goroutine: the worker's loop and the simulator call its steps. All times are
// durations on one clock that never runs back, so that no wall clock can matter.
package heartbeat

import (
	"container/list"
	"slices"
	"time"
)

// place says where a record is; it is in exactly one place.
type place uint8

const (
	inMain     place = iota // it has not beaten in this cycle
	inBackup                // it has, or it has used up its tries
	inFlight                // it is named in a message that is not answered
	outOfQueue              // it was removed
)

// record is one attempt.
type record struct {
	id, owner string
	lastOK    time.Duration // when the last message that was answered well was sent
	tries     int
	hinted    bool // it went first once already because its owner changed
	missed    bool // it used up its tries: first of the backup in the next cycle
	lapsed    bool // told by Lapsed since its last verdict
	stray     bool // in flight to another than its owner
	place     place
	at        *list.Element // of main or backup
	flight    *flight
}

// queues are the two of one owner.
type queues struct{ main, backup *list.List }

// flight is one message on its way.
type flight struct {
	id      int64
	to      string
	sent    time.Duration
	records []*record
	over    bool // it counts as failed; an answer may still come
}

// target is a master that is sent to.
type target struct {
	tokens    float64
	filled    time.Duration
	waitUntil time.Duration // it throttled
}

// bucket is how many messages may follow each other at once after a stall.
const bucket = 2

// Message names attempts to one master.
type Message struct {
	ID       int64
	To       string
	Attempts []string
}

// Verdict is a master's answer for one attempt. Kind is ok, gone, cancelled, stale, throttled,
// not_owner, or anything else for an error.
type Verdict struct {
	Attempt    string
	Kind       string
	Owner      string // not_owner: who it is, if known
	RetryAfter time.Duration
}

// Manager paces the beats of one worker. One goroutine may use it.
type Manager struct {
	set     Settings
	records map[string]*record
	byOwner map[string]*queues
	targets map[string]*target
	flights []*flight // oldest first
	nextID  int64
	turn    int
	begun   bool
	cycleAt time.Duration // when the cycle began
	counts  Figures
	beaten  int // verdicts in this cycle
}

// New makes a manager without attempts. The settings must have passed Check.
func New(set Settings) *Manager {
	return &Manager{set: set, records: map[string]*record{}, byOwner: map[string]*queues{}, targets: map[string]*target{}}
}

// Add takes an attempt in; owner may be "" where it is not known. Its silence counts from now. One
// that is in already only changes its owner.
func (m *Manager) Add(id, owner string, now time.Duration) {
	if m.records[id] != nil {
		m.Move(id, owner)
		return
	}
	r := &record{id: id, owner: owner, lastOK: now, place: outOfQueue}
	m.records[id] = r
	m.put(r, inMain, false)
}

// Remove forgets an attempt that is over.
func (m *Manager) Remove(id string) {
	if r := m.records[id]; r != nil {
		m.take(r)
		delete(m.records, id)
	}
}

// Move gives an attempt to another owner; where it is in the cycle stays.
func (m *Manager) Move(id, owner string) {
	r := m.records[id]
	if r == nil || r.owner == owner {
		return
	}
	switch r.place {
	case inMain, inBackup:
		place := r.place
		m.take(r)
		r.owner = owner
		m.put(r, place, false)
	case inFlight, outOfQueue:
		r.owner, r.stray = owner, false
	}
}

// Delivered says that a report of the attempt, sent at that time, was taken by its owner: that is as good as a beat.
func (m *Manager) Delivered(id string, sent time.Duration) {
	if r := m.records[id]; r != nil {
		m.ok(r, sent)
	}
}

// Tick is one period: it gives the messages that go out now, at most one per master. up names
// the masters that can be reached, in order; attempts of any other owner go to each of them in turn.
func (m *Manager) Tick(now time.Duration, up []string) []Message {
	m.expire(now)
	if !m.begun || now-m.cycleAt >= m.set.Cycle {
		m.cycle(now)
	}
	if len(up) == 0 {
		return nil
	}
	m.turn++
	asked := up[m.turn%len(up)] // about those whose owner is not there
	var out []Message
	for _, to := range up {
		if !m.mayBeat(to, now) {
			continue
		}
		f := &flight{id: m.nextID + 1, to: to, sent: now}
		m.fill(f, m.byOwner[to])
		if to == asked {
			for _, owner := range m.strays(up) {
				m.fill(f, m.byOwner[owner])
			}
		}
		if len(f.records) == 0 {
			continue
		}
		m.nextID++
		m.targets[to].tokens--
		m.flights = append(m.flights, f)
		m.counts.Messages++
		m.counts.Sent += int64(len(f.records))
		names := make([]string, len(f.records))
		for i, r := range f.records {
			names[i] = r.id
		}
		out = append(out, Message{ID: f.id, To: to, Attempts: names})
	}
	return out
}

// mayBeat says that a master neither throttles nor has had its share of messages.
func (m *Manager) mayBeat(to string, now time.Duration) bool {
	t := m.targets[to]
	if t == nil {
		t = &target{tokens: bucket, filled: now}
		m.targets[to] = t
	}
	t.tokens = min(bucket, t.tokens+float64(now-t.filled)/float64(m.set.Period))
	t.filled = now
	// A ticker is never exact: nine tenths of a period are one.
	return now >= t.waitUntil && t.tokens >= 0.9
}

// strays are the owners that can't be reached now and have something to send, in order.
func (m *Manager) strays(up []string) []string {
	var names []string
	for owner, q := range m.byOwner {
		if q.main.Len() > 0 && !slices.Contains(up, owner) {
			names = append(names, owner)
		}
	}
	slices.Sort(names)
	return names
}

// fill takes attempts from the front of the main queue up to a batch.
func (m *Manager) fill(f *flight, q *queues) {
	if q == nil {
		return
	}
	for len(f.records) < m.set.Batch && q.main.Len() > 0 {
		r := q.main.Front().Value.(*record)
		m.take(r)
		r.place, r.flight, r.stray = inFlight, f, r.owner != f.to
		f.records = append(f.records, r)
	}
}

// cycle moves everything from backup into main. What is still in main is overdue and stays in front;
// what had used up its tries comes next.
func (m *Manager) cycle(now time.Duration) {
	overrun := false
	for _, q := range m.byOwner {
		overrun = overrun || q.main.Len() > 0
		for _, missed := range []bool{true, false} {
			for at := q.backup.Front(); at != nil; {
				r := at.Value.(*record)
				at = at.Next()
				if r.missed == missed {
					m.take(r)
					r.tries, r.hinted = 0, false
					m.put(r, inMain, false)
				}
			}
		}
	}
	for owner, q := range m.byOwner {
		for at := q.main.Front(); at != nil; at = at.Next() {
			at.Value.(*record).missed = false
		}
		if q.main.Len() == 0 {
			delete(m.byOwner, owner)
		}
	}
	if m.begun && overrun {
		m.counts.Overruns++
	}
	m.counts.LastCycle, m.beaten = m.beaten, 0
	m.begun, m.cycleAt = true, now
}

// take takes a record out of where it is.
func (m *Manager) take(r *record) {
	if r.at != nil {
		q := m.byOwner[r.owner]
		if r.place == inMain {
			q.main.Remove(r.at)
		} else {
			q.backup.Remove(r.at)
		}
	}
	r.at, r.flight, r.place = nil, nil, outOfQueue
}

// put puts a record that is nowhere into a queue.
func (m *Manager) put(r *record, to place, first bool) {
	q := m.byOwner[r.owner]
	if q == nil {
		q = &queues{main: list.New(), backup: list.New()}
		m.byOwner[r.owner] = q
	}
	line := q.main
	if to == inBackup {
		line = q.backup
	}
	r.place = to
	if first {
		r.at = line.PushFront(r)
	} else {
		r.at = line.PushBack(r)
	}
}
