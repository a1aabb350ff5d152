package main

import "slices"

// eachAttempt visits all attempts in order.
func (w *world) eachAttempt(visit func(a *attempt)) {
	for _, in := range ordered(w.instances) {
		for _, t := range ordered(in.tasks) {
			for _, a := range ordered(t.attempts) {
				visit(a)
			}
		}
	}
}

// eachTask visits all tasks in order.
func (w *world) eachTask(visit func(t *task)) {
	for _, in := range ordered(w.instances) {
		for _, t := range ordered(in.tasks) {
			visit(t)
		}
	}
}

// startedOnce is I11.
func startedOnce(r *report) {
	r.eachAttempt(func(a *attempt) {
		starts := 0
		for _, l := range a.lines {
			if l.Event == "start" {
				starts++
			}
		}
		if starts > 0 {
			r.look()
		}
		if starts > 1 {
			r.bad(a.proof(), "%s was started %d times", a, starts)
		}
	})
}

// noOverlap is I12: no lock was found taken, and no attempt shows life after the next one
// has started.
func noOverlap(r *report) {
	r.eachTask(func(t *task) {
		list := ordered(t.attempts)
		for i, a := range list {
			if l := a.event("overlap"); l != nil {
				r.bad(append([]string{clip(l.text)}, a.proof()...), "%s found the lock taken: another one lives", a)
			}
			last := a.last()
			if last == nil {
				continue
			}
			r.look()
			for _, later := range list[i+1:] {
				if s := later.start(); s != nil && last.Mono > s.Mono {
					r.bad(append([]string{clip(last.text), clip(s.text)}, a.proof()...), "%s lived %d ms beside attempt %d", a, (last.Mono-s.Mono)/1e6, later.number)
					break
				}
			}
		}
	})
}

// lostLimit is how many lost workers a task is allowed: the attempt that loses the last
// one fails the task.
const lostLimit = 2

// numbered is I13.
func numbered(r *report) {
	r.eachTask(func(t *task) {
		if t.index == strayTask || len(t.attempts) == 0 {
			return
		}
		r.look()
		list := ordered(t.attempts)
		failed, lost := map[int64]int{}, map[int64]int{}
		for i, a := range list {
			if a.row == nil {
				continue // I15 tells it
			}
			if a.number != int64(i+1) {
				r.bad(a.proof(), "%s is number %d of the task's attempts", a, i+1)
				return
			}
			switch a.state() {
			case "failed":
				failed[a.row.num("round")]++
			case "lost":
				lost[a.row.num("round")]++
			}
		}
		for round, n := range failed {
			if n > 1+t.spec.Retries {
				r.bad(list[len(list)-1].proof(), "instance %d task %s failed %d times in round %d, with %d retries", t.in.id, t.row.str("name"), n, round, t.spec.Retries)
			}
		}
		for round, n := range lost {
			if n > lostLimit {
				r.bad(list[len(list)-1].proof(), "instance %d task %s lost %d workers in round %d", t.in.id, t.row.str("name"), n, round)
			}
		}
	})
}

// needsFirst is I14.
func needsFirst(r *report) {
	r.eachAttempt(func(a *attempt) {
		s := a.start()
		if s == nil {
			return
		}
		for _, name := range a.task.spec.Needs {
			r.look()
			need := a.task.in.byName[name]
			if need == nil || !need.doneBefore(s) {
				r.bad(a.proof(), "%s started before %s was done", a, name)
			}
		}
	})
}

// doneBefore says whether the evidence shows the task's success before a moment, or the
// database an end that its successors accept.
func (t *task) doneBefore(s *line) bool {
	for _, a := range t.attempts {
		if e := a.event("end"); e != nil && e.RC == 0 && e.Mono < s.Mono {
			return true
		}
	}
	for _, w := range t.writes {
		if w.At > s.Wall || w.new == nil {
			continue
		}
		switch w.new.str("state") {
		case "forced_success", "skipped", "disabled":
			return true
		case "success":
			if t.spec.Child != "" {
				return true
			}
		case "failed":
			if t.spec.AllowFailure {
				return true
			}
		}
	}
	return false
}

// neverRan is I15: evidence belongs to an attempt that the database knows.
func neverRan(r *report) {
	r.eachAttempt(func(a *attempt) {
		if len(a.lines) == 0 {
			return
		}
		r.look()
		if a.row == nil {
			r.bad(a.proof(), "%s ran, and the database knows nothing of it", a)
		}
	})
	r.eachTask(func(t *task) {
		switch t.row.str("state") {
		case "upstream_failed", "disabled":
			for _, a := range t.attempts {
				if s := a.start(); s != nil && a.row.num("round") == t.row.num("round") {
					r.bad(a.proof(), "%s started, and its task is %s", a, t.row.str("state"))
				}
			}
		}
	})
}

// sameStory is I16.
func sameStory(r *report) {
	r.eachAttempt(func(a *attempt) {
		if a.row == nil || a.task.spec.Child != "" {
			return // of children I25 tells
		}
		r.look()
		end := a.event("end")
		switch a.state() {
		case "success":
			if end == nil || end.RC != 0 {
				r.bad(a.proof(), "%s is a success, and the task did not say so", a)
			}
		case "failed":
			r.failedStory(a, end)
		case "killed":
			if end != nil && a.row.str("kill_reason") == "" && a.row.str("reason") == "" {
				r.bad(a.proof(), "%s is killed, nobody asked for it, and the task ended by itself", a)
			}
		case "lost":
			r.lostStory(a, end)
		case "returned":
			if a.start() != nil && end != nil {
				r.bad(a.proof(), "%s was handed back, and ran to its end", a)
			}
		}
	})
}

func (r *report) failedStory(a *attempt, end *line) {
	code := a.row.num("exit_code")
	switch {
	case end == nil && a.event("term") == nil && a.row.str("reason") == "exit_code":
		// Whoever ends with a code says so before.
		r.bad(a.proof(), "%s failed with code %d, and the task never said anything of it", a, code)
	case end != nil && end.RC == 0 && a.row.str("reason") != "timeout" && a.row.str("kill_reason") == "":
		if r.runnerDied(a, end) {
			r.note("successes that nobody could report: their runner was killed")
			return
		}
		r.bad(a.proof(), "%s failed (%s), and the task succeeded", a, a.row.str("reason"))
	case end != nil && end.RC != 0 && code != int64(end.RC) && a.row.str("reason") != "timeout" && !r.runnerDied(a, end):
		r.bad(a.proof(), "%s failed with code %d, and the task says %d", a, code, end.RC)
	}
}

// lostStory: an attempt may be lost although it succeeded where its worker could not say
// so in time. What it did must be over before the next one starts.
func (r *report) lostStory(a *attempt, end *line) {
	if a.lateSuccess() && (end == nil || end.RC != 0) {
		r.bad(a.proof(), "the late success of %s counts, and the task did not say so", a)
	}
	if end == nil {
		return
	}
	if end.RC == 0 && !a.lateSuccess() {
		r.note("successes that were lost with their worker")
	}
	for _, later := range a.task.attempts {
		if s := later.start(); s != nil && later.number > a.number && s.Mono < end.Mono {
			r.bad(append(a.proof(), later.proof()...), "%s is lost, and ended after attempt %d had started", a, later.number)
		}
	}
}

// runnerDied says that whoever knew an attempt's end may have died with it: by a fault, or at a failpoint, after which
// the product owns up to it.
func (w *world) runnerDied(a *attempt, end *line) bool {
	return len(w.hitWorker(a, end.Wall)) > 0 || w.run.Points != "" && a.row.str("reason") == "runner_lost"
}

// hitWorker lists the faults that hurt an attempt's worker around a moment.
func (w *world) hitWorker(a *attempt, at int64) []*fault {
	worker := a.row.str("worker")
	const around = 5_000
	return w.hit(at-around, at+around, func(f *fault) bool { return f.Target == worker })
}

// successOnce is I17, by round: of the attempts that the database calls a success. Those
// that were lost with their worker are told by I16.
func successOnce(r *report) {
	r.eachTask(func(t *task) {
		byRound := map[int64][]*attempt{}
		for _, a := range ordered(t.attempts) {
			if a.state() == "success" || a.lateSuccess() {
				r.look()
				round := a.row.num("round")
				byRound[round] = append(byRound[round], a)
			}
		}
		for round, list := range byRound {
			if len(list) > 1 {
				r.bad(slices.Concat(list[0].proof(), list[1].proof()), "instance %d task %s succeeded %d times in round %d", t.in.id, t.row.str("name"), len(list), round)
			}
		}
		// After a success nothing of that round may start.
		for _, first := range t.attempts {
			for _, a := range t.attempts {
				if first.state() == "success" && a.number > first.number && a.row.num("round") == first.row.num("round") && a.start() != nil {
					r.bad(slices.Concat(first.proof(), a.proof()), "%s followed a success", a)
				}
			}
		}
	})
}
