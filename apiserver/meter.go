package apiserver

import (
	"math"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

const (
	// meterSpan is over how long rates are taken: long enough for a person to read a number, short enough to see a
	// change come.
	meterSpan = 10 * time.Second
	// meterLeast is the shortest span that says anything: masters send their counters once a second.
	meterLeast = 2 * time.Second
	// stuckAfter is how long something must wait, and nothing leave, for a queue to be called stuck.
	stuckAfter = 10 * time.Second
)

// meter makes rates of counters. Only who works out pulses touches it.
type meter struct{ samples []sample }

// sample is every counter at one moment. A process that begins anew counts under another key.
type sample struct {
	at       time.Time
	counters map[string]int64
	depths   map[string]int // by queue
}

func masterKey(n Node, counter string) string { return n.Name + ":" + n.Incarnation + " " + counter }

const commandsKey = "commands"

func groupKey(name string) string { return "group " + name }

// sample notes the counters of now, and forgets those that are too old to matter.
func (m *meter) sample(now time.Time, masters []Node, figures map[string]*rpc.MasterFigures, rows sql.Pulse) {
	one := sample{at: now, counters: map[string]int64{}, depths: map[string]int{commandsKey: rows.Commands}}
	for _, n := range masters {
		f := figures[n.Name]
		if f == nil {
			continue
		}
		one.counters[masterKey(n, "commits")] = f.GetCommits()
		one.counters[masterKey(n, "claimed")] = f.GetClaimed()
		for name, count := range timerCounters(f.GetTimers()) {
			one.counters[masterKey(n, name)] = count
		}
		for _, q := range f.GetQueues() {
			one.counters[masterKey(n, "in "+q.GetGroup())] = q.GetOffered()
			one.counters[masterKey(n, "out "+q.GetGroup())] = q.GetGiven()
			one.depths[groupKey(q.GetGroup())] += int(q.GetWaiting())
		}
	}
	// A pause in which nobody looked ends all rates: they begin anew.
	if n := len(m.samples); n > 0 && now.Sub(m.samples[n-1].at) > meterSpan {
		m.samples = nil
	}
	m.samples = append(m.samples, one)
	for len(m.samples) > 2 && now.Sub(m.samples[1].at) >= meterSpan {
		m.samples = m.samples[1:]
	}
}

// span gives the first and the last sample, where there is enough between them.
func (m *meter) span() (first, last sample, seconds float64, ok bool) {
	if len(m.samples) < 2 {
		return first, last, 0, false
	}
	first, last = m.samples[0], m.samples[len(m.samples)-1]
	took := last.at.Sub(first.at)
	return first, last, took.Seconds(), took >= meterLeast
}

// rate is how fast one counter rises, nil where that is not known yet.
func (m *meter) rate(key string) *float64 {
	first, last, seconds, ok := m.span()
	before, known := first.counters[key]
	if !ok || !known {
		return nil
	}
	r := round(float64(max(0, last.counters[key]-before)) / seconds)
	return &r
}

// sum is how fast a counter rises at all masters together; one that came or went meanwhile counts for what is known.
func (m *meter) sum(counter string) float64 {
	_, _, seconds, _ := m.span()
	return round(float64(m.risen(counter)) / seconds)
}

// risen is by how much a counter has risen at all masters together.
func (m *meter) risen(counter string) (total int64) {
	first, last, _, _ := m.span()
	for key, before := range first.counters {
		if len(key) > len(counter) && key[len(key)-len(counter)-1:] == " "+counter {
			if now, there := last.counters[key]; there {
				total += max(0, now-before)
			}
		}
	}
	return total
}

// judge fills in the rates of a queue and says in a word how it goes.
func (m *meter) judge(q *Queue, now time.Time) {
	first, last, seconds, ok := m.span()
	key := groupKey(q.Name)
	if q.Kind == commandsKey {
		key = commandsKey
	}
	grown := last.depths[key] - first.depths[key]
	if ok {
		var in, out float64
		if q.Kind == commandsKey {
			// Nobody counts the commands that are written: they are those that were taken, and those that are more.
			out = m.sum("claimed")
			in = max(0, round(out+float64(grown)/seconds))
		} else {
			in, out = m.sum("in "+q.Name), m.sum("out "+q.Name)
		}
		q.In, q.Out = &in, &out
	}
	waited := now.Sub(dag.Millis(q.Oldest).Time())
	switch {
	case q.Waiting == 0:
		q.Verdict = "empty"
	case !ok:
		q.Verdict = "measuring"
	case *q.Out == 0 && waited >= stuckAfter && seconds >= stuckAfter.Seconds()/2:
		q.Verdict = "stuck"
	case grown > slack(q.Waiting):
		q.Verdict = "growing"
	case -grown > slack(q.Waiting):
		q.Verdict = "draining"
	default:
		q.Verdict = "steady"
	}
}

// slack is by how much a queue may change and still be called steady: a twentieth.
func slack(waiting int) int { return waiting / 20 }

// round keeps one digit: more of them only flicker.
func round(rate float64) float64 { return math.Round(rate*10) / 10 }
