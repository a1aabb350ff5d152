package main

// remembering are bugs in what is kept of tasks, and in who takes it over.
var remembering = []mutant{
	{"what is too old is taken over", "cache.go", `s.now >= min(ev.Entry.At.Add(s.in.plan.Definition.Tasks[ev.Task].Cache.MaxAge), ev.Entry.Until)`, `s.now >= ev.Entry.Until`},
	{"what has expired is taken over", "cache.go", `s.now >= min(ev.Entry.At.Add(s.in.plan.Definition.Tasks[ev.Task].Cache.MaxAge), ev.Entry.Until)`, `s.now >= ev.Entry.At.Add(s.in.plan.Definition.Tasks[ev.Task].Cache.MaxAge)`},
	{"what was kept for something else is taken over", "cache.go", ` || ev.Entry.Key != s.in.CacheKey(ev.Task) ||`, ` ||`},
	{"a paused instance takes over what is kept", "cache.go", `t == nil || s.in.State != InstanceRunning ||`, `t == nil ||`},
	{"a rerun takes over what is kept", "cache.go", ` && (in.Round == 1 || t.Attempts == 0)`, ``},
	{"what never ran can't take over in a later round", "cache.go", `(in.Round == 1 || t.Attempts == 0)`, `in.Round == 1`},
	{"a dry run leaves what it gave", "cache.go", `t.Cache.MaxAge == 0 || in.DryRun {`, `t.Cache.MaxAge == 0 {`},
	{"a delayed task takes over before its delay", "cache.go", `t.State == TaskReady && !t.delayed() &&`, `t.State == TaskReady &&`},
	{"what was taken over stays with the dispatcher", "cache.go", `s.takeBack(ev.Task)`, `s.taken(ev.Task)`},
	{"what was taken over releases nobody", "cache.go", "	s.tell(ev.Task, message)\n	s.spread(ev.Task)", "	s.tell(ev.Task, message)"},
	{"outputs are not taken over", "cache.go", "	t.Outputs = ev.Entry.Outputs\n", ""},
	{"nobody says whose outputs they are", "cache.go", `t.Attempt.CachedFrom, t.Attempt.Outputs = ev.Entry.Instance, ev.Entry.Outputs`, `t.Attempt.Outputs = ev.Entry.Outputs`},
	{"nothing is kept", "step_report.go", "		s.cache()\n", ""},
	{"what is kept has no end", "cache.go", `a.FinishedAt.Add(s.in.plan.Definition.Tasks[a.Task].Cache.MaxAge)`, `a.FinishedAt.Add(1 << 60)`},
	{"every workflow has the same keys", "cache.go", `hashed(h, strconv.FormatInt(in.Facts.WorkflowID, 10), `, `hashed(h, `},
	{"other outputs have the same key", "cache.go", "	hashed(h, t.Outputs...)\n", ""},
	{"other values have the same key", "cache.go", `hashed(h, name, env[name])`, `hashed(h, name)`},
	{"another script has the same key", "cache.go", `hashed(h, string(run.Spec), run.WorkingDir)`, `hashed(h, run.WorkingDir)`},
	{"no two instances have the same key", "cache.go", "			delete(env, b.name)\n", "			_ = b\n"},
	{"a date that a script names is no part of its key", "cache.go", `!strings.Contains(string(run.Spec), b.name)`, `(true || strings.Contains(string(run.Spec), b.name))`},
	{"a repeated task is cached", "cache.go", `case t.Repeat.Max > 0:`, `case false:`},
	{"a task that is undone is cached", "cache.go", `case undone:`, `case undone && false:`},
	{"what a master does is cached", "cache.go", `case !worksOnWorker(t.Type):`, `case false:`},
}
