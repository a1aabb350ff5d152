package link

import (
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
)

const (
	// maxInbox is how many reports may wait for their commit; above crowded of it heartbeats are put
	// off, so that what changes rows is heard first.
	maxInbox = 50_000
	crowded  = 0.8
	// beatRate and beatBurst bound the beats that one worker may send, far above what its slots need:
	// one that runs wild is put off alone.
	beatRate  = 1000.0 // per second
	beatBurst = 4096.0
	// retryAfter is when a beat that was put off may come again.
	retryAfter = time.Second
)

// VerdictThrottled puts a beat off.
const VerdictThrottled = "throttled"

// answer gives a verdict for each attempt that a tick names.
func (l *Links) answer(open *Link, tick *rpc.Tick) *rpc.TickReply {
	reply := &rpc.TickReply{Id: tick.GetId(), Unsure: l.Unsure != nil && l.Unsure()}
	allowed := open.beats.take(l.Now(), len(tick.GetRunning()))
	if l.waiting.Load() > crowded*maxInbox {
		allowed = 0
	}
	for i, running := range tick.GetRunning() {
		v := &rpc.Verdict{Attempt: running.GetAttempt()}
		if i < allowed {
			v.Verdict = l.Attempts.Check(running)
		} else {
			v.Verdict, v.RetryAfterMs = VerdictThrottled, retryAfter.Milliseconds()
		}
		reply.Verdicts = append(reply.Verdicts, v)
	}
	return reply
}

// bucket lets a worker's beats through; one goroutine uses it.
type bucket struct {
	tokens float64
	filled time.Time
}

// take returns how many of n may pass.
func (b *bucket) take(now time.Time, n int) int {
	if b.filled.IsZero() {
		b.tokens = beatBurst
	} else {
		b.tokens = min(beatBurst, b.tokens+max(0, now.Sub(b.filled).Seconds())*beatRate)
	}
	b.filled = now
	n = min(n, int(b.tokens))
	b.tokens -= float64(n)
	return n
}

// wait notes that a report waits for its commit. One that is sent again counts once.
func (l *Links) wait(open *Link, id int64) {
	open.mu.Lock()
	defer open.mu.Unlock()
	if !open.closed && !open.unanswered[id] {
		open.unanswered[id] = true
		l.waiting.Add(1)
	}
}

// done notes that it waits no more.
func (l *Links) done(open *Link, id int64) {
	open.mu.Lock()
	defer open.mu.Unlock()
	if open.unanswered[id] {
		delete(open.unanswered, id)
		l.waiting.Add(-1)
	}
}

// forget drops what a link that ended has waited for: it is sent again on the next.
func (l *Links) forget(open *Link) {
	open.mu.Lock()
	defer open.mu.Unlock()
	l.waiting.Add(-int64(len(open.unanswered)))
	clear(open.unanswered)
	open.closed = true
}
