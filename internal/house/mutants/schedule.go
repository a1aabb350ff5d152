package main

// schedules are bugs in which moments fire and which late ones still do.
var schedules = []mutant{
	{"the end is not included", "plan.go", `if !ok || f.At > p.end {`, `if !ok || f.At >= p.end {`},
	{"the start does not count", "plan.go", `p.base(max(after, p.start-1)); ok &&`, `p.base(after); ok &&`},
	{"a fire on a day that is left out fires", "plan.go", `			f.Skip = ReasonCalendar
`, ``},
	{"only the nearest day is looked at for a moved fire", "plan.go", `p.base(p.midnight(day-maxMove) - 1)`, `p.base(p.midnight(day) - 1)`},
	{"a fire is moved a day less far than it may", "plan.go", `day+step*(maxMove+1)`, `day+step*maxMove`},
	{"what finds no day is lost", "plan.go", `take(Fire{At: at, Skip: ReasonCalendar})`, `_ = at`},
	{"a moved time in a gap is before it", "plan.go", `if shown.After(t) {`, `if !shown.After(t) {`},
	{"a moved time that comes twice is the second", "plan.go", `			at = earlier
`, ``},
	{"every schedule has the same jitter", "plan.go", `mix(mix(uint64(p.id))^uint64(at))`, `mix(uint64(at))`},
	{"the cut of a stretch forgets a fire", "plan.go", `return fires, fires[most-1].At + 1`, `return fires, f.At + 1`},
	{"a long stretch of days ends where one within it does", "calendar.go", `joined[n-1].last = max(joined[n-1].last, s.last)`, `joined[n-1].last = s.last`},
	{"the last day of a stretch is none of it", "calendar.go", `day <= d.spans[i-1].last`, `day < d.spans[i-1].last`},
	{"one calendar of several is enough", "plan.go", `		if !c.has(day) {
			return false
		}
	}
	return true`, `		if c.has(day) {
			return true
		}
	}
	return len(p.only) == 0`},
	{"what is just within the grace is late", "late.go", `now.Sub(due) > p.grace`, `now.Sub(due) >= p.grace`},
	{"one more than max fires", "late.go", `newer >= p.most`, `newer > p.most`},
	{"the oldest of the late ones fires", "late.go", `newer := len(late) - 1 - i`, `newer := i`},
	{"an old one fires", "late.go", `case p.maxAge > 0 && now.Sub(at) > p.maxAge:`, `case false:`},
	{"none fires all", "late.go", `case p.policy == RunNone:`, `case false:`},
	{"what is as fast as allowed is refused", "compile.go", `repeats && gap < shortest`, `repeats && gap <= shortest`},
	{"a jitter as long as the gap is taken", "compile.go", `repeats && c.plan.jitter >= gap`, `repeats && c.plan.jitter > gap`},
	{"a bucket is not folded", "slice.go", `bucket%buckets`, `bucket`},
}

// firing are bugs in how a master plans and fires.
var firing = []mutant{
	{"what is late of others is left lying", "firer.go", `return r.ours(id) || r.strays && r.now.Add(r.trust.off).Sub(due) > strayAfter`, `return r.ours(id)`},
	{"a master that is ahead takes the fires of others", "firer.go", `r.now.Add(r.trust.off).Sub(due) > strayAfter`, `r.now.Sub(due) > strayAfter`},
	{"the ends of others are left lying", "firer.go", `return r.strays || r.ours(id)`, `return r.ours(id)`},
	{"what is late is not put to its policy", "firer.go", `|| !plan.Late(fire.Due, r.now)`, `|| true`},
	{"what is late is not for its master", "firer.go", `return r.now.Sub(due) > prompt && r.mine(id, due)`, `return false`},
	{"what waits is not taken along", "firer.go", `with = append(with, r.waiting[v.Source]...)`, `_ = v`},
	{"a held master fires", "firer.go", `if !ok || !f.trust.fires() {`, `if !f.trust.fires() {`},
	{"a clock that leaps is trusted", "clock.go", `return t.known && !t.jumped && t.off.Abs() <= skewStop`, `return t.known`},
	{"a leap is never confirmed", "clock.go", `t.jumped = false`, `_ = t`},
	{"the plan goes by the master's clock", "planner.go", `now, err := p.Store.Clock(ctx)`, `now, err := p.now(), error(nil)`},
	{"a plan ends where nothing more is looked for", "planner.go", `if next, ok := plan.Next(until - 1); ok {`, `if next, ok := plan.Next(until - 1); ok && false {`},
	{"a plan that is behind is not gone on with", "planner.go", `			more = true // it is behind
`, ``},
	{"what can't be planned stays enabled", "schedule.go", `return c.Store.BreakSchedule(ctx, *sch, string(why[:min(len(why), maxWhy)]), c.Master)`, `_ = why
	return nil`},
}
