package main

// policies are bugs in what a task says about its own running.
var policies = []mutant{
	{"every failure is retried", "step_report.go", `why := s.in.unretried(i, &s.last); why != ""`, `why := ""; why != ""`},
	{"a failure that no rule excludes is not retried", "retry.go", `case r.OnExitCodes != nil && code == 0:`, `case code == 0:`},
	{"a range of exit codes lacks its last", "retry.go", `code <= c.To`, `code < c.To`},
	{"what is excluded is retried", "retry.go", `case slices.ContainsFunc(r.NotOnExitCodes, among):`, `case false:`},
	{"the code of a killed process counts", "retry.go", `if a.Reason != ReasonExitCode {`, `if false {`},
	{"a condition that can't be decided retries", "retry.go", "	if err != nil {\n		return \"not retried: retry.when cannot", "	if err != nil {\n		return \"\"\n		return \"not retried: retry.when cannot"},
	{"the policy counts from the second failure", "retry.go", `int64(in.Tasks[i].Retries + 1)`, `int64(in.Tasks[i].Retries)`},
	{"a retry forgets where it failed", "step_report.go", `t.AvoidWorker = a.Worker`, `t.AvoidWorker = ""`},
	{"a loss is retried that must not be", "step_report.go", `s.in.plan.Definition.Tasks[i].OnLost == OnLostFail:`, `false:`},
	{"a process that was lost is run again", "step_report.go", `slices.Contains(lostReasons[:], reason)`, `slices.Contains(lostReasons[:0], reason)`},
	{"a delay is left out", "step.go", `s.in.plan.Definition.Tasks[i].Delay > 0 && !s.in.DryRun`, `false`},
	{"a dry run waits for a delay", "step.go", `s.in.plan.Definition.Tasks[i].Delay > 0 && !s.in.DryRun`, `s.in.plan.Definition.Tasks[i].Delay > 0`},
	{"a delayed task is given away", "step.go", `s.in.InMaster(ev.Task) || t.delayed() ||`, `s.in.InMaster(ev.Task) ||`},
	{"resume offers what is delayed", "step_control.go", "t.State == TaskReady && !t.delayed() {\n			ready", "t.State == TaskReady {\n			ready"},
	{"a withdrawn delay keeps its timer", "step_control.go", "	if t.delayed() {\n", "	if false {\n"},
	{"a crash offers what is delayed", "restore.go", `if t.delayed() {`, `if false {`},
	{"a task that was taken keeps its time in the queue", "step_ready.go", "	if t.NextAt == 0 {\n		return\n	}\n", "	if true {\n		return\n	}\n"},
	{"a warning of the queue fails the task", "step_ready.go", `if action != TimeoutWarn {`, `if true {`},
	{"a raw script is left as it stands", "resolve.go", `ok && r.t.Raw && first == nil`, `ok && false && first == nil`},
	{"an environment wins over parameters", "environment.go", `if _, given := r.values[variable]; !given {`, `if true {`},
	{"the queue never runs over", "step_ready.go", `after > 0 {`, `after < 0 {`},
}
