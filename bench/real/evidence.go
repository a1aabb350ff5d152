package main

import (
	"errors"
	"fmt"
	"strings"
)

// maxComplaints bounds what is told of bad evidence: the first lines show the fault.
const maxComplaints = 10

// check reads what the tasks have written, a line "start|end task attempt" each, and
// lists what is wrong: a task that ran not at all or twice, that has not ended, or that
// began before all it needs had ended.
func check(tasks []traceTask, evidence string) error {
	known := make(map[string]traceTask, len(tasks))
	for _, t := range tasks {
		known[t.ID] = t
	}
	started, ended := map[string]int{}, map[string]int{}
	var wrong []error
	complain := func(format string, args ...any) {
		if len(wrong) < maxComplaints {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	for line := range strings.Lines(evidence) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		i := strings.LastIndexByte(rest, ' ') // a task's name may hold spaces, an attempt's number may not
		if i < 0 || (word != "start" && word != "end") {
			complain("evidence line %q is not start or end, a task and an attempt", line)
			continue
		}
		name := rest[:i]
		task, ok := known[name]
		switch {
		case !ok:
			complain("%s is in the evidence but not in the workflow", name)
		case word == "end":
			if ended[name]++; ended[name] > started[name] {
				complain("%s ended before it began", name)
			}
		default:
			started[name]++
			for _, dep := range task.Deps {
				if ended[dep] == 0 {
					complain("%s began before %s had ended", name, dep)
				}
			}
		}
	}
	for _, t := range tasks {
		if started[t.ID] != 1 || ended[t.ID] != 1 {
			complain("%s began %d times and ended %d times, want once", t.ID, started[t.ID], ended[t.ID])
		}
	}
	return errors.Join(wrong...)
}
