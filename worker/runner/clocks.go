package runner

import (
	"syscall"
	"time"

	"github.com/porpoise/porpoise/internal/lean"
)

const (
	// huntEvery is how often the process table is searched for what ended attempts left.
	huntEvery = time.Second
	// stopHuntEvery is the pace of the search while a kill is under way.
	stopHuntEvery = 50 * time.Millisecond
	// stuckAfter is how long a kill may go unconfirmed before it is told.
	stuckAfter = 10 * time.Second
	clockEvery = 10 * time.Millisecond
)

// clocks does what is due by time.
func (l *loop) clocks(now time.Time) {
	if now.Sub(l.ticked) < clockEvery {
		return
	}
	l.ticked = now
	l.tell(now)
	want := huntOrder{}
	hunt := false
	for _, t := range l.tasks {
		if !t.born || t.failure != nil {
			continue
		}
		t.log.Age(now)
		if t.stop == nil {
			l.maybeEnd(t, now)
			continue
		}
		if t.stop.gone {
			l.maybeEnd(t, now)
			continue
		}
		l.stopClock(t, now)
		if !now.Before(t.stop.nextHunt) {
			hunt = true
		}
		want.add(t)
	}
	for _, log := range l.foreign {
		log.Age(now)
	}
	routine := now.Sub(l.hunted) >= huntEvery && (len(l.tasks) > 0 || l.ended)
	if (hunt || routine) && !l.hunting {
		l.hunting, l.hunted, l.ended = true, now, false
		l.hunter <- want
	}
	if n := l.store.Dropped(); n != l.dropped && l.session != nil {
		l.dropped, l.news.DroppedBytes = n, n
	}
	if n := l.refused.Load(); n != l.turned && l.session != nil {
		l.turned, l.news.Refused = n, n
	}
	l.idleClock(now)
}

// tell notes and reports the starts that are old enough.
func (l *loop) tell(now time.Time) {
	kept := l.young[:0]
	for _, t := range l.young {
		switch {
		case l.tasks[t.start.Mark] != t: // over already
		case now.UnixMilli()-t.startedAt < tellAfter.Milliseconds():
			kept = append(kept, t)
		default:
			expose(t.pid) // what is over sooner harms nobody
			p, _ := readProcess(t.pid)
			l.note(&Entry{Born: &Born{
				Mark: t.start.Mark, Pid: int32(t.pid), StartedAt: t.startedAt, Ticks: p.ticks, Boot: l.boot,
			}})
			l.news.Started = append(l.news.Started, t.startedNews())
		}
	}
	clear(l.young[len(kept):])
	l.young = kept
}

// stopClock moves a kill on: TERM once the process table was looked at, KILL after grace.
func (l *loop) stopClock(t *task, now time.Time) {
	if t.stop.phase == stopTerm && !now.Before(t.stop.killAt) {
		l.killNow(t, now)
	}
	if t.stop.phase == stopKill && !t.stop.stuck && now.After(t.stop.stuckAt) {
		t.stop.stuck = true
		l.news.Stuck = append(l.news.Stuck, &Stuck{Mark: t.start.Mark, Pids: l.left[t.start.Mark]})
		l.log.Error("processes can't be killed", "mark", t.start.Mark, "pids", l.left[t.start.Mark])
	}
}

// killNow ends the task's group; the hunts that follow end the rest, until none is left.
func (l *loop) killNow(t *task, now time.Time) {
	t.stop.phase, t.stop.stuckAt = stopKill, now.Add(stuckAfter)
	t.signal(syscall.SIGKILL)
	t.stop.nextHunt = now
}

// handleHunt takes what a search of the process table found.
func (l *loop) handleHunt(h *huntResult) {
	l.hunting = false
	l.ended = l.ended || h.again
	l.left = h.alive
	now := time.Now()
	for mark, t := range l.tasks {
		if t.stop == nil || !t.born || t.failure != nil || t.stop.gone {
			continue
		}
		switch {
		case t.stop.phase == stopSnapshot && h.termed[mark]:
			// What has left the group has its TERM from the hunter.
			t.stop.phase = stopTerm
			t.signal(syscall.SIGTERM)
			t.signal(syscall.SIGCONT)
			t.stop.nextHunt = now.Add(stopHuntEvery)
		case t.over && h.seen[mark] && len(h.alive[mark]) == 0:
			t.stop.gone = true
			t.drain(0, l.buf, drainBudget)
			t.drain(1, l.buf, drainBudget)
			l.maybeEnd(t, now)
		default:
			t.stop.nextHunt = now.Add(stopHuntEvery)
		}
	}
}

// idleClock ends the process when nobody has needed it for long.
func (l *loop) idleClock(now time.Time) {
	if l.leaving && len(l.tasks) == 0 {
		l.quit = true
		return
	}
	l.restClock(now)
	if l.session != nil || len(l.tasks) > 0 {
		l.idle = now
		return
	}
	if l.cfg.IdleFor > 0 && now.Sub(l.idle) >= l.cfg.IdleFor {
		l.log.Info("runner ends: no task and no worker", "idle_for", l.cfg.IdleFor)
		l.quit = true
	}
}

// restAfter is how long there is no task before this process gives back what it used for the last ones.
const restAfter = 10 * time.Second

// restClock gives memory back once a rest has come.
func (l *loop) restClock(now time.Time) {
	if len(l.tasks) > 0 {
		l.restAt, l.rests = now.Add(restAfter), false
		return
	}
	if !l.rests && !now.Before(l.restAt) {
		l.rests = true
		lean.Rest()
	}
}
