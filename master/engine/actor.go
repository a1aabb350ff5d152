package engine

import (
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// actor is one instance in memory. Its phase says who may touch in: nobody while idle,
// one stepper while stepping, nobody again while its commit is on the way.
type actor struct {
	in    *dag.Instance
	plan  *dag.Plan
	epoch int64
	ids   changeIDs
	// parent is the instance that this one is a child of, 0 for none; depth is how many are above it, by who
	// started it.
	parent int64
	depth  int
	by     string
	// backfill says that a backfill made it.
	backfill bool
	// controls are the control rows that have been seen: a row is read again until its answer is committed.
	controls map[int64]struct{}
	asking   *sql.Entry // what it asks for a place with; nil where it needs none. It never changes
	entering bool       // the answer to that has yet to come
	// hearing are the control rows of ended children that it was loaded with, while these are read.
	hearing map[int64]struct{}
	// places are the tasks that have their places of a task group, asks the questions of those that wait for them.
	places   map[int]bool
	asks     map[int]int64
	recalled map[int]bool // ready tasks that have asked for what is kept; true: there was nothing
	// beginning is set until its first commit where that commit claims it.
	beginning *beginning
	seen      *sql.Seen // what its last commit has left in its row, for the next one
	restored  bool      // actions still due must be asked for before the first mail
	woken     bool      // it had been evicted: nothing is to be written only because it is back
	done      *commit   // what the last commit gave, to be followed up by the next stepper
	turn      *commit   // the turn that is being stepped, until it is on its way
	taken     []mail    // the mail of that turn which is not stepped yet

	mu     sync.Mutex // guards what follows
	phase  phase
	mail   []mail
	idleAt time.Time // since when it is idle
}

type phase uint8

const (
	idle phase = iota
	queued
	busy // being stepped, or its commit is on the way
	gone // dropped: mail is refused
)

// changeIDs are the ids that a published change carries.
type changeIDs struct{ workflow, project int64 }

// mail is one input with what its sender waits for.
type mail struct {
	input dag.Input
	// answer is told the verdict on a report, after the commit.
	answer func(verdict, owner string)
	// entered says that the input answers the actor's entry.
	entered bool
	// placed says that task has the places that it asked for under that name; there is no input then.
	placed bool
	task   int
	ask    int64
	// opened brings the secrets of an attempt; there is no input then.
	opened *opened
	// recalled brings what is kept for a task; there is no input then.
	recalled *recalled
	// assigned says that the input is an Assign whose worker gets its ask back if it is not used.
	assigned bool
	instant  bool // what it was given is for a task that takes no slot
}

// post puts a mail into an instance's mailbox and queues the instance. It returns false if the
// instance is not here or its mailbox is full.
func (e *Engine) post(instance int64, m mail) bool {
	e.mu.Lock()
	a := e.actors[instance]
	if e.leaving {
		a = nil
	}
	e.mu.Unlock()
	return a != nil && e.mailTo(a, m)
}

func (e *Engine) mailTo(a *actor, mails ...mail) bool {
	a.mu.Lock()
	if a.phase == gone || len(a.mail)+len(mails) > maxMail {
		a.mu.Unlock()
		return false
	}
	a.mail = append(a.mail, mails...)
	wake := a.phase == idle
	if wake {
		a.phase = queued
	}
	a.mu.Unlock()
	if wake {
		e.runnable.push(a)
	}
	return true
}

// collect takes all mail of an actor that a stepper has taken up; false says that it was dropped
// while it waited for that.
func (a *actor) collect() (mails []mail, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.phase == gone {
		return nil, false
	}
	a.phase = busy
	mails = a.mail
	a.mail = nil
	return mails, true
}

// rest lets an actor wait for mail; it returns false if some has come meanwhile.
func (a *actor) rest(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.mail) > 0 {
		return false
	}
	a.phase, a.idleAt = idle, now
	return true
}

// runQueue hands runnable actors to the steppers in the order in which they came.
type runQueue struct {
	mu     sync.Mutex
	some   sync.Cond
	actors []*actor
	closed bool
}

func newRunQueue() *runQueue {
	q := &runQueue{}
	q.some.L = &q.mu
	return q
}

func (q *runQueue) push(a *actor) {
	q.mu.Lock()
	q.actors = append(q.actors, a)
	q.mu.Unlock()
	q.some.Signal()
}

// wait waits for an actor; false means that the queue is closed.
func (q *runQueue) wait() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.actors) == 0 && !q.closed {
		q.some.Wait()
	}
	return !q.closed
}

// take returns the actor that has waited longest, or nil.
func (q *runQueue) take() *actor {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.actors) == 0 {
		return nil
	}
	a := q.actors[0]
	q.actors[0] = nil
	q.actors = q.actors[1:]
	return a
}

func (q *runQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.some.Broadcast()
}

// instant says that a task ends as it begins, and takes no slot of its worker.
func (a *actor) instant(task int) bool { return dag.Instant(a.plan.Definition.Tasks[task].Type) }
