package main

// family are bugs in what a parent and its children do to each other.
var family = []mutant{
	{"a stop leaves the child alone", "step_child.go", `s.order(Order{Child: a.Child, Verb: VerbStop, Force: force})`, `_ = force`},
	{"a recovery makes another child", "step_child.go", `return t.State == TaskReady && t.Child != 0 && t.Retries == 0`, `return t.State == "" && t.Child != 0`},
	{"a retry goes on with the old child", "step_child.go", ` && t.Retries == 0`, ``},
	{"an older attempt's child is heard", "step_child.go", ` || t.Attempt.Number != ev.Number`, ``},
	{"another child is heard", "step_child.go", ` || t.Attempt.Child != ev.Child`, ``},
	{"a child that runs again has ended", "step_child.go", ` || !ev.State.Final()`, ``},
	{"a stopped child is tried again", "step_child.go", `s.killed(ev.Task, ReasonChildStopped)`, `s.fail(ev.Task, ReasonChildStopped, "")`},
	{"a child that was stopped for its parent is tried again", "step_child.go", `s.killed(ev.Task, why)`, `s.fail(ev.Task, why, "")`},
	{"a forced stop's child is recovered", "step_child.go", ` || t.Reason == ReasonForcedStop {`, ` {`},
	{"undeclared outputs come back", "step_child.go", `outputs := s.declared(ev.Task, ev.Outputs)`, `outputs := ev.Outputs`},
	{"more children run than may", "step_dynamic.go", `			if p.running == spec.Parallel {`, `			if p.running > spec.Parallel {`},
	{"a failure ends no other children", "step_dynamic.go", `s.orderItems(ev.Task, VerbStop, false)`, `_ = before`},
	{"a retry runs all items again", "step_dynamic.go", "		case m.State == ItemSuccess:\n			continue", "		case false:\n			continue"},
	{"an item is gathered as another", "step_dynamic.go", `s.in.Tasks[i].Items[k].Outputs[name]`, `s.in.Tasks[i].Items[0].Outputs[name]`},
	{"a child's end leaves no event", "step_dynamic.go", `s.event(Event{Code: EventItem,`, `_ = (Event{Code: EventItem,`},
	{"pause leaves children running", "step_control.go", `s.orderAll(VerbPause)`, ``},
	{"resume leaves children paused", "step_control.go", `s.orderAll(VerbResume)`, ``},
	{"a rerun goes on with the old child", "step_round.go", `in.Tasks[i].Child, in.Tasks[i].Iteration, in.Tasks[i].Items = 0, 0, nil`, `in.Tasks[i].Iteration = 0`},
}
