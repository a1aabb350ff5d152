package runner

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/porpoise/porpoise/worker/mask"
	"github.com/porpoise/porpoise/worker/tasklog"
)

// task is one process with what it has started. The spawner fills it up to the birth;
// from then on the loop alone touches it, but for what is named shared.
type task struct {
	id         uint64 // in the epoll set
	start      *Start
	key        tasklog.Key
	log        *tasklog.Log
	outputs    *outputs
	masks      [2]*mask.Stream // of stdout and stderr; nil without secrets
	outputPath string

	epoll     int // the set that watches it
	pid       int
	pidfd     int
	pipes     [2]int // stdout, stderr; -1 when closed
	startedAt int64  // UTC ms
	born      bool
	failure   *failure // it could not be started

	until   time.Duration // CLOCK_BOOTTIME: it ends then, if nobody says that it is wanted for longer; 0: never
	lapsing bool          // its deadline has come

	over     bool // the leader has ended; it is a zombie until the end
	lingerTo time.Time
	stop     *stopping
}

// failure is why a process could not be started.
type failure struct{ reason, message string }

// stopPhase says how far a kill has come.
type stopPhase uint8

const (
	stopSnapshot stopPhase = iota // who belongs to the task is being looked up
	stopTerm                      // TERM is sent, grace runs
	stopKill                      // KILL is sent to all, until none is left
)

type stopping struct {
	order    *Stop
	phase    stopPhase
	killAt   time.Time
	stuckAt  time.Time
	stuck    bool
	nextHunt time.Time
	gone     bool // a look at the process table found none left
}

func (t *task) piped() bool { return t.pipes[0] >= 0 || t.pipes[1] >= 0 }

// signal goes to the process group; the leader is not reaped yet, so its number can't
// have become another's.
func (t *task) signal(s syscall.Signal) { _ = syscall.Kill(-t.pid, s) }

// drain reads what is in a pipe, up to budget bytes, and closes it at its end.
func (t *task) drain(stream int, buf []byte, budget int) {
	for budget > 0 && t.pipes[stream] >= 0 {
		n, err := unix.Read(t.pipes[stream], buf)
		switch {
		case n > 0:
			budget -= n
			t.write(stream, buf[:n])
			if stream == 0 && t.outputs != nil {
				t.outputs.scan(buf[:n])
			}
		case err == unix.EAGAIN:
			return
		case err == unix.EINTR:
		default:
			t.closePipe(stream)
		}
	}
}

// write puts output into the log, without the values of secrets.
func (t *task) write(stream int, data []byte) {
	if m := t.masks[stream]; m != nil {
		data = m.Write(data)
	}
	t.log.Write(tasklog.Stream(stream), data)
}

// writeRest puts into the log what was held back, because a value could have begun with it.
func (t *task) writeRest() {
	for stream, m := range t.masks {
		if m != nil {
			t.log.Write(tasklog.Stream(stream), m.End())
		}
	}
}

// closePipe takes the pipe out of the epoll set first: a process that is just being made shares it until
// it has replaced its program, and for so long closing alone would leave an event that nobody takes.
func (t *task) closePipe(stream int) {
	if t.pipes[stream] >= 0 {
		_ = unix.EpollCtl(t.epoll, unix.EPOLL_CTL_DEL, t.pipes[stream], nil)
		_ = unix.Close(t.pipes[stream])
		t.pipes[stream] = -1
	}
}

// reap ends the task's group and takes the leader's status.
func (t *task) reap() unix.WaitStatus {
	t.signal(syscall.SIGKILL)
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(t.pid, &status, 0, nil); err != unix.EINTR {
			break
		}
	}
	_ = unix.Close(t.pidfd)
	t.closePipe(0)
	t.closePipe(1)
	return status
}

// exit tells the end of a task from its status.
func (t *task) exit(status unix.WaitStatus, now time.Time) *Exit {
	e := t.newExit(now)
	switch {
	case status.Signaled():
		e.State, e.Reason, e.ExitCode = "failed", "signal", 128+int32(status.Signal())
		e.Message = "ended by signal " + unix.SignalName(status.Signal())
	case status.ExitStatus() != 0:
		e.State, e.Reason, e.ExitCode = "failed", "exit_code", int32(status.ExitStatus())
		e.Message = fmt.Sprintf("ended with code %d", status.ExitStatus())
	default:
		e.State = "success"
	}
	if t.outputs != nil {
		err := t.outputs.readFile(t.outputPath)
		e.Outputs = t.outputs.values
		if t.outputs.err != nil && e.State == "success" {
			e.State, e.Reason, e.Message, e.Outputs = "failed", t.outputs.reason, t.outputs.err.Error(), nil
		} else if err != nil && e.State == "success" {
			e.State, e.Reason, e.Message, e.Outputs = "failed", "output_unreadable", err.Error(), nil
		}
	}
	if t.stop != nil {
		t.stopped(e)
	}
	t.writeRest()
	e.Tail, e.LogBytes = t.log.Tail(), t.log.Size()
	return e
}

func (t *task) newExit(now time.Time) *Exit {
	return &Exit{
		Mark: t.start.Mark, Attempt: t.start.Attempt,
		StartedAt: t.startedAt, FinishedAt: now.UnixMilli(),
	}
}

func (t *task) stopped(e *Exit) {
	e.State, e.Reason = "killed", t.stop.order.Reason
	switch {
	case e.Reason == leaseEnded:
		e.State, e.Message = "lost", "for too long nobody was heard who counts on this attempt"
	case t.stop.order.GiveBack:
		e.State = "returned"
	}
}
