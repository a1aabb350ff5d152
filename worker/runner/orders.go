package runner

import (
	"time"

	"github.com/porpoise/porpoise/worker/lease"
	"github.com/porpoise/porpoise/worker/mask"
	"github.com/porpoise/porpoise/worker/tasklog"
)

func (l *loop) handleOrder(o order) {
	if o.leave {
		l.leave()
		return
	}
	if o.gone {
		if l.session == o.from {
			l.session, l.news = nil, &News{}
			l.idle = time.Now()
		}
		return
	}
	if o.Attach != nil {
		l.attach(o.from, time.Duration(o.Attach.Until))
	}
	if l.session != o.from {
		return // an older control process: the newer one gives the orders
	}
	for _, mark := range o.Forget {
		if line := l.ledger.live[mark]; line != nil && line.exit != nil {
			l.note(&Entry{Forgotten: mark})
		}
	}
	for _, s := range o.Starts {
		l.accept(s)
	}
	for _, lease := range o.Leases {
		l.extend(lease)
	}
	for _, s := range o.Stops {
		l.beginStop(s)
	}
	for _, out := range o.Outputs {
		l.output(out)
	}
	if o.Quit && len(l.tasks) == 0 {
		l.quit = true
	}
}

// attach tells a new control process all that is alive and all that it has not kept. A deadline that
// was granted for the time without one ends with that: from now on only fresh evidence extends it.
func (l *loop) attach(s *session, until time.Duration) {
	if l.session != nil {
		_ = l.session.conn.Close()
	}
	l.session = s
	attached := &Attached{}
	for _, t := range l.tasks {
		if until > 0 && t.until > until {
			t.until = until
		}
		attached.Running = append(attached.Running, t.startedNews())
	}
	for _, line := range l.ledger.live {
		if line.exit != nil {
			attached.Exits = append(attached.Exits, line.exit)
		}
	}
	l.news = &News{Attached: attached, DroppedBytes: l.store.Dropped(), Refused: l.refused.Load()}
}

// accept takes one attempt. One that is known, alive or ended, is never started again.
func (l *loop) accept(s *Start) {
	if line := l.ledger.live[s.Mark]; line != nil {
		if line.exit != nil {
			l.news.Exits = append(l.news.Exits, line.exit)
		}
		return
	}
	now := time.Now()
	key := keyOf(s.Attempt)
	secrets := mask.New(s.Secrets)
	t := &task{
		id: l.nextID, start: s, key: key, log: l.store.NewLog(key, now), outputs: newOutputs(s.Outputs, secrets),
		epoll: l.epollFD, pid: 0, pidfd: -1, pipes: [2]int{-1, -1}, until: time.Duration(s.Until),
	}
	if secrets != nil {
		t.masks = [2]*mask.Stream{secrets.Stream(), secrets.Stream()}
	}
	l.nextID++
	l.note(&Entry{Accepted: &Accepted{Attempt: s.Attempt, Mark: s.Mark}})
	l.mu.Lock()
	l.tasks[s.Mark] = t
	l.mu.Unlock()
	switch {
	case len(l.tasks) > maxTasks:
		t.failure = &failure{"exec_failed", "the runner has too many tasks"}
		l.birth(t)
	case l.leaving:
		t.failure = &failure{"exec_failed", "the runner is ending"}
		t.stop = &stopping{order: &Stop{Reason: "resource_termination", GiveBack: true}}
		l.birth(t)
	case len(s.Argv) == 0:
		t.failure = &failure{"exec_failed", "no program is given"}
		l.birth(t)
	default:
		l.spawn = append(l.spawn, t)
	}
}

func keyOf(a *Attempt) tasklog.Key {
	return tasklog.Key{Instance: a.GetInstanceId(), Task: a.GetTask(), Number: a.GetNumber()}
}

// extend moves deadlines; one never comes nearer by it.
func (l *loop) extend(o *Lease) {
	until := time.Duration(o.Until)
	if len(o.Marks) == 0 {
		for _, t := range l.tasks {
			if t.until != 0 {
				t.until = max(t.until, until)
			}
		}
		return
	}
	for _, mark := range o.Marks {
		if t := l.tasks[mark]; t != nil && t.until != 0 {
			t.until = max(t.until, until)
		}
	}
}

// leaseEnded is the reason of an attempt whose deadline came.
const leaseEnded = "lease_ended"

// lapse ends the attempts whose deadline has come. It looks before any order is heard: after a sleep
// of the whole host an order that waited may be of a time before. It compares by the clock that counts
// sleep, so that KILL is not late by it.
func (l *loop) lapse(now time.Time, boot time.Duration) {
	for mark, t := range l.tasks {
		if t.until == 0 {
			continue
		}
		switch phase := lease.At(t.until, boot); {
		case phase != lease.Valid && !t.lapsing:
			t.lapsing = true
			grace := max(0, t.until-boot)
			l.log.Warn("attempt ends: nobody has counted on it for the length of a lease", "mark", mark, "grace", grace)
			l.beginStop(&Stop{Mark: mark, GraceMs: grace.Milliseconds(), Reason: leaseEnded})
		case phase == lease.Over && t.stop != nil && t.stop.phase < stopKill:
			t.stop.killAt = now
			if t.born && t.failure == nil {
				l.killNow(t, now)
			}
		}
	}
}

// beginStop starts a kill; a second order shortens the grace of the first.
func (l *loop) beginStop(s *Stop) {
	t := l.tasks[s.Mark]
	if t == nil {
		return
	}
	now := time.Now()
	killAt := now.Add(time.Duration(s.GraceMs) * time.Millisecond)
	if t.stop != nil {
		if killAt.Before(t.stop.killAt) {
			t.stop.killAt = killAt
		}
		return
	}
	l.mu.Lock()
	t.stop = &stopping{order: s, killAt: killAt, nextHunt: now}
	l.mu.Unlock()
}

// leaveGrace is what tasks get when this process is told to end.
const leaveGrace = 5 * time.Second

// leave gives all tasks back and ends the process after the last one. Their ends wait
// in the journal for the next worker.
func (l *loop) leave() {
	l.leaving = true
	for mark := range l.tasks {
		l.beginStop(&Stop{Mark: mark, GraceMs: leaveGrace.Milliseconds(), Reason: "resource_termination", GiveBack: true})
	}
}

func (l *loop) output(o *Output) {
	key := keyOf(o.Attempt)
	log := l.foreign[key]
	if log == nil {
		log = l.store.NewLog(key, time.Now())
		l.foreign[key] = log
	}
	stream := tasklog.Stdout
	if o.Stream == "stderr" {
		stream = tasklog.Stderr
	}
	log.Write(stream, o.Data)
	if o.End {
		log.Close()
		delete(l.foreign, key)
	}
}
