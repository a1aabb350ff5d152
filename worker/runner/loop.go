package runner

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/worker/lease"
	"github.com/porpoise/porpoise/worker/tasklog"
)

const (
	// maxTasks bounds the processes of one runner; slots are far below.
	maxTasks = 4096
	// linger is how long a process that the leader left behind may still write to the
	// task's output: `cmd | tee log &` ends within it, a daemon does not hold up the end.
	linger = 250 * time.Millisecond
	// drainBudget is read from one pipe before the others get their turn.
	drainBudget = 256 << 10
	// tellAfter is the age from which a start is told apart from its end. A task that is
	// over sooner costs its master one message and one commit in place of two.
	tellAfter = 20 * time.Millisecond
	// busyTick and idleTick are how often the loop looks at its clocks.
	busyTick = 20 * time.Millisecond
	idleTick = time.Second
)

// The things of a task in the epoll set, in the low bits of its id there.
const (
	watchStdout = iota
	watchStderr
	watchEnd
	watchWake
	watchKinds = 4
)

// inbox is how the other goroutines reach the loop.
type inbox struct {
	mu     sync.Mutex // guards what follows
	orders []order
	births []*task
	hunts  []*huntResult
	wake   int // eventfd
}

type order struct {
	from *session
	*Order
	gone  bool // the connection has ended
	leave bool // this process is told to end
}

func (b *inbox) put(add func()) {
	b.mu.Lock()
	add()
	b.mu.Unlock()
	_, _ = unix.Write(b.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

func (b *inbox) take() ([]order, []*task, []*huntResult) {
	b.mu.Lock()
	defer b.mu.Unlock()
	orders, births, hunts := b.orders, b.births, b.hunts
	b.orders, b.births, b.hunts = nil, nil, nil
	return orders, births, hunts
}

// loop owns all tasks from their birth to their end. One goroutine runs it: it reads
// the pipes, sees the ends, and writes log, journal and news once for all that one look
// at the epoll set brought.
type loop struct {
	*Runner
	epoll   *os.File
	buf     []byte
	events  [256]unix.EpollEvent
	session *session
	news    *News
	spawn   []*task
	young   []*task                      // born, not yet told
	foreign map[tasklog.Key]*tasklog.Log // output of attempts in the control process
	idle    time.Time                    // since when nobody needs this process
	restAt  time.Time                    // when it gives back memory, if no task comes before
	rests   bool                         // it has done so
	leaving bool                         // told to end after the last task
	quit    bool
	ended   bool // an attempt has ended since the last hunt
	hunting bool
	hunted  time.Time
	ticked  time.Time
	dropped int64 // output, as told last
	turned  int64 // connections away, as told last
}

// run goes on until the runner is to end.
func (l *loop) run() error {
	l.idle = time.Now()
	l.restAt = l.idle.Add(restAfter)
	for !l.quit {
		n, err := l.wait()
		if err != nil {
			return err
		}
		if len(l.tasks) > 0 {
			l.lapse(time.Now(), lease.Now())
		}
		l.handleInbox()
		for _, ev := range l.events[:n] {
			l.handleEvent(ev)
		}
		l.clocks(time.Now())
		if err := l.flush(); err != nil {
			return err
		}
	}
	return nil
}

// wait parks in Go's own poller, which watches the epoll set as one descriptor: no
// thread is held while nothing happens.
func (l *loop) wait() (int, error) {
	tick := idleTick
	if len(l.tasks) > 0 {
		tick = busyTick
	}
	if err := l.epoll.SetReadDeadline(time.Now().Add(tick)); err != nil {
		return 0, fmt.Errorf("wait for tasks: %w", err)
	}
	raw, err := l.epoll.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("wait for tasks: %w", err)
	}
	n := 0
	var werr error
	err = raw.Read(func(fd uintptr) bool {
		n, werr = unix.EpollWait(int(fd), l.events[:], 0)
		return n > 0 || (werr != nil && werr != unix.EINTR)
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return 0, nil
	}
	if err = errors.Join(err, werr); err != nil {
		return 0, fmt.Errorf("wait for tasks: %w", err)
	}
	return n, nil
}

func (l *loop) handleInbox() {
	orders, births, hunts := l.inbox.take()
	for _, t := range births {
		l.birth(t)
	}
	for _, o := range orders {
		l.handleOrder(o)
	}
	for _, h := range hunts {
		l.handleHunt(h)
	}
}

func (l *loop) birth(t *task) {
	t.born = true
	switch {
	case t.failure != nil && t.stop != nil:
		e := t.newExit(time.Now())
		t.stopped(e)
		l.end(t, e)
		return
	case t.failure != nil:
		if t.pid > 0 {
			t.reap()
		}
		e := t.newExit(time.Now())
		e.State, e.Reason, e.Message = "failed", t.failure.reason, t.failure.message
		t.log.Write(tasklog.Stderr, []byte("porpoise: "+t.failure.message+"\n"))
		e.Tail, e.LogBytes = t.log.Tail(), t.log.Size()
		l.end(t, e)
		return
	}
	l.young = append(l.young, t)
}

func (t *task) startedNews() *Started {
	return &Started{Mark: t.start.Mark, Attempt: t.start.Attempt, StartedAt: t.startedAt, Pid: int32(t.pid)}
}

func (l *loop) handleEvent(ev unix.EpollEvent) {
	id := uint64(uint32(ev.Fd)) | uint64(uint32(ev.Pad))<<32
	kind := id % watchKinds
	if kind == watchWake {
		var b [8]byte
		_, _ = unix.Read(l.inbox.wake, b[:])
		return
	}
	l.mu.Lock()
	t := l.byID[id/watchKinds]
	l.mu.Unlock()
	if t == nil {
		return
	}
	if !t.born {
		if l.handleInbox(); !t.born {
			return // its birth comes in a moment, and this event again
		}
	}
	if kind != watchEnd {
		t.drain(int(kind), l.buf, drainBudget)
		l.maybeEnd(t, time.Now())
		return
	}
	_ = unix.EpollCtl(l.epollFD, unix.EPOLL_CTL_DEL, t.pidfd, nil)
	now := time.Now()
	t.over, t.lingerTo = true, now.Add(linger)
	t.drain(0, l.buf, 64<<10)
	t.drain(1, l.buf, 64<<10)
	if t.stop != nil {
		t.stop.nextHunt = now
	}
	l.maybeEnd(t, now)
}

// maybeEnd ends a task whose leader has ended and whose output is complete or late.
func (l *loop) maybeEnd(t *task, now time.Time) {
	if !t.over {
		return
	}
	if t.stop != nil {
		if !t.stop.gone {
			return
		}
	} else if t.piped() && now.Before(t.lingerTo) {
		return
	}
	status := t.reap()
	l.end(t, t.exit(status, now))
}

// end forgets a task and tells its end.
func (l *loop) end(t *task, e *Exit) {
	t.log.Close()
	l.mu.Lock()
	delete(l.tasks, t.start.Mark)
	delete(l.byID, t.id)
	l.mu.Unlock()
	_ = failpoint.Hit("shim.exitrec.before")
	l.note(&Entry{Exit: e})
	_ = failpoint.Hit("shim.exitrec.after")
	l.news.Exits = append(l.news.Exits, e)
	l.ended = true
}

func (l *loop) note(e *Entry) {
	if err := l.ledger.add(e); err != nil {
		l.log.Error("journal entry lost", "error", err)
	}
}

// flush puts on disk what this turn brought, and then acts on it.
func (l *loop) flush() error {
	l.store.Flush()
	if err := l.ledger.write(); err != nil {
		// Without a journal no attempt may start; those that run end and are reported.
		l.log.Error("journal not written", "error", err)
		for _, t := range l.spawn {
			t.failure = &failure{"exec_failed", "the runner's journal can't be written"}
		}
	}
	for _, t := range l.spawn {
		l.spawns <- t
	}
	l.spawn = l.spawn[:0]
	if l.session != nil && (len(l.news.Started) > 0 || len(l.news.Exits) > 0 || len(l.news.Stuck) > 0 || l.news.DroppedBytes > 0 || l.news.Refused > 0 || l.news.Attached != nil) {
		l.session.out.add(l.news.withoutMerged())
		l.news = &News{}
	} else if l.session == nil {
		l.news = &News{}
	}
	return nil
}

// withoutMerged leaves out the start of what has ended in the same turn: the end tells it.
func (n *News) withoutMerged() *News {
	if len(n.Started) == 0 || len(n.Exits) == 0 {
		return n
	}
	ended := make(map[string]bool, len(n.Exits))
	for _, e := range n.Exits {
		ended[e.Mark] = true
	}
	kept := n.Started[:0]
	for _, s := range n.Started {
		if !ended[s.Mark] {
			kept = append(kept, s)
		}
	}
	n.Started = kept
	return n
}

// watch puts a new process into the epoll set; the spawner calls it.
func (r *Runner) watch(t *task) error {
	for kind, fd := range []int{t.pipes[0], t.pipes[1], t.pidfd} {
		id := t.id*watchKinds + uint64(kind)
		ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(uint32(id)), Pad: int32(uint32(id >> 32))}
		if err := unix.EpollCtl(r.epollFD, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			return fmt.Errorf("watch process %d: %w", t.pid, err)
		}
	}
	return nil
}

// spawnAll makes processes until the channel is closed.
func (r *Runner) spawnAll() {
	for t := range r.spawns {
		r.mu.Lock()
		stopped := t.stop != nil
		r.mu.Unlock()
		if stopped {
			t.failure = &failure{"stopped", "stopped before it was started"}
		}
		if t.failure == nil {
			r.spawner.spawn(t)
		}
		if t.failure == nil {
			r.mu.Lock()
			r.byID[t.id] = t
			r.mu.Unlock()
			if err := r.watch(t); err != nil {
				t.failure = &failure{"exec_failed", err.Error()}
			}
		}
		if t.failure != nil {
			r.inbox.put(func() { r.inbox.births = append(r.inbox.births, t) })
			continue
		}
		// No wake-up: the loop sees the birth with the process's first event or at its
		// next tick, and so tells most short tasks in one piece.
		r.inbox.mu.Lock()
		r.inbox.births = append(r.inbox.births, t)
		r.inbox.mu.Unlock()
	}
}
