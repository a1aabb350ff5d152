package main

import "slices"

// finalStays is I22.
func finalStays(r *report) {
	each := func(w *write, final map[string]bool, what string, rounds bool) {
		if w.Op != "U" || !final[w.old.str("state")] {
			return
		}
		r.look()
		if w.old.str("state") == w.new.str("state") || rounds && w.new.num("round") > w.old.num("round") {
			return
		}
		r.bad([]string{clip(w.text)}, "%s was %s and became %s in the same round", what, w.old.str("state"), w.new.str("state"))
	}
	for _, in := range ordered(r.instances) {
		for _, w := range in.writes {
			each(w, finalInstance, plural(int(in.id), "is the instance which"), true)
		}
		for _, t := range ordered(in.tasks) {
			for _, w := range t.writes {
				each(w, finalTask, "task "+t.row.str("name"), true)
			}
			for _, a := range ordered(t.attempts) {
				for _, w := range a.writes {
					each(w, finalAttempt, a.String(), false)
				}
			}
		}
	}
}

// transitions is I23. One commit may hold several steps, so what counts is whether the
// arrows lead there.
func transitions(r *report) {
	each := func(w *write, arrows, again map[string]map[string]bool, what string) {
		if w.Op != "U" {
			return
		}
		from, to := w.old.str("state"), w.new.str("state")
		if from == to {
			return
		}
		r.look()
		if w.new.num("round") > w.old.num("round") {
			for first := range again[from] {
				if first == to || reach(arrows, first, to) {
					return
				}
			}
			// A round may also be opened while the one before is under way.
		}
		if !reach(arrows, from, to) {
			r.bad([]string{clip(w.text)}, "%s went from %s to %s", what, from, to)
		}
	}
	for _, in := range ordered(r.instances) {
		for _, w := range in.writes {
			each(w, nextInstance, againInstance, plural(int(in.id), "is the instance which"))
		}
		for _, t := range ordered(in.tasks) {
			for _, w := range t.writes {
				each(w, nextTask, againTask, "task "+t.row.str("name"))
			}
			for _, a := range ordered(t.attempts) {
				for _, w := range a.writes {
					each(w, nextAttempt, nil, a.String())
				}
			}
		}
	}
}

// lateSuccess says that an attempt's task became a success by it, though it stays lost: the latest of its round
// that was called so before the task ended.
func (a *attempt) lateSuccess() bool {
	t := a.task.row
	for _, other := range a.task.attempts {
		if other.number > a.number && other.state() == "lost" {
			return false
		}
	}
	return a.state() == "lost" && t.str("state") == "success" && t.str("reason") == "late_success"
}

// endsAsTasks is I24.
func endsAsTasks(r *report) {
	for _, in := range ordered(r.instances) {
		state := in.row.str("state")
		if !finalInstance[state] || state == "quarantined" {
			continue
		}
		r.look()
		good, killed := true, false
		var proof []string
		for _, t := range ordered(in.tasks) {
			if t.index == strayTask {
				continue
			}
			s := t.row.str("state")
			if !finalTask[s] {
				r.bad(t.proof(), "instance %d is %s, and its task %s is %s", in.id, state, t.row.str("name"), s)
			}
			switch s {
			case "failed":
				good = good && t.spec.AllowFailure
			case "killed":
				good, killed = false, true
			case "upstream_failed":
				good = false
			}
			proof = append(proof, t.row.str("name")+" is "+s)
		}
		switch {
		case state == "success" && !good, state == "failed" && good && in.row.str("reason") != "timeout", state == "stopped" && !killed:
			r.bad(proof, "instance %d (%s) is %s", in.id, in.name(), state)
		}
		if in.shape != nil && len(in.tasks) != len(in.shape.Tasks) && state != "stopped" {
			r.bad(proof, "instance %d is %s with %d of %d tasks", in.id, state, len(in.tasks), len(in.shape.Tasks))
		}
	}
}

func (t *task) proof() []string {
	var p []string
	for _, w := range t.writes {
		p = append(p, clip(w.text))
	}
	return p
}

// eventsWhole is I26.
func eventsWhole(r *report) {
	for _, in := range ordered(r.instances) {
		var numbers []int64
		for _, e := range in.events {
			numbers = append(numbers, e.num("seq"))
		}
		slices.Sort(numbers)
		for i, n := range numbers {
			r.look()
			if n != int64(i+1) {
				r.bad(nil, "instance %d: event %d follows %d", in.id, n, i)
				break
			}
		}
		if in.row != nil && in.row.num("seq") != int64(len(numbers)) {
			r.bad(nil, "instance %d has %d events, and says %d", in.id, len(numbers), in.row.num("seq"))
		}
	}
}
