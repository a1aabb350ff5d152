package main

import (
	"bufio"
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	// restLimit is I41's 60 s and the work that the load leaves: its longest task lives
	// 40 s.
	restLimit = 60_000 + 40_000
	// scanSlack is how long a process may be seen after its attempt has ended, of I28.
	scanSlack = 5_000
	// silence is how long ago a fault may be that explains a death: the longest lease, the
	// detection, and the way back.
	silence = 30_000
)

// comesToRest is I41.
func comesToRest(r *report) {
	r.look()
	if r.run.Rest != "" {
		var proof []string
		for _, in := range ordered(r.instances) {
			if !finalInstance[in.row.str("state")] {
				proof = append(proof, in.story()...)
			}
		}
		for _, c := range r.commands {
			proof = append(proof, "command "+c.str("id")+" "+c.str("kind")+" of instance "+c.str("instance_id"))
		}
		r.bad(proof, "%d ms after the faults %s", r.run.Rested-r.run.Healed, r.run.Rest)
		return
	}
	if took := r.run.Rested - r.run.Healed; took > restLimit {
		r.bad(nil, "it took %d ms", took)
	}
	r.unanswered()
}

// answerLimit is how long after the faults every wish of a client must have its answer.
const answerLimit = 30_000

// unanswered finds wishes that were repeated long after the faults, and never answered.
func (r *report) unanswered() {
	type wish struct{ verb, key, instance string }
	last := map[wish]*call{}
	for _, c := range r.calls {
		last[wish{c.Verb, c.Key, c.Instance}] = c
	}
	for _, c := range r.calls {
		if last[wish{c.Verb, c.Key, c.Instance}] == c && c.Outcome == "unknown" && c.Begin > r.run.Healed+answerLimit {
			r.bad([]string{clip(c.text)}, "%d ms after the faults a %s has no answer", c.Begin-r.run.Healed, c.Verb)
		}
	}
}

// story is an instance in short.
func (in *instance) story() []string {
	p := []string{"instance " + strconv.FormatInt(in.id, 10) + " (" + in.name() + ") is " + in.row.str("state") + " of owner " + in.row.str("owner") + " epoch " + in.row.str("owner_epoch")}
	for _, t := range ordered(in.tasks) {
		if !finalTask[t.row.str("state")] {
			p = append(p, "its task "+t.row.str("name")+" is "+t.row.str("state")+" with "+t.row.str("attempts")+" attempts")
			list := ordered(t.attempts)
			if len(list) > 0 {
				p = append(p, list[len(list)-1].proof()...)
			}
		}
	}
	return p
}

// restIsStill is I27, as far as the database and the process table tell it.
func restIsStill(r *report) {
	if len(r.scans) == 0 || r.run.Rest != "" {
		return
	}
	last := r.scans[len(r.scans)-1]
	r.look()
	for _, p := range last.Processes {
		r.bad(nil, "at rest process %d of instance %s task %s attempt %d is there", p.PID, p.Instance, p.Task, p.Attempt)
	}
	r.eachAttempt(func(a *attempt) {
		if a.row != nil && !finalAttempt[a.state()] {
			r.bad(a.proof(), "at rest %s is %s", a, a.state())
		}
	})
}

// processesBelong is I28. A worker that is down can't kill what its runner left; it does
// when it is back.
func processesBelong(r *report) {
	told := map[*attempt]bool{}
	for _, s := range r.scans {
		for _, p := range s.Processes {
			r.look()
			id, _ := strconv.ParseInt(p.Instance, 10, 64)
			in := r.instances[id]
			if in == nil || in.byName[p.Task] == nil {
				continue // I15 tells it
			}
			a := in.byName[p.Task].attempts[int64(p.Attempt)]
			if a == nil || told[a] {
				continue
			}
			ended := a.ended()
			if ended == 0 || s.At <= ended+scanSlack {
				continue
			}
			worker := a.row.str("worker")
			if len(r.hit(ended-silence, s.At, func(f *fault) bool { return f.Target == worker && strings.HasPrefix(f.Class, "kill.") })) > 0 && s.At < ended+silence {
				r.note("processes whose runner was killed, until the next one ended them")
				continue
			}
			told[a] = true
			r.bad(a.proof(), "%s ended, and its process %d is there %d ms later", a, p.PID, s.At-ended)
		}
	}
}

// withinSlots is I30: by the worker that the database names and the times of the evidence.
func withinSlots(r *report) {
	r.atOnce(func(a *attempt) string { return a.row.str("worker") }, func(worker string, first *attempt, running int) {
		if running > r.run.Slots {
			r.bad(first.proof(), "%s ran %d attempts at once, and has %d slots", worker, running, r.run.Slots)
		}
	})
}

// atOnce tells, for each place where attempts run, how many of them were alive at most at one time,
// and which one made it so many. An attempt whose place is "" is left out.
func (r *report) atOnce(place func(a *attempt) string, tell func(place string, a *attempt, most int)) {
	type edge struct {
		at   int64
		step int
		a    *attempt
	}
	edges := map[string][]edge{}
	r.eachAttempt(func(a *attempt) {
		s, last := a.start(), a.last()
		if s == nil || a.row == nil || place(a) == "" {
			return
		}
		edges[place(a)] = append(edges[place(a)], edge{s.Mono, 1, a}, edge{last.Mono, -1, a})
	})
	for _, where := range slices.Sorted(maps.Keys(edges)) {
		list := edges[where]
		slices.SortFunc(list, func(x, y edge) int { return cmp.Or(cmp.Compare(x.at, y.at), x.step-y.step) })
		running, most := 0, 0
		var by *attempt
		for _, e := range list {
			r.look()
			if running += e.step; running > most {
				most, by = running, e.a
			}
		}
		tell(where, by, most)
	}
}

// noPanic is I42, by the logs.
func noPanic(r *report) {
	logs, _ := filepath.Glob(filepath.Join(r.dir, "logs", "*.log"))
	for _, path := range logs {
		if strings.HasPrefix(filepath.Base(path), "etcd") {
			continue // not ours
		}
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		r.look()
		in := bufio.NewScanner(f)
		in.Buffer(make([]byte, 1<<20), maxLine)
		for in.Scan() {
			t := in.Text()
			if strings.HasPrefix(t, "panic: failpoint ") || strings.Contains(t, `panic="failpoint `) {
				continue // it was asked for; the engine survives one, and says so
			}
			if strings.HasPrefix(t, "panic:") || strings.HasPrefix(t, "fatal error:") || strings.Contains(t, "INVARIANT") || strings.Contains(t, "DATA RACE") || strings.Contains(t, "panic=") {
				r.bad([]string{clip(t)}, "%s", filepath.Base(path))
			}
		}
		_ = f.Close()
	}
}

// noFalseDeath is I43: whoever lost his work had a fault.
func noFalseDeath(r *report) {
	for _, in := range ordered(r.instances) {
		for _, w := range in.writes {
			if w.Op != "U" || w.old.str("owner") == "" || w.new.str("owner") == "" || w.old.str("owner") == w.new.str("owner") {
				continue
			}
			r.look()
			r.dead(node(w.old.str("owner")), w)
		}
	}
	r.eachAttempt(func(a *attempt) {
		if a.state() == "lost" && len(a.writes) > 0 {
			r.look()
			r.dead(a.row.str("worker"), a.writes[len(a.writes)-1])
		}
	})
}

// dead wants a fault that explains why a node was taken for dead.
func (r *report) dead(who string, w *write) {
	explains := func(f *fault) bool {
		return f.Target == who || onStores(f) || f.Link == "masters" || f.Link == "self"
	}
	switch {
	case len(r.hit(w.At-silence, w.At, explains)) > 0:
	case strings.Contains(r.run.Points, "=sleep("):
		r.note("deaths in a run whose product slept at a failpoint for longer than a lease")
	default:
		r.bad([]string{clip(w.text)}, "%s was taken for dead, and had no fault", who)
	}
}
