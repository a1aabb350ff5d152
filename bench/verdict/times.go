package main

const (
	// clockSlack is what two readings of one clock by two processes may differ by.
	clockSlack = 30
	// killGrace is what a task gets between TERM and KILL, and its slack (I19).
	killGrace = 10_000 + 2_000
	// takeover is what may delay a timeout when its master, its worker or a store broke:
	// detection, and the way back.
	takeover = 30_000
	// deadAfter is how long after the database has called it dead something may still be
	// seen of it (I20).
	deadAfter = 1_000
)

// retryWaits is I18, the lower bound: faults may make any wait longer.
func retryWaits(r *report) {
	r.eachTask(func(t *task) {
		list := ordered(t.attempts)
		for i, a := range list[:max(len(list)-1, 0)] {
			next := list[i+1]
			end, s := a.event("end"), next.start()
			if a.state() != "failed" || end == nil || s == nil || a.row.num("round") != next.row.num("round") {
				continue
			}
			r.look()
			if waited := s.Wall - end.Wall; waited < t.spec.DelayMS-clockSlack {
				r.bad(append(a.proof(), next.proof()...), "%s started %d ms after the one before had failed, the delay is %d ms", next, waited, t.spec.DelayMS)
			}
		}
	})
}

// timeouts is I19.
func timeouts(r *report) {
	r.eachAttempt(func(a *attempt) {
		s, last := a.start(), a.last()
		limit := a.task.spec.TimeoutMS
		if s == nil || limit == 0 {
			return
		}
		r.look()
		lived := (last.Mono - s.Mono) / 1e6
		if a.state() == "failed" && a.row.str("reason") == "timeout" && lived < limit-2*clockSlack-500 {
			// Its last tick may be half a second before its end, where it was killed at once.
			r.bad(a.proof(), "%s was timed out after %d ms, its limit is %d ms", a, lived, limit)
		}
		most := limit + killGrace
		if len(r.hit(s.Wall-takeover, s.Wall+most, func(*fault) bool { return true })) > 0 {
			most += 2 * takeover
		}
		if lived > most {
			r.bad(a.proof(), "%s lived %d ms, its limit is %d ms", a, lived, limit)
		}
	})
}

// killedIsDead is I20: by the evidence and by the process table.
func killedIsDead(r *report) {
	dead := map[*attempt]int64{}
	r.eachAttempt(func(a *attempt) {
		if a.state() != "killed" {
			return
		}
		at := a.ended()
		if at == 0 {
			return
		}
		r.look()
		dead[a] = at
		if last := a.last(); last != nil && last.Wall > at+deadAfter {
			r.bad(append([]string{clip(last.text)}, a.proof()...), "%s was killed, and lived %d ms longer", a, last.Wall-at)
		}
	})
}

// pausedIsStill is I21.
func pausedIsStill(r *report) {
	for _, in := range ordered(r.instances) {
		for i, w := range in.writes {
			if w.Op != "U" || w.new.str("state") != "paused" || w.old.str("state") == "paused" {
				continue
			}
			until := r.run.Rested
			for _, later := range in.writes[i+1:] {
				if later.Op == "U" && later.new.str("state") != "paused" {
					until = later.At
					break
				}
			}
			r.look()
			for _, t := range in.tasks {
				for _, a := range t.attempts {
					if s := a.start(); s != nil && s.Wall > w.At+clockSlack && s.Wall < until-clockSlack {
						r.bad(append([]string{clip(w.text)}, a.proof()...), "%s started while the instance was paused", a)
					}
				}
			}
		}
	}
}
