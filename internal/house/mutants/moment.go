package main

// crons are bugs in when an expression fires.
var crons = []mutant{
	{"a fire is given twice", "next.go", `for from := after + 1; from < endOfTime; {`, `for from := after; from < endOfTime; {`},
	{"a time that the clock leaves out never fires", "next.go", `if from == p.began && e.leftOut(p) >= 0 {`, `if from < p.began {`},
	{"a time that comes twice fires twice", "next.go", `			wall = max(wall, p.began+p.before)
`, ``},
	{"what follows real time fires once", "next.go", `if !e.real {`, `if true {`},
	{"counting begins in 1970", "next.go", `floorMod(after-e.anchor, e.every)`, `floorMod(after, e.every)`},
	{"leap years after 2037 have a day less", "next.go", `if p.ends <= at {`, `if false {`},
	{"a change of the clocks far ahead is overlooked", "next.go", `next = max(next, at-largestChange)`, `next = max(next, at)`},
	{"an hour begins where the last one ended", "next.go", `return next*3600 + e.inHourFrom(0, 0)`, `return next*3600 + max(e.inHourFrom(m, s), 0)`},
	{"both day fields must fit", "days.go", `if e.either {`, `if false {`},
	{"the working day nearest to the first is in the month before", "days.go", `case weekday == 6 && day == 1:`, `case false:`},
	{"the working day nearest to the last is in the month after", "days.go", `case weekday == 0 && day == c.length:`, `case false:`},
	{"the last weekday of a month comes twice", "days.go", `on &^ (1<<(c.length-6) - 1)`, `on &^ (1<<(c.length-7) - 1)`},
	{"the second weekday is the third", "days.go", `(7 * (n - 1))`, `(7 * n)`},
	{"a gap is not marked", "fires.go", `if wall := e.leftOut(p); wall >= 0 {`, `if wall := e.leftOut(p); wall > 1<<62 {`},
	{"the second of two is not marked", "fires.go", `unix+p.offset < p.began+p.before || `, ``},
	{"the first of two is not marked", "fires.go", ` || unix+p.offset >= p.ends+after`, ` || unix+p.offset >= p.ends+after && false`},
	{"midnight is far from the evening before", "fires.go", "			consider(int(day-before) + first - last)\n", "			consider(int(day - before))\n"},
}

// backfills are bugs in which dates a backfill has, and when they start.
var backfills = []mutant{
	{"the first date is left out", "dates.go", `points.Next(from.Add(-time.Millisecond))`, `points.Next(from)`},
	{"the last date is left out", "dates.go", `!at.After(to)`, `at.Before(to)`},
	{"a date comes twice", "dates.go", "	dates = slices.Compact(dates)\n", ""},
	{"the oldest is the newest", "dates.go", `if order == Newest {`, `if order != Newest {`},
	{"a time that the clock leaves out is taken", "dates.go", `if at.Format(layout) != text {`, `if false {`},
	{"a time that comes twice is the second", "dates.go", `earlier.Format(layout) == text {`, `earlier.Format(layout) == layout {`},
	{"a day that the calendar leaves out is taken", "dates.go", `if noon.Format(time.DateOnly) != text {`, `if false {`},
	{"dates beyond the bound are not counted", "dates.go", `if count++; count <= most {`, `if count = min(count+1, most); count <= most {`},
	{"missing takes what failed", "only.go", "		return had != HadNone\n	case OnlyFailed", "		return had != HadNone && had != HadFailure\n	case OnlyFailed"},
	{"failed takes what never ran", "only.go", "		return had != HadFailure\n	case MissingOrFailed", "		return had != HadFailure && had != HadNone\n	case MissingOrFailed"},
	{"an open run is run beside", "only.go", "return had != HadNone && had != HadFailure\n	case All", "return had == HadSuccess\n	case All"},
	{"the rest is reckoned from one date", "only.go", `done < minDone`, `done < 1`},
	{"a backfill that is over goes on", "state.go", `if state.Final() {`, `if state == Success {`},
	{"a failure does not stop it", "state.go", `rules.OnFailure == Stop && dates[DateFailed] > 0`, `rules.OnFailure == Stop && dates[DateFailed] > 1`},
	{"dates start while paused", "state.go", `if state == Paused {`, `if false {`},
	{"a date that is being stopped makes room", "state.go", `rules.Parallel-dates.Live()`, `rules.Parallel-dates[DateRunning]`},
	{"it is over while the last date runs", "state.go", `dates[DateWaiting] == 0 && dates.Live() == 0`, `dates[DateWaiting] == 0`},
	{"a failed date does not fail it", "state.go", "		if dates[DateFailed] > 0 {\n			return Failed, 0", "		if dates[DateFailed] < 0 {\n			return Failed, 0"},
}

// filters are bugs in which events a listener hears of.
var filters = []mutant{
	{"every kind of event is heard", "listen.go", `!slices.Contains(f.Events, fact.Kind)`, `false`},
	{"every workflow is heard", "listen.go", `!named(f.Workflows, fact.Workflow)`, `false`},
	{"a workflow's name is compared letter by letter", "listen.go", `dag.FoldName(n) == dag.FoldName(name)`, `n == name`},
	{"every task is heard", "listen.go", `!slices.Contains(f.Tasks, fact.TaskName)`, `false`},
	{"every state is heard", "listen.go", `!slices.Contains(f.States, fact.State)`, `false`},
	{"every reason is heard", "listen.go", `!slices.Contains(f.Reasons, fact.Reason)`, `false`},
	{"what cannot be decided is not heard", "listen.go", `return err != nil || holds`, `return err == nil && holds`},
	{"the end of an instance is a state like others", "listen.go", "		case state.Final():\n			return Ended\n", ""},
	{"the end of a task is a state like others", "listen.go", `if dag.TaskState(e.State).Final() {`, `if false {`},
	{"the first event is about a task", "listen.go", `Code: dag.EventInstance, Task: -1, At: at`, `Code: dag.EventInstance, At: at`},
	{"a condition may name what no event has", "listen.go", `if names[name] == nil {`, `if false {`},
	{"a filter of any length is taken", "listen.go", `if l.n > maxNames {`, `if l.n > 10*maxNames {`},
}
