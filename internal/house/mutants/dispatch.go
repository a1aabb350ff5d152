package main

var giving = []mutant{
	{"a task goes to a worker without its labels", "core.go", `bool { return item.Labels.In(w.labels) }`, `bool { return true }`},
	{"a task avoids a worker for one that may not have it", "core.go", `w.Node != node && w.may(item)`, `w.Node != node`},
	{"the first worker of a group gets all", "core.go", `g.ring = append(slices.Delete(g.ring, i, i+1), w)`, `_ = i`},
	{"a worker is told of tasks that it may not have", "core.go", `!first.Instant && w.may(first)`, `!first.Instant`},
	{"a worker is told of instant tasks, which need no ask", "core.go", `!first.Instant && w.may(first)`, `w.may(first)`},
	{"instant tasks use up asks", "core.go", `	if instant {
		return &w.leave
	}
`, ``},
	{"everybody hears of a task that few may have", "core.go", `if labels.In(w.labels) {`, `{`},
}
