package main

// point is a step at which a process may end, sleep or fail.
type point struct {
	name    string
	faults  string // classes of fault that bring it about; "" where the load does
	nth     int    // the hit that counts; 0 is the first
	noError bool   // nothing there can fail
}

// points lists the steps, in the order of a run.
func points() []point {
	var list []point
	for _, p := range []point{
		{name: "api.commit", nth: 2},
		{name: "cmd.claim", nth: 2},
		{name: "task.insert", nth: 3},
		{name: "attempt.mark", nth: 4},
		{name: "report.commit", nth: 4},
		{name: "inst.finish", nth: 2},
		{name: "control.write"},
		{name: "limit.enter"},
		{name: "group.enter"},
		{name: "parent.wake"},
		{name: "takeover.bump", faults: "kill.master"},
		{name: "dispatch.send", nth: 4},
		{name: "kill.send"},
		{name: "report.ack", nth: 5},
		{name: "journal.sync", nth: 4},
		{name: "outbox.send", nth: 9},
		{name: "shim.spawn", nth: 4},
		{name: "shim.exitrec", nth: 4},
		{name: "sched.plan"},
		{name: "sched.fire", nth: 4},
		{name: "ring.claim", nth: 4},
		{name: "ring.save", nth: 4},
		{name: "notify.send", nth: 4},
		{name: "rebal.prepare", faults: "kill.master", noError: true},
		{name: "rebal.ack", faults: "kill.master"},
		{name: "rebal.commit", faults: "kill.master", noError: true},
	} {
		for _, side := range []string{".before", ".after"} {
			both := p
			both.name += side
			list = append(list, both)
		}
	}
	return append(list,
		point{name: "api.reply.before", nth: 2},
		point{name: "cmd.fetch.after", nth: 2},
		point{name: "inst.load.before", nth: 2},
		point{name: "timer.fire.before", noError: true},
		point{name: "dispatch.reply.before", nth: 4},
		point{name: "succ.eval.before", nth: 4, noError: true},
		point{name: "succ.eval.after", nth: 4, noError: true},
		point{name: "sched.end.planned"},
		point{name: "retry.arm.before", noError: true},
		point{name: "takeover.select.before", faults: "kill.master"},
		point{name: "takeover.load.before", faults: "kill.master"},
		point{name: "rebal.lock.before", faults: "kill.master"},
		point{name: "rebal.lock.after", faults: "kill.master", noError: true},
		point{name: "hb.send.before", nth: 4},
		point{name: "log.write.before", nth: 2},
		point{name: "worker.recv.before", nth: 4},
		point{name: "rebal.unlock.before", faults: "kill.master"},
	)
}
