package sql

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxBatchRows bounds the rows of one transaction: at 3 us a row it takes some ten
	// milliseconds, which is what the last caller in it waits.
	maxBatchRows = 4096
	// maxQueued bounds the calls that wait; one that finds it full waits to be queued.
	maxQueued = 16384
	// batchTimeout ends a transaction on a dead network or a frozen server.
	batchTimeout = 20 * time.Second
)

// operation is one thing that the writer does for a caller. Exactly one of start, control,
// claims, commit, audit is set. The writer alone touches it between taken and done.
type operation struct {
	start   *Start
	control *ControlRow
	claims  []Claim
	commit  *Transition
	audit   []AuditRow

	state atomic.Int32 // opWaiting, opTaken or opGone
	call  *call
	// in is the instance of which one batch may hold one such operation; 0 where several may stand together. The
	// writer goes by it before it takes the operation: what a caller gave who has left may hold something else by then.
	in int64

	// The answer.
	err     error
	id      int64 // start: the instance; audit: its first row
	existed bool  // start: by an earlier request with the same key
	claimed []ownership
}

const (
	opWaiting int32 = iota
	opTaken
	opGone // its caller has left before the writer took it
)

// ownership is what a claim or a takeover has won.
type ownership struct {
	id    int64
	epoch int64
	owner string
}

// call is the operations of one caller, who waits for all of them.
type call struct {
	ops  []*operation
	left atomic.Int32
	done chan struct{}
}

// rows estimates how many rows the operation writes.
func (o *operation) rows() int {
	switch {
	case o.start != nil:
		return 3
	case o.commit != nil:
		e := o.commit.Effects
		return 2 + len(e.Tasks) + len(e.Attempts) + len(e.Events) + len(e.Applied) + 2*(len(e.Children)+len(e.Orders))
	case o.audit != nil:
		return len(o.audit)
	default:
		return 2 + 2*len(o.claims)
	}
}

// A writer merges the writes of concurrent callers into one transaction after another: the
// price of a commit is the disk's, and all that wait for it share it. Its lanes take the calls as they come.
type writer struct {
	s        *Store
	queue    chan *call
	stop     chan struct{} // closed to end the lanes
	finished chan struct{} // closed when they have ended
	once     sync.Once

	batches atomic.Int64 // that were answered
}

// A lane writes one transaction at a time, on a connection that no other lane needs.
type lane struct {
	*writer
	held []*operation // must wait for the next batch
}

func newWriter(s *Store) *writer {
	w := &writer{
		s: s, queue: make(chan *call, maxQueued), stop: make(chan struct{}), finished: make(chan struct{}),
	}
	if s.cfg.Alone {
		return w
	}
	var lanes sync.WaitGroup
	for range s.Lanes() {
		lanes.Go((&lane{writer: w}).loop)
	}
	go func() {
		lanes.Wait()
		close(w.finished)
	}()
	return w
}

// close lets the operations that are queued finish and ends the lanes.
func (w *writer) close() {
	w.once.Do(func() {
		close(w.stop)
		if w.s.cfg.Alone {
			close(w.finished)
		}
	})
	<-w.finished
}

func newCall(ops []*operation) *call {
	c := &call{ops: ops, done: make(chan struct{})}
	c.left.Store(int32(len(ops)))
	for _, o := range ops {
		o.call = c
		if o.commit != nil {
			o.in = o.commit.Instance.ID
		}
	}
	return c
}

// do queues the operations and returns when each has its answer. When ctx ends, those that
// the writer has not taken yet are withdrawn with ctx's error; the others are waited for.
func (w *writer) do(ctx context.Context, ops ...*operation) {
	if len(ops) == 0 {
		return
	}
	c := newCall(ops)
	if w.s.cfg.Alone {
		w.alone(ops)
		return
	}
	select {
	case w.queue <- c:
	case <-w.stop:
		c.withdraw(ErrClosed)
		return
	case <-ctx.Done():
		c.withdraw(ctx.Err())
		return
	}
	select {
	case <-c.done:
		return
	case <-ctx.Done():
		c.withdraw(ctx.Err())
	case <-w.finished:
	}
	select {
	case <-c.done:
	case <-w.finished:
		c.withdraw(ErrClosed)
		<-c.done
	}
}

// alone writes the operations of the only caller, each batch as gather would make it.
func (w *writer) alone(ops []*operation) {
	select {
	case <-w.finished:
		ops[0].call.withdraw(ErrClosed)
		return
	default:
	}
	l := &lane{writer: w}
	for len(ops) > 0 {
		g := &gathering{seen: map[int64]bool{}}
		for _, o := range ops {
			l.add(g, o)
		}
		ops, l.held = l.held, nil
		w.run(g.ops)
	}
	w.s.stmts.makeWanted()
}

// stalled is how long a caller of try waits for a writer that finishes nothing at all.
const stalled = 2 * time.Second

// doOrLeave is do for a caller who may leave with ErrUnavailable although the operation may still be
// done, and who then reads nothing of it: it leaves when ctx ends, or the database has hung for a while.
func (w *writer) doOrLeave(ctx context.Context, o *operation) error {
	if w.s.cfg.Alone {
		w.do(ctx, o)
		return o.err
	}
	c := newCall([]*operation{o})
	look := time.NewTimer(stalled)
	defer look.Stop()
	queue, finished := w.queue, w.finished
	for before := w.batches.Load(); ; {
		left := fmt.Errorf("%w: the database hangs", ErrUnavailable)
		select {
		case queue <- c:
			queue = nil
			continue
		case <-c.done:
			return o.err
		case <-finished:
			left = ErrClosed
		case <-ctx.Done():
			left = ctx.Err()
		case <-look.C:
			if now := w.batches.Load(); now != before {
				before = now
				look.Reset(stalled)
				continue
			}
		}
		c.withdraw(left)
		select {
		case <-c.done:
			return o.err
		default:
			return fmt.Errorf("%w: the database hangs", ErrUnavailable)
		}
	}
}

// withdraw ends those operations with err that no lane has taken.
func (c *call) withdraw(err error) {
	for _, o := range c.ops {
		if o.state.CompareAndSwap(opWaiting, opGone) {
			o.err = err
			c.finish()
		}
	}
}

func (c *call) finish() {
	if c.left.Add(-1) == 0 {
		close(c.done)
	}
}

func (l *lane) loop() {
	for {
		ops, open := l.gather()
		if !open {
			return
		}
		l.run(ops)
		l.batches.Add(1)
		l.s.stmts.makeWanted()
	}
}

// gather waits for the next call and takes what else is queued: the longer a transaction takes, the more company has
// the next. To wait for more won nothing. All that it takes may have been withdrawn meanwhile; open says that the lane goes on.
func (l *lane) gather() (ops []*operation, open bool) {
	g := &gathering{seen: map[int64]bool{}}
	held := l.held
	l.held = nil
	for _, o := range held {
		l.add(g, o)
	}
	if len(g.ops) == 0 {
		select {
		case c := <-l.queue:
			l.take(g, c)
		case <-l.stop:
			select {
			case c := <-l.queue:
				l.take(g, c)
			default:
				return nil, false
			}
		}
	}
	for g.rows < maxBatchRows {
		select {
		case c := <-l.queue:
			l.take(g, c)
			continue
		default:
		}
		break
	}
	return g.ops, true
}

// gathering is a batch in the making.
type gathering struct {
	ops  []*operation
	rows int
	seen map[int64]bool // instances
}

func (l *lane) take(g *gathering, c *call) {
	for _, o := range c.ops {
		l.add(g, o)
	}
}

// add takes o into the batch, or holds it for the next one where its instance is in this one, or this one is full.
func (l *lane) add(g *gathering, o *operation) {
	if g.rows >= maxBatchRows || o.in != 0 && g.seen[o.in] {
		l.held = append(l.held, o)
		return
	}
	if !o.state.CompareAndSwap(opWaiting, opTaken) {
		return // withdrawn
	}
	if o.in != 0 {
		g.seen[o.in] = true
	}
	g.ops = append(g.ops, o)
	g.rows += o.rows()
}

// run writes the batch and answers its callers. One whose rows the database refuses is found
// by halving, so that it fails alone.
func (w *writer) run(ops []*operation) {
	if len(ops) == 0 {
		return
	}
	err := w.try(ops)
	switch {
	case err == nil:
	case len(ops) > 1 && !away(err) && !errors.Is(err, ErrUnavailable):
		w.s.log.Warn("batch refused, halving it", "operations", len(ops), "error", err)
		w.run(ops[:len(ops)/2])
		w.run(ops[len(ops)/2:])
		return
	default:
		for _, o := range ops {
			o.err = explain(err)
		}
	}
	for _, o := range ops {
		o.call.finish()
	}
}

// try writes the batch in one transaction, again after a lost lock or a broken connection.
func (w *writer) try(ops []*operation) error {
	var err error
	for n := range maxTries {
		if n > 0 {
			_ = pause(context.Background(), n)
		}
		err = w.attempt(ops)
		w.s.note(err)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrUnavailable):
			return err // the commit's outcome is unknown: doing it again could do it twice
		case retryable(err), broken(err):
		case duplicate(err) && len(ops) == 1 && n == 0:
			// Another process won the race since we looked: looking again sees its row.
		default:
			return err
		}
	}
	return fmt.Errorf("gave up after %d tries: %w", maxTries, err)
}

// attempt writes the batch once, a lone commit by what it has seen. Where that does not hold, it asks. Where the answer is
// lost, the next try asks: the server may yet begin with what it was sent, and must then find another row.
func (w *writer) attempt(ops []*operation) error {
	if len(ops) == 1 && ops[0].knows() {
		err := w.attemptAs(ops, true)
		if err == nil {
			return nil
		}
		if ops[0].commit.Seen = nil; away(err) || broken(err) || errors.Is(err, ErrUnavailable) {
			return err
		}
	}
	return w.attemptAs(ops, false)
}

func (w *writer) attemptAs(ops []*operation, seen bool) error {
	ctx, cancel := w.s.writeContext()
	defer cancel()
	b := &batch{s: w.s, w: w, ops: ops, writeID: rand.Int64(), seen: seen}
	if err := b.reserve(ctx); err != nil {
		return err
	}
	tx, err := w.begin(ctx)
	if err != nil {
		return err
	}
	b.tx = tx
	if err := b.write(ctx); err != nil {
		tx.rollback()
		return err
	}
	if err := b.point(".before"); err != nil {
		tx.rollback()
		return err
	}
	_, held := b.witness()
	if err := tx.commit(ctx, held); err != nil {
		tx.rollback()
		if err := b.decide(err); err != nil {
			return err
		}
	}
	b.see()
	return b.point(".after")
}

// writeContext bounds a transaction of the writer. SQLite gets no deadline: each statement would
// cost a goroutine, and nothing but the disk can delay it.
func (s *Store) writeContext() (context.Context, context.CancelFunc) {
	if s.dial.mysql {
		return context.WithTimeout(context.Background(), batchTimeout)
	}
	return context.Background(), func() {}
}
