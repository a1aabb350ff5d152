package slot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/sql"
)

const (
	// callTimeout bounds a write to the registry and to the database: a coordinator that hangs
	// in one holds up the others.
	callTimeout = 2 * time.Second
	// unlockAgain is the pause before a lock that could not be given up is given up again.
	unlockAgain = 200 * time.Millisecond
	// tickBusy and tickIdle are how often a Barrier hears that time passes.
	tickBusy = 20 * time.Millisecond
	tickIdle = time.Second
)

// Registry is what the barrier uses of registry.Registry.
type Registry interface {
	registry.Store
	Lock(ctx context.Context, s registry.Session, name string) (registry.Lock, error)
}

// History is what the barrier uses of the database.
type History interface {
	// NextLayout raises the floor of layout epochs by one, to atLeast if that is more, and returns it.
	NextLayout(ctx context.Context, atLeast int64) (int64, error)
	// SaveRebalance keeps a rebalance; one that is kept already is no error.
	SaveRebalance(ctx context.Context, r sql.Rebalance) error
}

// Config is what a Loop needs; every field but Now is required.
type Config struct {
	Self  Master
	Slots int
	// TTL is the lease of the memberships.
	TTL      time.Duration
	Registry Registry
	History  History
	Table    *Table
	Logger   hclog.Logger
	Now      func() time.Time // nil is time.Now
}

// Loop moves the Barrier of one master: it brings what the registry shows, and does what the
// Barrier asks for. All the rules are the Barrier's.
type Loop struct {
	Config
	log     hclog.Logger
	barrier *Barrier

	mu   sync.Mutex
	mail []Message
	wake chan struct{}

	// Run's own:
	session registry.Session
	lock    registry.Lock
	waiting context.CancelFunc // ends the wait for the lock
	turn    int                // of the wait
	jobs    []job              // of the coordinator, one after the other
	acks    []job              // only the newest counts
}

// job is one write, with what it was asked under.
type job struct {
	effect  Effect
	session registry.Session
	lock    registry.Lock
}

// New returns a Loop that does nothing before Run.
func New(c Config) *Loop {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Loop{
		Config: c, log: c.Logger.Named("slot"), wake: make(chan struct{}, 1),
		barrier: NewBarrier(BarrierConfig{Self: c.Self, Slots: c.Slots, Trust: 2 * c.TTL}),
	}
}

// The loop's own messages to itself.
type (
	joined struct{ session registry.Session }
	locked struct {
		turn int
		lock registry.Lock
		err  error
	}
)

func (joined) message() {}
func (locked) message() {}

// Members brings a view of the registered masters. One that is leaving takes nothing any more, so
// that its slots move before it is gone. It never blocks.
func (l *Loop) Members(view registry.View) {
	m := Members{Revision: view.Revision, Wiped: view.Wiped}
	for _, member := range view.Members {
		if member.Draining == "" {
			m.Members = append(m.Members, Master{Node: member.Node, Incarnation: member.Incarnation, Weight: max(1, member.Weight)})
		}
	}
	l.post(m)
}

// Session brings this master's membership, nil when it is lost. It never blocks.
func (l *Loop) Session(s registry.Session) { l.post(joined{s}) }

// post puts a message into the mail. Its length is bounded by what is under way: a newer
// picture takes the place of one that was not looked at.
func (l *Loop) post(m Message) {
	l.mu.Lock()
	kept := l.mail[:0]
	for _, old := range l.mail {
		switch now := m.(type) {
		case Members:
			if before, same := old.(Members); same {
				now.Wiped = now.Wiped || before.Wiped
				m = now
				continue
			}
		case Layout:
			if before, same := old.(Layout); same {
				now.Wiped = now.Wiped || before.Wiped
				m = now
				continue
			}
		}
		kept = append(kept, old)
	}
	l.mail = append(kept, m)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Loop) take() []Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	mail := l.mail
	l.mail = nil
	return mail
}

// Run keeps the master's part of the barrier until ctx ends. What it was allowed to take
// then stays in the table.
func (l *Loop) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	listings, err := l.Registry.Follow(ctx, Folder)
	if err != nil {
		stop()
		return fmt.Errorf("follow the layout: %w", err)
	}
	jobs, acks := make(chan job), make(chan job)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for name, loop := range map[string]func(context.Context){
		"follow": func(context.Context) { l.follow(listings) },
		"write":  func(ctx context.Context) { l.write(ctx, jobs) },
		"ack":    func(ctx context.Context) { l.write(ctx, acks) },
	} {
		all.Go(func() {
			_ = guard.Loop(ctx, l.log, name, func(ctx context.Context) error { loop(ctx); return nil })() // it has no error
		})
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var first, ack job
		var toJobs, toAcks chan job
		if len(l.jobs) > 0 {
			first, toJobs = l.jobs[0], jobs
		}
		if len(l.acks) > 0 {
			ack, toAcks = l.acks[0], acks
		}
		select {
		case <-ctx.Done():
			l.stopWaiting()
			return nil
		case toJobs <- first:
			l.jobs = l.jobs[1:]
			continue
		case toAcks <- ack:
			l.acks = l.acks[1:]
			continue
		case <-l.wake:
		case <-timer.C:
			l.step(ctx, &all, Tick{})
		}
		for _, m := range l.take() {
			l.step(ctx, &all, m)
		}
		if l.barrier.Busy() {
			timer.Reset(tickBusy)
		} else {
			timer.Reset(tickIdle)
		}
	}
}

// follow brings what stands in the registry.
func (l *Loop) follow(listings <-chan registry.Listing) {
	for listing := range listings {
		l.post(l.read(listing))
	}
}

func (l *Loop) read(listing registry.Listing) Layout {
	st, err := Read(listing, l.Slots)
	if err != nil {
		l.log.Warn("keys of the layout ignored", "error", err)
	}
	return Layout{st}
}

// step lets the barrier hear a message and does what it asks for.
func (l *Loop) step(ctx context.Context, all *sync.WaitGroup, m Message) {
	switch m := m.(type) {
	case joined:
		l.stopWaiting()
		l.session, l.lock = m.session, nil
		l.hear(ctx, all, Membership{false})
		if m.session != nil {
			l.hear(ctx, all, Membership{true})
		}
	case locked:
		switch {
		case m.turn != l.turn && m.lock != nil:
			l.jobs = append(l.jobs, job{effect: Unlock{}, lock: m.lock}) // nobody waits for it any more
		case m.turn != l.turn:
		case m.err != nil:
			l.log.Debug("the lock of the layout was not given", "error", m.err)
			if m.lock != nil { // it was, and what came after it panicked
				l.jobs = append(l.jobs, job{effect: Unlock{}, lock: m.lock})
			}
			l.hear(ctx, all, Refused{})
		default:
			l.lock = m.lock
			l.hear(ctx, all, Locked{})
		}
	default:
		l.hear(ctx, all, m)
	}
}

func (l *Loop) hear(ctx context.Context, all *sync.WaitGroup, m Message) {
	for _, e := range l.barrier.Step(m, l.Now()) {
		l.do(ctx, all, e)
	}
}

func (l *Loop) do(ctx context.Context, all *sync.WaitGroup, e Effect) {
	switch e := e.(type) {
	case Close:
		l.Table.Close(func() { l.post(Quiet(e)) })
	case Open:
		l.Table.Open(e.Owned, e.Epoch, e.Shared)
		l.log.Info("slots taken", "epoch", e.Epoch, "slots", count(e.Owned))
	case SendAck:
		l.acks = []job{{effect: e, session: l.session}}
	case Contend:
		if l.session != nil {
			l.wait(ctx, all, l.session)
		}
	case Withdraw:
		l.stopWaiting()
		l.lock = nil
	case Unlock:
		l.jobs = append(l.jobs, job{effect: e, lock: l.lock})
		l.lock = nil
	case RaiseFloor, SendPrepare, SendCommit, Record:
		l.jobs = append(l.jobs, job{effect: e, lock: l.lock})
	}
}

func count(owned []bool) (n int) {
	for _, o := range owned {
		if o {
			n++
		}
	}
	return n
}

// wait asks for the lock, and looks at what stands once it has it: the holder before may have
// finished, and his writes were answered before the lock was free.
func (l *Loop) wait(ctx context.Context, all *sync.WaitGroup, s registry.Session) {
	l.stopWaiting()
	ctx, l.waiting = context.WithCancel(ctx)
	turn := l.turn
	all.Go(func() {
		var lock registry.Lock
		err := guard.Do(l.log, "lock", func() (err error) {
			if err = failpoint.Hit("rebal.lock.before"); err != nil {
				return err
			}
			lock, err = l.Registry.Lock(ctx, s, LockName)
			if err != nil {
				return err
			}
			_ = failpoint.Hit("rebal.lock.after")
			look, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			if listing, lerr := l.Registry.List(look, Folder); lerr == nil {
				l.post(l.read(listing))
			}
			return nil
		})
		l.post(locked{turn, lock, err})
	})
}

func (l *Loop) stopWaiting() {
	l.turn++
	if l.waiting != nil {
		l.waiting()
		l.waiting = nil
	}
}

// write does jobs one after the other.
func (l *Loop) write(ctx context.Context, jobs <-chan job) {
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-jobs:
			if _, ok := j.effect.(Unlock); ok {
				l.unlock(ctx, j.lock)
				continue
			}
			if err := guard.Do(l.log, "write", func() error { l.perform(ctx, j); return nil }); err != nil {
				l.unanswered(j, err)
			}
		}
	}
}

// unanswered tells the barrier of a job that ended without a word: it would wait for one for ever, and keep the lock
// that every other master waits for.
func (l *Loop) unanswered(j job, err error) {
	switch e := j.effect.(type) {
	case RaiseFloor:
		l.post(Raised{e.Serial, 0, err})
	case SendPrepare:
		l.wrote(e.Serial, 0, err)
	case SendCommit:
		l.wrote(e.Serial, 0, err)
	case SendAck, Record, Close, Open, Contend, Withdraw, Unlock:
		// An ack that does not arrive is asked for again, for the others nobody waits.
	}
}

func (l *Loop) perform(ctx context.Context, j job) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	switch e := j.effect.(type) {
	case SendAck:
		if j.session == nil {
			return
		}
		if failpoint.Hit("rebal.ack.before") != nil {
			return
		}
		revision, err := l.put(ctx, AckFolder+"/"+l.Self.Node, e.Ack, registry.If{Bound: j.session})
		if err != nil {
			l.log.Debug("ack not written", "epoch", e.Ack.Epoch, "error", err)
			return
		}
		if failpoint.Hit("rebal.ack.after") != nil {
			return // as if the answer had been lost: the registry will show it
		}
		l.post(Acked{e.Ack, revision})
	case RaiseFloor:
		epoch, err := l.History.NextLayout(ctx, e.AtLeast)
		if err != nil {
			l.log.Warn("no rebalance: the floor of its epoch was not raised", "error", err)
		}
		l.post(Raised{e.Serial, epoch, err})
	case SendPrepare:
		_ = failpoint.Hit("rebal.prepare.before")
		revision, err := l.put(ctx, PrepareKey, e.Prepare, registry.If{Held: j.lock})
		_ = failpoint.Hit("rebal.prepare.after")
		l.wrote(e.Serial, revision, err)
	case SendCommit:
		cond := registry.If{ModRevision: e.Revision, Absent: e.Revision == 0, Held: j.lock}
		for _, g := range e.Acks {
			cond.Others = append(cond.Others, registry.KeyRevision{Key: AckFolder + "/" + g.Node, ModRevision: g.Revision})
		}
		_ = failpoint.Hit("rebal.commit.before")
		revision, err := l.put(ctx, CommitKey, e.Commit, cond)
		_ = failpoint.Hit("rebal.commit.after")
		l.wrote(e.Serial, revision, err)
	case Record:
		l.log.Info("slots rebalanced", "epoch", e.Commit.Epoch, "cause", e.Commit.Cause, "members", len(e.Commit.Members),
			"excluded", len(e.Commit.Excluded), "took", time.Duration(e.Commit.At-e.Commit.StartedAt)*time.Millisecond)
		if err := l.History.SaveRebalance(ctx, history(e.Commit)); err != nil {
			l.log.Warn("rebalance not kept in the history", "epoch", e.Commit.Epoch, "error", err)
		}
	case Close, Open, Contend, Withdraw, Unlock: // done by do and write
	}
}

// unlock gives the lock up, however often that takes: one that stays behind keeps every master from
// coordinating for as long as this membership lives.
func (l *Loop) unlock(ctx context.Context, lock registry.Lock) {
	for lock != nil {
		err := guard.Do(l.log, "unlock", func() error {
			if err := failpoint.Hit("rebal.unlock.before"); err != nil {
				return err
			}
			call, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			return lock.Unlock(call)
		})
		if err == nil {
			return
		}
		l.log.Debug("the lock of the layout was not given up, trying again", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-lock.Lost():
			return
		case <-time.After(unlockAgain):
		}
	}
}

// put writes a value as JSON. A write under a lock that is none any more cannot be.
func (l *Loop) put(ctx context.Context, key string, value any, cond registry.If) (int64, error) {
	if cond.Held == nil && cond.Bound == nil {
		return 0, registry.ErrConflict
	}
	text, err := json.Marshal(value)
	if err != nil {
		return 0, fmt.Errorf("encode %s: %w", key, err)
	}
	return l.Registry.Put(ctx, key, text, cond)
}

func (l *Loop) wrote(serial int, revision int64, err error) {
	outcome := Done
	switch {
	case errors.Is(err, registry.ErrConflict):
		outcome = Conflict
	case err != nil:
		outcome = Unknown
	}
	if err != nil {
		l.log.Debug("the coordinator's write did not succeed", "error", err)
	}
	l.post(Wrote{serial, outcome, revision})
}

// history is a commit as the database keeps it.
func history(c Commit) sql.Rebalance {
	r := sql.Rebalance{
		Epoch: c.Epoch, Cause: c.Cause, Coordinator: c.Coordinator, StartedAt: dag.Millis(c.StartedAt), CommittedAt: dag.Millis(c.At),
		Moved: c.Moved, Restarts: c.Restarts,
	}
	slots := make([]int, len(c.Members))
	for _, i := range c.Owners {
		slots[i]++
	}
	for i, m := range c.Members {
		r.Members = append(r.Members, sql.RebalanceMember{Node: m.Node, Incarnation: m.Incarnation, Weight: m.Weight, Slots: slots[i]})
	}
	for _, m := range c.Excluded {
		r.Excluded = append(r.Excluded, sql.RebalanceMember{Node: m.Node, Incarnation: m.Incarnation, Weight: m.Weight})
	}
	for _, s := range c.Steps {
		r.Steps = append(r.Steps, sql.RebalanceStep{Epoch: s.Epoch, What: s.What, Node: s.Node, Note: s.Note, At: dag.Millis(s.At)})
	}
	return r
}
