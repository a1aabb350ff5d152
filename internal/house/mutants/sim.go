package main

// What follows are bugs between the parts: each needs a crash, a cut or a late message to show.

var rows = []mutant{
	{"a commit does not compare the epoch", "commit.go", `row, found := b.locked[o.commit.Instance.ID]
		switch {`, `row, found := b.locked[o.commit.Instance.ID]
		o.commit.Epoch = row.epoch
		switch {`},
	{"a takeover keeps the epoch", "takeover.go", `SET owner = ?, owner_epoch = owner_epoch + 1, crash_count`, `SET owner = ?, owner_epoch = owner_epoch + 0, crash_count`},
	{"successors become ready in a later transaction", "commit.go", `		r, def := &t.Instance.Tasks[i], &t.Plan.Definition.Tasks[i]
`, `		r, def := &t.Instance.Tasks[i], &t.Plan.Definition.Tasks[i]
		if r.State == dag.TaskReady && r.Attempts == 0 {
			continue
		}
`},
	{"retries are counted in memory alone", "commit.go", `int64(r.Retries), int64(r.Lost)`, `int64(0), int64(r.Lost)`},
}

var engine = []mutant{
	{"a commit that met no row counts as done", "commit.go", `	case err == nil:
		a.done = t`, `	case err == nil || errors.Is(err, sql.ErrNotOwner):
		a.done = t`},
	{"a report is acked before its commit", "step.go", `turn.replies = append(turn.replies, reply{m.answer, verdict})`, `m.answer(verdict, "")`},
	{"a report on what is over is dropped", "engine.go", `	case errors.Is(err, sql.ErrNotFound), err == nil && row.State.Final():
		answer(VerdictStale, "")`, `	case errors.Is(err, sql.ErrNotFound), err == nil && row.State.Final():`},
	{"what a new process adopted is lost to a new owner", "nodes.go", `return ok && claimed == token`, `return ok && claimed != token`},
	{"a worker out of reach is lost though it is registered", "sweep.go", `present != nil && !present[name] && now.Sub(k.heard) > silence`, `present != nil && now.Sub(k.heard) > silence`},
	{"an unanswered dispatch is never sent again", "sweep.go", `waited > startWait`, `waited > 1000*startWait`},
}

var links = []mutant{
	{"an attempt goes to every worker", "link.go", `	if open := l.find(worker.Node); open != nil && open.worker == worker {
		open.out.add(func(m *rpc.MasterMessage) { m.Dispatches`, `	for _, open := range l.byNode {
		open.out.add(func(m *rpc.MasterMessage) { m.Dispatches`},
	{"a master that may be replaced vouches for leases", "beats.go", `Unsure: l.Unsure != nil && l.Unsure()`, `Unsure: false`},
}

var layout = []mutant{
	{"a master takes commands after it has agreed to wait", "table.go", `	if !t.open {
		return nil, 0, false`, `	if t.owned == nil {
		return nil, 0, false`},
	{"a layout is committed without the last ack", "coordinator.go", `	case len(silent) == 0:
		b.sendCommit(now)`, `	case len(silent) <= 1:
		b.sendCommit(now)`},
}

var reports = []mutant{
	{"a late report ends the attempt that came after", "step_report.go", ` || t.Attempt.Number != number || t.Attempt.Token != token`, ``},
}

var control = []mutant{
	{"a dispatch that comes again is run again", "accept.go", `	if r, ok := c.finished.get(mark); ok {
		if !c.outbox.resend(mark, node, c.now) {
			c.report(mark, protoReport(r), node)
		}
		return
	}
	a := &attempt{`, `	a := &attempt{`},
	{"an end is not kept for who comes after a crash", "core.go", `	if err := c.kept.report(r); err != nil {`, `	if err := error(nil); err != nil {`},
	{"deadlines count from the last feed", "tick.go", `all := c.book.Until("")`, `all := c.boot + lease.Length`},
	{"an attempt without a lease begins", "accept.go", `case !c.mayRun(node):`, `case false:`},
}

var steady = []mutant{
	{"a master goes by the clock on the wall", "clock.go", `return base.Add(c.wall().Sub(*base))`, `return base.Add(c.wall().Round(0).Sub(base.Round(0)))`},
}

var wheels = []mutant{
	{"a wheel stays where a wrong clock has taken it", "wheel.go", `		w.back(now)`, `		now = w.now`},
}

var firers = []mutant{
	{"a clock that has leapt fires on", "clock.go", `return t.known && !t.jumped && t.off.Abs() <= skewStop`, `return t.known`},
	{"an hour of fires is due by a leap", "clock.go", `		t.jumped, jumped = true, true`, `		t.jumped, jumped = false, false`},
}

var leases = []mutant{
	{"a lease is longer than masters wait", "lease.go", `return newest + Length`, `return newest + 2*Length`},
}
