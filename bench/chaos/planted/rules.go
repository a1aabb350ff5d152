package main

// engineBugs break the rules and who carries them out.
func engineBugs() []bug {
	const (
		failover     = "master/failover/failover.go"
		turn, sweep  = "master/engine/step.go", "master/engine/sweep.go"
		report, join = "dag/step_report.go", "dag/join.go"
		restore      = "dag/restore.go"
	)
	return []bug{
		{
			name: "(5) an unanswered attempt goes to every worker", promise: "I11", under: mute, shapes: "chain",
			edits: []edit{{
				sweep, "			e.Links.Again(rpc.Process{Node: r.node, Incarnation: r.incarnation}, r.dispatch)",
				"			e.nodes.mu.Lock()\n			for name, other := range e.nodes.byNode {\n				e.Links.Again(rpc.Process{Node: name, Incarnation: other.incarnation}, r.dispatch)\n			}\n			e.nodes.mu.Unlock()",
			}},
		},
		{
			name: "a dispatch leaves before its commit", promise: "I11", under: torn, shapes: "chain",
			edits: []edit{{turn, "		if turn.fx.Changed || turn.refuses() {\n			e.commits.push(turn)", "		if turn.fx.Changed || turn.refuses() {\n			e.act(a, turn)\n			e.commits.push(turn)"}},
		},
		{
			name: "(10) a report of an older attempt is believed", promise: "I16", under: stuck, shapes: "long,chain",
			edits: []edit{{report, "t.Attempt.Number == 0 || t.Attempt.Number != number || t.Attempt.Token != token {", "t.Attempt.Number == 0 {"}},
		},
		{
			name: "a task starts with one need unmet", promise: "I14", under: calm, shapes: "diamond",
			edits: []edit{{join, "	switch {\n	case n.open > 0:\n		return verdictOpen", "	switch {\n	case n.open > 1:\n		return verdictOpen"}},
		},
		{
			name: "a retry does not wait", promise: "I18", under: calm, shapes: "flaky,hopeless",
			edits: []edit{{report, "t.NextAt = s.now.Add(retry.Wait(t.Retries))", "t.NextAt = s.now"}},
		},
		{
			name: "one retry too many", promise: "I13", under: calm, shapes: "hopeless",
			edits: []edit{{report, "t.Retries >= retry.Count()", "t.Retries > retry.Count()"}},
		},
		{
			name: "a failed attempt is called a success", promise: "I16", under: calm, shapes: "broken",
			edits: []edit{
				{report, "	case AttemptSuccess:\n		s.facts(r)", "	case AttemptSuccess, AttemptFailed:\n		s.facts(r)"},
				{report, "	case AttemptFailed, AttemptKilled:\n		s.facts(r)", "	case AttemptKilled:\n		s.facts(r)"},
			},
		},
		{
			name: "a child that was stopped is a success", promise: "I25", under: calm, shapes: "parent stopped",
			edits: []edit{{"dag/step_child.go", "	case ev.State == InstanceSuccess:", "	case ev.State != InstanceFailed:"}},
		},
		{
			name: "a task group has places for all", promise: "I31", under: calm, shapes: "pressed",
			edits: []edit{{"sql/taskplace.go", "	free := g.size\n", "	free := g.size + 9\n"}},
		},
		{
			name: "a timeout comes early", promise: "I19", under: calm, shapes: "late",
			edits: []edit{{report, "a.Deadline = a.StartedAt.Add(after)", "a.Deadline = a.StartedAt.Add(after / 2)"}},
		},
		{
			name: "a timeout never comes", promise: "I19", under: calm, shapes: "late",
			edits: []edit{{report, "Timeout.After; after > 0 {", "Timeout.After; after > 1<<60 {"}},
		},
		{
			// To forget the dispatch in dag/restore.go alone does no harm: what is followed is sent again.
			name: "a takeover does not follow what runs", promise: "I41", under: both, shapes: "long,chain",
			edits: []edit{
				{restore, "due = append(due, Dispatch{Attempt: t.Attempt})", "_ = t"},
				{"master/engine/admit.go", `attempt.Number > 0 && attempt.Worker != ""`, `attempt.Number > 1<<20`},
			},
		},
		{
			name: "a takeover forgets what waits for a retry", promise: "I41", under: deaths, shapes: "hopeless,flaky",
			edits: []edit{{restore, "due = append(due, Arm{Timer: Timer{Kind: TimerRetry, Task: i, Number: number}, At: t.NextAt})", "_ = number"}},
		},
		{
			name: "a living master is taken for dead", promise: "I43", under: calm, shapes: "long",
			edits: []edit{
				{failover, "		if live[o.Owner] || o.Owner == f.Self.String() {", "		if live[o.Owner] && now.UnixMilli()%7000 > 1200 || o.Owner == f.Self.String() {"},
				{failover, "	absence = time.Second", "	absence = time.Duration(0)"},
				// The second line: who is called dead is looked up in the registry once more.
				{failover, "return live[owner] })", "return live[owner] && false })"},
			},
		},
		{
			name: "(8) a barrier lets commands be taken", promise: "I10", under: slow, shapes: "diamond",
			edits: []edit{{"master/slot/barrier.go", "		b.closed, b.quiet = true, false\n		b.gate++\n		b.do(Close{b.gate})", "		b.closed, b.quiet = true, true\n		b.gate++"}},
		},
		{
			name: "every slot is everybody's", promise: "I10", under: calm, shapes: "chain",
			edits: []edit{{
				"master/slot/barrier.go", "Open{Owned: b.layout.Of(b.cfg.Self), Epoch",
				"Open{Owned: func(o []bool) []bool {\n			for i := range o {\n				o[i] = true\n			}\n			return o\n		}(b.layout.Of(b.cfg.Self)), Epoch",
			}},
		},
		{
			name: "a silent link is a lost worker", promise: "I12", under: stuck, shapes: "long",
			edits: []edit{{sweep, "if present != nil && !present[name] && now.Sub(k.heard) > silence && now.Sub(k.absent) > absence && now.Sub(r.takenOver) > inherited {", "if now.Sub(k.heard) > time.Second {"}},
		},
	}
}

// workerBugs break what runs the tasks.
func workerBugs() []bug {
	const accept, task, hunt, outbox, core = "worker/accept.go", "worker/runner/task.go", "worker/runner/hunt.go", "worker/outbox.go", "worker/core.go"
	return []bug{
		{
			name: "(11) a kill ends the leader alone", promise: "I41", under: calm, shapes: "stopped,ends",
			edits: []edit{
				{task, "{ _ = syscall.Kill(-t.pid, s) }", "{ _ = syscall.Kill(t.pid, s) }"},
				{hunt, "			if order.kill[mark] {\n				killProcess(p, unix.SIGKILL)\n			} else if", "			if"},
				{hunt, "			if !leads {\n				h.log.Warn(\"process of an ended attempt killed\", \"pid\", p.pid, \"mark\", mark)\n				killProcess(p, unix.SIGKILL)\n			}", "			_ = leads"},
			},
		},
		{
			name: "(12) what left its group is not looked for", promise: "I28", under: calm, shapes: "stopped,ends",
			edits: []edit{{hunt, "	below := descendants(allProcesses(), os.Getpid())", "	below := descendants(nil, os.Getpid())"}},
		},
		{
			name: "a kill is confirmed before it is done", promise: "I20", under: calm, shapes: "stopped,ends",
			edits: []edit{{
				accept, "		c.kill(a, &runner.Stop{Mark: mark, GraceMs: grace, Reason: k.Reason})\n		return",
				"		c.kill(a, &runner.Stop{Mark: mark, GraceMs: grace, Reason: k.Reason})\n		c.finish(a, &rpc.Report{State: \"killed\", Reason: k.Reason})\n		return",
			}},
		},
		{
			name: "(13) a deadline counts from the last feed", promise: "I12", under: gone, shapes: "long",
			edits: []edit{{"worker/runner/orders.go", "	until := time.Duration(o.Until)", "	until := lease.Now() + lease.Length"}},
		},
		{
			name: "an attempt has no deadline", promise: "I12", under: gone, shapes: "long",
			edits: []edit{{"worker/lease/lease.go", "	case until == 0 || now < until-TermBefore:", "	case until == 0 || now < until-TermBefore || now != 0:"}},
		},
		{
			// The second line is what the worker remembers of its ends, for a new owner that asks.
			name: "(22) a report to who does not own it is dropped", promise: "I41", under: deaths, shapes: "chain,long",
			edits: []edit{
				{outbox, `case "ok", "stale":`, `case "ok", "stale", "not_owner":`},
				{outbox, "	case \"not_owner\":\n", "	case \"never\":\n"},
				{accept, "	if r, ok := c.finished.get(mark); ok {\n		if !c.outbox.resend(mark, node, c.now) {\n			c.report(mark, protoReport(r), node)\n		}\n		return\n	}\n	a := &attempt", "	if _, ok := c.finished.get(mark); ok {\n		return\n	}\n	a := &attempt"},
			},
		},
		{
			name: "the exit code is always 0", promise: "I16", under: calm, shapes: "broken,hopeless",
			edits: []edit{{core, "	if r.StartedAt == 0 {", "	if r.State == \"failed\" {\n		r.State = \"success\"\n	}\n	if r.StartedAt == 0 {"}},
		},
		{
			name: "a token that is known runs again", promise: "I11", under: mute, shapes: "chain",
			edits: []edit{
				{accept, "	if a := c.attempts[mark]; a != nil {\n		if d.OwnerEpoch < a.epoch {", "	if a := c.attempts[mark]; a != nil && false {\n		if d.OwnerEpoch < a.epoch {"},
				{accept, "	if r, ok := c.finished.get(mark); ok {\n		if !c.outbox.resend(mark, node, c.now) {\n			c.report(mark, protoReport(r), node)\n		}\n		return\n	}\n	a := &attempt", "	a := &attempt"},
			},
		},
	}
}
