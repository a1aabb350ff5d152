package worker

import (
	"container/heap"
	"strings"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
)

const (
	// resendFirst and resendMost bound the wait for an ack; it doubles in between.
	resendFirst = 200 * time.Millisecond
	resendMost  = 5 * time.Second
	// maxOutbox and maxOutboxBytes are where the worker stops asking for work until
	// masters have taken its reports.
	maxOutbox      = 100_000
	maxOutboxBytes = 256 << 20
	// maxNamed bounds what of it a hello names, far below the limit of a message.
	maxNamed = 10_000
)

// outbox holds the reports that no master has acked. It is pure: every method is a step
// with the time as an argument; who calls it writes the reports to disk before due gives
// them out.
type outbox struct {
	items  map[int64]*letter
	latest map[string]int64 // by mark
	queue  letterQueue
	nextID int64
	bytes  int
}

// letter is one report on its way.
type letter struct {
	report *rpc.Report
	mark   string
	owner  string // node of the master it goes to, empty: not known
	named  string // node that was last named as its owner
	at     time.Time
	tries  int
	size   int
}

// sending is a report and the master it goes to now.
type sending struct {
	to     string
	report *rpc.Report
}

func newOutbox() *outbox {
	return &outbox{items: map[int64]*letter{}, latest: map[string]int64{}, nextID: 1}
}

// put takes a report, gives it its id, and returns the id of the one before it of the
// same attempt that need not go out any more: 0 if there is none. A finish says all that
// the start says.
func (o *outbox) put(mark string, r *rpc.Report, owner string, now time.Time) (replaced int64) {
	if before := o.latest[mark]; before != 0 {
		replaced = before
		o.drop(before)
	}
	if r.OutboxId == 0 {
		r.OutboxId = o.nextID
	}
	o.nextID = max(o.nextID, r.OutboxId+1)
	l := &letter{report: r, mark: mark, owner: owner, at: now, size: reportSize(r)}
	o.items[r.OutboxId], o.latest[mark] = l, r.OutboxId
	o.bytes += l.size
	heap.Push(&o.queue, dueAt{now, r.OutboxId})
	return replaced
}

// waiting names up to limit attempts that are over and whose report has not been acked, the oldest first.
func (o *outbox) waiting(limit int) []*rpc.Running {
	var named []*rpc.Running
	for _, id := range sorted(o.items) {
		if r := o.items[id].report; r.State != "running" && len(named) < limit {
			named = append(named, &rpc.Running{Attempt: r.Attempt, StartedAt: r.StartedAt})
		}
	}
	return named
}

func reportSize(r *rpc.Report) int {
	n := 128 + len(r.Message) + len(r.Tail)
	for k, v := range r.Outputs {
		n += len(k) + len(v)
	}
	return n
}

// ack takes a master's answer and returns the report if it has left by that.
func (o *outbox) ack(a *rpc.Ack, now time.Time) *rpc.Report {
	l := o.items[a.OutboxId]
	if l == nil {
		return nil
	}
	switch a.Verdict {
	case "ok", "stale":
		o.drop(a.OutboxId)
		return l.report
	case "not_owner":
		l.owner = nodeOf(a.Owner)
		// An owner who is named for the first time hears of it at once: he may have taken over just now,
		// and waits for this report no longer than its longest pause.
		if l.owner != "" && l.owner != l.named {
			l.named, l.tries = l.owner, 0
			o.reschedule(a.OutboxId, l, now)
		}
	}
	return nil
}

// nodeOf takes the node out of "node:incarnation".
func nodeOf(owner string) string {
	if at := strings.LastIndexByte(owner, ':'); at >= 0 {
		return owner[:at]
	}
	return owner
}

// resend makes the latest report of an attempt due now, for a master that asks again.
func (o *outbox) resend(mark, owner string, now time.Time) bool {
	id := o.latest[mark]
	if id == 0 {
		return false
	}
	l := o.items[id]
	l.owner, l.tries = owner, 0
	o.reschedule(id, l, now)
	return true
}

// linked makes everything due that is, or may be, for a master that is there again.
func (o *outbox) linked(master string, now time.Time) {
	for id, l := range o.items {
		if l.owner == master || l.owner == "" {
			l.tries = 0
			o.reschedule(id, l, now)
		}
	}
}

func (o *outbox) reschedule(id int64, l *letter, at time.Time) {
	l.at = at
	heap.Push(&o.queue, dueAt{at, id})
}

func (o *outbox) drop(id int64) {
	l := o.items[id]
	if l == nil {
		return
	}
	delete(o.items, id)
	o.bytes -= l.size
	if o.latest[l.mark] == id {
		delete(o.latest, l.mark)
	}
}

// due gives out what is to be sent now. up names the masters that can be reached, in
// order. A report whose owner is not among them goes to all in turn: each of them knows,
// or answers who does.
func (o *outbox) due(now time.Time, up []string, limit int) []sending {
	var out []sending
	if len(up) == 0 {
		return nil
	}
	for len(o.queue) > 0 && len(out) < limit && !o.queue[0].at.After(now) {
		d := heap.Pop(&o.queue).(dueAt)
		l := o.items[d.id]
		if l == nil || !l.at.Equal(d.at) {
			continue
		}
		to := up[int(uint64(d.id)+uint64(l.tries))%len(up)]
		for _, master := range up {
			if master == l.owner {
				to = master
			}
		}
		wait := resendMost
		if l.tries < 5 {
			wait = min(resendMost, resendFirst<<l.tries)
		}
		l.tries++
		if l.tries > 3 {
			l.owner = "" // it may have lost the instance without knowing who has it
		}
		o.reschedule(d.id, l, now.Add(wait))
		out = append(out, sending{to, l.report})
	}
	return out
}

// next is when due has something again; ok is false when never.
func (o *outbox) next() (at time.Time, ok bool) {
	for len(o.queue) > 0 {
		d := o.queue[0]
		if l := o.items[d.id]; l != nil && l.at.Equal(d.at) {
			return d.at, true
		}
		heap.Pop(&o.queue)
	}
	return time.Time{}, false
}

func (o *outbox) full() bool { return len(o.items) >= maxOutbox || o.bytes >= maxOutboxBytes }

type dueAt struct {
	at time.Time
	id int64
}

// letterQueue is a heap by time; an entry whose time is not its letter's is dead.
type letterQueue []dueAt

func (q letterQueue) Len() int { return len(q) }

func (q letterQueue) Less(i, j int) bool {
	return q[i].at.Before(q[j].at) || (q[i].at.Equal(q[j].at) && q[i].id < q[j].id)
}

func (q letterQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is for container/heap.
func (q *letterQueue) Push(x any) { *q = append(*q, x.(dueAt)) }

// Pop is for container/heap.
func (q *letterQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
