package main

var barrier = []mutant{
	{"masters resume after a PREPARE that nobody finished", "barrier.go", "	b.follow()\n	b.ack(now)\n", "	if now.Sub(b.prepareSeen) > 10*time.Second {\n		b.heard, b.standing.Prepare = 0, nil\n	}\n	b.follow()\n	b.ack(now)\n"},
	{"one ack is skipped", "coordinator.go", `case len(silent) == 0:`, `case len(silent) <= 1:`},
	{"an ack of another epoch counts", "coordinator.go", `if ack.Epoch != c.prepare.Epoch || ack.Incarnation != m.Incarnation {`, `if ack.Incarnation != m.Incarnation {`},
	{"an ack of an earlier life counts", "coordinator.go", `if ack.Epoch != c.prepare.Epoch || ack.Incarnation != m.Incarnation {`, `if ack.Epoch != c.prepare.Epoch {`},
	{"the ack comes before claims have ended", "barrier.go", `if !b.closed || !b.quiet || !b.joined {`, `if !b.closed || !b.joined {`},
	{"an old gate's quiet counts for a new one", "barrier.go", `b.quiet = b.quiet || m.Gate == b.gate`, `b.quiet = true`},
	{"an older commit opens", "barrier.go", `open := b.layout != nil && b.layout.Epoch >= b.heard && !b.excluded()`, `open := b.layout != nil && !b.excluded()`},
	{"who was left out goes on", "barrier.go", `b.layout.Epoch >= b.heard && !b.excluded()`, `b.layout.Epoch >= b.heard`},
	{"an older commit takes the place of a newer", "barrier.go", `(b.layout == nil || c.Epoch > b.layout.Epoch) {`, `(b.layout == nil || c.Epoch != b.layout.Epoch) {`},
	{"a commit does not ask for the acks", "coordinator.go", `Revision: b.standing.CommitRevision, Acks: guards}`, `Revision: b.standing.CommitRevision}`},
	{"epochs begin at the floor alone", "coordinator.go", `b.do(RaiseFloor{b.co.serial, b.highest() + 1})`, `b.do(RaiseFloor{b.co.serial, 1})`},
	{"a commit without an answer is given up", "coordinator.go", "		if b.retryDue(now) {\n			c.phase = collecting\n			b.collect(now)\n		}\n", "		_ = now\n"},
	{"a changed membership is not looked at", "coordinator.go", `len(members) > 0 && !slices.Equal(members, c.prepare.Members)`, `false`},
	{"the silent one is waited for", "coordinator.go", `case c.prepare.Try >= maxTries && len(silent) < len(c.prepare.Members):`, `case false:`},
	{"who is left out never comes back", "barrier.go", `ack.Epoch >= epoch && (b.asked() || now.Sub(b.outSince[out[i]]) >= readmitWait) {`, `ack.Epoch >= epoch && false {`},
	{"every change is a rebalance at once", "coordinator.go", `debounce = 500 * time.Millisecond`, `debounce = time.Millisecond`},
	{"the lock is kept after the commit", "coordinator.go", "	b.co = coordinator{serial: b.co.serial}\n	b.do(Unlock{})", "	b.co = coordinator{serial: b.co.serial}"},
	{"after a wipe the missing are dead", "barrier.go", `if !now.Before(b.doubtUntil) || b.layout == nil || b.heard > b.layout.Epoch {`, `if true {`},
	{"an unfinished rebalance is left alone", "barrier.go", `if c == nil || p != nil && p.Epoch > c.Epoch || c.Epoch < b.heard ||`, `if c == nil || p != nil && p.Epoch < 0 ||`},
}
