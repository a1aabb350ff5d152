package heartbeat

import (
	"cmp"
	"slices"
	"time"
)

// Answer takes a master's answer to a message and returns the attempts that it does not want, to be
// killed: they are forgotten here. What the answer leaves out counts as an error.
func (m *Manager) Answer(to string, id int64, verdicts []Verdict, now time.Duration) []Verdict {
	f := m.flight(to, id)
	if f == nil {
		return nil
	}
	byID := make(map[string]Verdict, len(verdicts))
	for _, v := range verdicts {
		byID[v.Attempt] = v
	}
	var unwanted []Verdict
	var throttled []*record
	for _, r := range f.records {
		if m.records[r.id] != r {
			continue // over meanwhile
		}
		v := byID[r.id]
		switch v.Kind {
		case "ok":
			if r.flight == f && r.stray {
				m.Move(r.id, to)
			}
			m.ok(r, f.sent)
		case "gone", "cancelled", "stale":
			m.Remove(r.id)
			unwanted = append(unwanted, v)
		case "throttled":
			m.counts.Throttled++
			t := m.targets[to]
			t.waitUntil = max(t.waitUntil, now+max(v.RetryAfter, m.set.Period))
			if r.flight == f {
				throttled = append(throttled, r)
			}
		case "not_owner":
			m.foreign(r, f, v.Owner)
		default:
			if r.flight == f {
				m.failed(r)
			}
		}
	}
	// In their order, before everything else.
	for _, r := range slices.Backward(throttled) {
		m.take(r)
		m.put(r, inMain, true)
	}
	m.land(f)
	return unwanted
}

// Failed says that a master can't be reached any more: what is on its way to it is lost.
func (m *Manager) Failed(to string) {
	for _, f := range slices.Clone(m.flights) {
		if f.to == to {
			m.lose(f)
			m.land(f)
		}
	}
	delete(m.targets, to)
}

// Lapsed names the attempts that have had no verdict for the timeout, each once until its next one.
func (m *Manager) Lapsed(now time.Duration) []string {
	var names []string
	for id, r := range m.records {
		if !r.lapsed && now-r.lastOK > m.set.Timeout {
			r.lapsed = true
			names = append(names, id)
		}
	}
	slices.Sort(names)
	m.counts.Lapsed += int64(len(names))
	return names
}

func (m *Manager) flight(to string, id int64) *flight {
	for _, f := range m.flights {
		if f.id == id && f.to == to {
			return f
		}
	}
	return nil
}

func (m *Manager) land(f *flight) {
	m.flights = slices.DeleteFunc(m.flights, func(other *flight) bool { return other == f })
}

// expire gives up on messages that go unanswered, and forgets them when an answer would say nothing new.
func (m *Manager) expire(now time.Duration) {
	for _, f := range m.flights {
		if !f.over && now-f.sent > m.set.Send {
			m.lose(f)
		}
	}
	m.flights = slices.DeleteFunc(m.flights, func(f *flight) bool { return f.over && now-f.sent > m.set.Timeout })
}

func (m *Manager) lose(f *flight) {
	f.over = true
	for _, r := range f.records {
		if r.flight == f {
			m.failed(r)
		}
	}
}

// ok takes a beat that was answered well; its time is that of sending.
func (m *Manager) ok(r *record, sent time.Duration) {
	r.lastOK = max(r.lastOK, sent)
	r.tries, r.hinted, r.missed, r.lapsed = 0, false, false, false
	m.beaten++
	if r.place == inBackup || r.place == inFlight && r.flight.sent > sent {
		return // a later message is on its way: its answer decides
	}
	m.take(r)
	m.put(r, inBackup, false)
}

// foreign asks the named owner at once, but only once in a cycle: two masters may each name the other.
func (m *Manager) foreign(r *record, f *flight, owner string) {
	if r.flight != f {
		return
	}
	again := r.hinted
	if owner != "" || r.owner == f.to {
		m.Move(r.id, owner)
	}
	if again || owner == "" {
		m.failed(r)
		return
	}
	r.hinted = true
	m.take(r)
	m.put(r, inMain, true)
}

// failed tries again at the end of the queue, or in the next cycle.
func (m *Manager) failed(r *record) {
	m.take(r)
	r.tries++
	if r.tries > m.set.MaxRetry {
		m.counts.Moved++
		r.missed = true
		m.put(r, inBackup, false)
		return
	}
	m.counts.Retried++
	m.put(r, inMain, false)
}

// Figures are what people see of a manager.
type Figures struct {
	Main, Backup, InFlight int
	Utilisation            float64 // what the attempts need of what can be sent: above 1 no cycle ends
	LastCycle              int     // beats in the last whole cycle
	Messages               int64   // so far, as all that follow
	Sent                   int64   // beats
	Throttled              int64
	Retried                int64
	Moved                  int64 // into the next cycle, after too many tries
	Overruns               int64 // cycles that ended before all had beaten
	Lapsed                 int64 // attempts without a verdict for the timeout
	Oldest                 time.Duration
	Near                   int // attempts that have less than a cycle left
}

// Figures counts at this moment.
func (m *Manager) Figures(now time.Duration) Figures {
	f := m.counts
	for _, r := range m.records {
		switch r.place {
		case inMain:
			f.Main++
		case inBackup:
			f.Backup++
		case inFlight:
			f.InFlight++
		case outOfQueue:
		}
		silence := now - r.lastOK
		f.Oldest = max(f.Oldest, silence)
		if silence > m.set.Timeout-m.set.Cycle {
			f.Near++
		}
	}
	f.Utilisation = float64(len(m.records)) * float64(m.set.Period) / (float64(m.set.Batch) * float64(m.set.Cycle))
	return f
}

// Attempts names all attempts, those silent for longest first.
func (m *Manager) Attempts() []string {
	names := make([]string, 0, len(m.records))
	for id := range m.records {
		names = append(names, id)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(m.records[a].lastOK, m.records[b].lastOK), cmp.Compare(a, b))
	})
	return names
}
