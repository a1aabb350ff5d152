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
	// maxQueued bounds the operations that wait; a caller that finds it full waits to be queued.
	maxQueued = 16384
	// maxGather bounds the wait for more company, and only where there was company before.
	maxGather = time.Millisecond
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

// call waits for its operations.
type call struct {
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
// price of a commit is the disk's, and all that wait for it share it.
type writer struct {
	s        *Store
	queue    chan *operation
	stop     chan struct{} // closed to end the loop
	finished chan struct{} // closed when the loop has ended
	once     sync.Once

	batches atomic.Int64 // that were answered

	// Of the loop alone.
	held []*operation // must wait for the next batch
	last int          // operations of the last batch
}

func newWriter(s *Store) *writer {
	w := &writer{
		s: s, queue: make(chan *operation, maxQueued), stop: make(chan struct{}), finished: make(chan struct{}),
	}
	if !s.cfg.Alone {
		go w.loop()
	}
	return w
}

// close lets the operations that are queued finish and ends the loop.
func (w *writer) close() {
	w.once.Do(func() {
		close(w.stop)
		if w.s.cfg.Alone {
			close(w.finished)
		}
	})
	<-w.finished
}

// do queues the operations and returns when each has its answer. When ctx ends, those that
// the writer has not taken yet are withdrawn with ctx's error; the others are waited for.
func (w *writer) do(ctx context.Context, ops ...*operation) {
	if len(ops) == 0 {
		return
	}
	c := &call{done: make(chan struct{})}
	c.left.Store(int32(len(ops)))
	for _, o := range ops {
		o.call = c
		if o.commit != nil {
			o.in = o.commit.Instance.ID
		}
	}
	if w.s.cfg.Alone {
		w.alone(ops)
		return
	}
	w.enqueue(ctx, ops)
	select {
	case <-c.done:
		return
	case <-ctx.Done():
		withdraw(ops, ctx.Err())
	case <-w.finished:
		withdraw(ops, ErrClosed)
	}
	select {
	case <-c.done:
	case <-w.finished:
		withdraw(ops, ErrClosed)
		<-c.done
	}
}

// alone writes the operations of the only caller, each batch as gather would make it.
func (w *writer) alone(ops []*operation) {
	select {
	case <-w.finished:
		withdraw(ops, ErrClosed)
		return
	default:
	}
	for len(ops) > 0 {
		g := &gathering{seen: map[int64]bool{}}
		for _, o := range ops {
			w.add(g, o)
		}
		ops, w.held = w.held, nil
		w.run(g.ops)
	}
	w.s.stmts.makeWanted()
}

// stalled is how long a caller of try waits for a writer that finishes nothing at all.
const stalled = 2 * time.Second

// doOrLeave is do for a caller who may leave with ErrUnavailable although the operation may still be
// done, and who then reads nothing of it: it leaves when ctx ends, or the database has hung for a while.
func (w *writer) doOrLeave(parent context.Context, o *operation) error {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.do(ctx, o)
	}()
	look := time.NewTicker(stalled)
	defer look.Stop()
	for before := w.batches.Load(); ; {
		select {
		case <-done:
			return o.err
		case <-ctx.Done():
		case <-look.C:
			now := w.batches.Load()
			if now != before {
				before = now
				continue
			}
		}
		cancel() // what is not taken yet is withdrawn
		select {
		case <-done:
			if parent.Err() != nil || !errors.Is(o.err, context.Canceled) {
				return o.err
			}
		case <-time.After(withdrawWait):
		}
		return fmt.Errorf("%w: the database hangs", ErrUnavailable)
	}
}

// withdrawWait is what it takes to withdraw an operation that nobody has taken.
const withdrawWait = 10 * time.Millisecond

func (w *writer) enqueue(ctx context.Context, ops []*operation) {
	for i, o := range ops {
		select {
		case w.queue <- o:
		case <-w.stop:
			withdraw(ops[i:], ErrClosed)
			return
		case <-ctx.Done():
			withdraw(ops[i:], ctx.Err())
			return
		}
	}
}

func withdraw(ops []*operation, err error) {
	for _, o := range ops {
		if o.state.CompareAndSwap(opWaiting, opGone) {
			o.err = err
			o.call.finish()
		}
	}
}

func (c *call) finish() {
	if c.left.Add(-1) == 0 {
		close(c.done)
	}
}

func (w *writer) loop() {
	defer close(w.finished)
	for {
		ops, open := w.gather()
		if !open {
			return
		}
		w.last = len(ops)
		w.run(ops)
		w.batches.Add(1)
		w.s.stmts.makeWanted()
	}
}

// gather waits for the next operation and takes what else is queued. Where the last batch had
// company, its callers are about to come back: it waits a moment for as many again. All that it
// takes may have been withdrawn meanwhile; open says that the writer goes on.
func (w *writer) gather() (ops []*operation, open bool) {
	g := &gathering{seen: map[int64]bool{}}
	held := w.held
	w.held = nil
	for _, o := range held {
		w.add(g, o)
	}
	if len(g.ops) == 0 {
		select {
		case o := <-w.queue:
			w.add(g, o)
		case <-w.stop:
			select {
			case o := <-w.queue:
				w.add(g, o)
			default:
				return nil, false
			}
		}
	}
	var timeout <-chan time.Time
	for g.rows < maxBatchRows {
		select {
		case o := <-w.queue:
			w.add(g, o)
			continue
		default:
		}
		if len(g.ops) >= w.last || w.last < 2 {
			break
		}
		if timeout == nil {
			t := time.NewTimer(maxGather)
			defer t.Stop()
			timeout = t.C
		}
		select {
		case o := <-w.queue:
			w.add(g, o)
			continue
		case <-timeout:
		}
		break
	}
	return g.ops, true
}

// gathering is a batch in the making.
type gathering struct {
	ops  []*operation
	rows int
	seen map[int64]bool
}

// add takes o into the batch, or holds it for the next one where its instance is in this one.
func (w *writer) add(g *gathering, o *operation) {
	if o.in != 0 && g.seen[o.in] {
		w.held = append(w.held, o)
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

func (w *writer) attempt(ops []*operation) error {
	ctx, cancel := w.s.writeContext()
	defer cancel()
	b := &batch{s: w.s, w: w, ops: ops, writeID: rand.Int64()}
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
		return b.decide(err)
	}
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
