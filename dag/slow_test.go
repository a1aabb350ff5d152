package dag

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The rules, written again slowly and from the states alone, for the auditor to compare with.

// slowDone is done, written again from the rules.
func slowDone(plan *Plan, in *Instance, i int) bool {
	s := in.Tasks[i].State
	if s == "failed" {
		return plan.Definition.Tasks[i].AllowFailure
	}
	return s == "success" || s == "forced_success" || s == "skipped" || s == "disabled"
}

// slowChosen says whether the branch task from leads to task to: true where to is in no branch.
func slowChosen(plan *Plan, in *Instance, from, to int) bool {
	var cases []Case
	var other []string
	switch spec := plan.Definition.Tasks[from].Spec.(type) {
	case *SwitchSpec:
		cases, other = spec.Cases, spec.Else
	case *ConditionsSpec:
		cases, other = spec.Cases, spec.Else
	}
	name := plan.Definition.Tasks[to].Name
	named, chosen := slices.Contains(other, name), slices.Contains(other, name)
	choice := in.Tasks[from].Outputs["branch"]
	for k, c := range cases {
		in := slices.Contains(c.Then, name)
		named = named || in
		if choice == fmt.Sprint(k) {
			chosen = in
		}
	}
	return !named || chosen
}

// slowFate is what the rules say of a waiting task, from the states alone: wait, run, pass or block.
func slowFate(plan *Plan, in *Instance, i int) string {
	def := &plan.Definition.Tasks[i]
	if def.Compensates > 0 {
		return slowUndo(plan, in, i)
	}
	if def.Finally && slowOpen(plan, in, func(t *Task) bool { return !t.Finally }) {
		return "wait"
	}
	var all, open, good, bad, gates, chose, lost int
	for _, n := range plan.Pred[i] {
		t := &in.Tasks[n]
		if t.State == "" {
			continue
		}
		all++
		leads := slowChosen(plan, in, n, i)
		names := false // whether n has a branch to i
		if plan.rules[n].branches != nil {
			names = plan.rules[n].branches.named[i]
		}
		if names {
			gates++
		}
		switch {
		case !t.State.Final():
			open++
			if names && chose == 0 {
				return "wait"
			}
		case t.State == TaskSkipped && t.Reason != "" || slowDone(plan, in, n) && !leads:
		case slowDone(plan, in, n):
			good++
			if names {
				chose++
			}
		default:
			bad++
			if names {
				lost++
			}
		}
	}
	join := def.Join
	if def.Type == TypeConditions || strings.Contains(join, " ") {
		join = "conditions"
	}
	pick := func(now bool, fate string, late bool, then, otherwise string) string {
		switch {
		case now:
			return fate
		case open > 0:
			return "wait"
		case late:
			return then
		default:
			return otherwise
		}
	}
	switch {
	case all == 0:
		return "run"
	case gates > 0 && chose == 0 && lost > 0:
		return "block"
	case gates > 0 && chose == 0:
		return "pass"
	case join == "conditions":
		return pick(false, "", good+bad > 0, "run", "pass")
	case join == "none_failed":
		return pick(bad > 0, "block", true, "run", "")
	case join == "all_done":
		return pick(false, "", true, "run", "")
	case join == "one_success":
		if open == 0 && good == 0 && bad > 0 {
			return "block"
		}
		return pick(good > 0, "run", false, "", "pass")
	case join == "all_failed":
		return pick(all > open+bad, "pass", true, "run", "")
	case join == "one_failed":
		return pick(bad > 0, "run", false, "", "pass")
	default:
		return pick(bad > 0, "block", good > 0, "run", "pass")
	}
}

// slowOpen says whether a task that fits has not ended.
func slowOpen(plan *Plan, in *Instance, fits func(*Task) bool) bool {
	for k, t := range in.Tasks {
		if t.State != "" && !t.State.Final() && fits(&plan.Definition.Tasks[k]) {
			return true
		}
	}
	return false
}

// slowUndo is slowFate for a task that undoes another.
func slowUndo(plan *Plan, in *Instance, i int) string {
	if slowOpen(plan, in, func(t *Task) bool { return !t.Finally && t.Compensates == 0 }) {
		return "wait"
	}
	of := in.Tasks[plan.Definition.Tasks[i].Compensates-1]
	failed, later := false, false
	for k, t := range in.Tasks {
		def := &plan.Definition.Tasks[k]
		switch {
		case t.State == "" || def.Finally:
		case def.Compensates == 0:
			failed = failed || !slowDone(plan, in, k) && !slowHandled(plan, in, k)
		case k != i && !t.State.Final():
			other := in.Tasks[def.Compensates-1]
			later = later || other.State == "success" && other.Attempts > 0 && other.FinishedAt > of.FinishedAt
		}
	}
	switch {
	case in.OnFailure != "compensate" || !failed || of.State != "success" || of.Attempts == 0: // taken over
		return "pass"
	case later:
		return "wait"
	default:
		return "run"
	}
}

// slowHandled says that only conditions tasks, and tasks that come last, need a failed task.
func slowHandled(plan *Plan, in *Instance, i int) bool {
	looks := 0
	for k, t := range in.Tasks {
		def := &plan.Definition.Tasks[k]
		if t.State == "" || def.Finally || def.Compensates > 0 || !slices.Contains(plan.Pred[k], i) {
			continue
		}
		if def.Type != "conditions" || def.Disabled {
			return false
		}
		looks++
	}
	return in.Tasks[i].State == "failed" && looks > 0
}

// slowOutcome is the final state, written again from the rules.
func (a *auditor) slowOutcome() InstanceState {
	var killed, broken int
	for i, t := range a.in.Tasks {
		if t.State == TaskKilled {
			killed++
		}
		if t.State != "" && !slowDone(a.plan, a.in, i) && !slowHandled(a.plan, a.in, i) {
			broken++
		}
	}
	switch {
	case a.overTime:
		return InstanceFailed
	case a.stopped && killed > 0:
		return InstanceStopped
	case broken > 0:
		return InstanceFailed
	default:
		return InstanceSuccess
	}
}

func slowRetries(def *Task) int {
	if def.Retry.Delays != nil {
		return len(def.Retry.Delays)
	}
	return def.Retry.Times
}

// slowDelay multiplies step by step, in whole numbers where the factor is one.
func slowDelay(def *Task, k int) time.Duration {
	if def.Retry.Delays != nil {
		return def.Retry.Delays[k-1]
	}
	d, limit := float64(def.Retry.Delay), def.Retry.MaxDelay
	if limit == 0 {
		limit = 24 * time.Hour
	}
	for range k - 1 {
		if def.Retry.Backoff != 0 {
			d *= def.Retry.Backoff
		}
	}
	return min(time.Duration(d), limit)
}
