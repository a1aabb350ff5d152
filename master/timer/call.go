package timer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	rules "github.com/porpoise/porpoise/dag/timer"
	"github.com/porpoise/porpoise/internal/egress"
	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

const (
	// KeyHeader names the firing: every try of it has the same, so that a receiver can tell a repetition.
	KeyHeader = "Idempotency-Key"
	// MaxResponse is what is kept of an answer's body.
	MaxResponse = 4 << 10
	// maxError bounds what is kept of an error.
	maxError = 500
	// connectWait bounds each part of a call before the request is sent.
	connectWait = 5 * time.Second
	// maxConnections bounds the connections to one receiver: what is more waits for one of them. idleWait keeps those of
	// timers that come again soon.
	maxConnections = 256
	idleWait       = 30 * time.Second
)

// client calls where the rule lets it. It keeps connections, which were checked when they were made: 2,000 calls a
// second to one receiver would use up its ports otherwise.
func client(rule egress.Rule) *http.Client {
	transport := rule.Transport(connectWait)
	transport.DisableKeepAlives = false
	transport.MaxConnsPerHost, transport.MaxIdleConnsPerHost, transport.IdleConnTimeout = maxConnections, maxConnections, idleWait
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ring begins the calls of claimed tasks at their moments until ctx ends. The calls have the time of calling.
func (r *Ringer) ring(ctx, calling context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.rings:
		}
		r.ringAll(calling)
	}
}

// ringAll begins the calls whose moment has come.
func (r *Ringer) ringAll(calling context.Context) {
	r.mu.Lock()
	due := r.moments
	r.moments = nil
	for _, t := range due {
		t.begun = true
	}
	r.mu.Unlock()
	for _, t := range due {
		r.calls.Go(func() {
			_ = guard.Do(r.log, "call", func() error {
				r.begin(calling, t)
				return nil
			})
		})
	}
}

// begin makes one try and notes what came of it.
func (r *Ringer) begin(ctx context.Context, t *task) {
	result := sql.TimerResult{TimerKey: t.key, ProjectID: t.spec.project, Tries: t.tries, Failing: t.failing, CalledAt: r.now(), State: rules.Success}
	err := errors.New("the call broke off")
	defer func() {
		ended := r.now()
		result.CostMS = int64(ended - result.CalledAt)
		switch {
		case err != nil && ctx.Err() != nil:
			// This master stops, which is no failure of the receiver: another one calls again.
			result.State, result.Error, result.NextAt = rules.Retry, "the master stopped during the call", ended
		case err != nil:
			var pause time.Duration
			result.State, pause = t.spec.Outcome(t.tries)
			result.Error, result.NextAt = cut(err.Error(), maxError), ended.Add(pause)
		}
		r.mu.Lock()
		r.finished = append(r.finished, result)
		r.counts.called(&result)
		r.mu.Unlock()
		r.results.give()
	}()
	result.Status, result.Response, err = r.call(ctx, t)
}

// giveBack gives tasks back that were claimed and whose moment had not come when the master stopped.
func (r *Ringer) giveBack() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.held {
		if t.claimed && !t.begun {
			r.finished = append(r.finished, sql.TimerResult{
				TimerKey: t.key, ProjectID: t.spec.project, Tries: t.tries, State: rules.Retry, NextAt: max(t.due, r.now()), Error: "the master stopped before the call",
			})
		}
	}
}

// call makes one try. The error says why it failed, and does not repeat the URL, which may hold a key.
func (r *Ringer) call(ctx context.Context, t *task) (status int, response string, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.spec.Timeout())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, t.spec.Method, t.spec.URL, strings.NewReader(t.spec.Body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("User-Agent", "porpoise")
	for name, values := range t.spec.Headers {
		req.Header.Del(name)
		for _, v := range values {
			req.Header.Add(name, v)
		}
	}
	req.Header.Set(KeyHeader, rules.Key(t.key.TimerID, t.key.PlannedAt))
	res, err := r.client.Do(req)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer within %s", t.spec.Timeout())
		}
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, MaxResponse+1))
	response = cut(string(body), MaxResponse)
	switch {
	case err != nil:
		return res.StatusCode, response, errors.New("the answer broke off")
	case res.StatusCode < 200 || res.StatusCode > 299:
		return res.StatusCode, response, fmt.Errorf("the answer has status %d", res.StatusCode)
	}
	return res.StatusCode, response, nil
}

// cut returns the beginning of a text, as characters that every database takes.
func cut(text string, most int) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text[:min(len(text), most)], "\uFFFD"), "\x00", "\uFFFD")
}

// save writes what came of calls, as much together as there is, until ctx ends and all is written.
func (r *Ringer) save(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeWait)
			defer cancel()
			return r.saveAll(last)
		case <-r.results:
		}
		if err := r.saveAll(ctx); err != nil && ctx.Err() == nil {
			r.log.Warn("results of timers not written", "error", err)
			time.AfterFunc(awayWait, r.results.give)
		}
	}
}

func (r *Ringer) saveAll(ctx context.Context) error {
	for {
		r.mu.Lock()
		some := r.finished[:min(len(r.finished), maxBatch)]
		r.finished = r.finished[len(some):]
		r.mu.Unlock()
		if len(some) == 0 {
			return nil
		}
		dropped, failing, err := r.finish(ctx, some)
		if err != nil {
			r.mu.Lock()
			r.finished = append(r.finished, some...)
			r.mu.Unlock()
			return err
		}
		r.saved(some, dropped)
		for _, f := range failing {
			if f.Failures == alertAfter {
				r.log.Warn("timer fails", "timer", f.ID, "failures", f.Failures, "failing_since", f.Since.Time())
			}
		}
	}
}

// finish writes results. A panic is as an error: they are written again, which is the same as once.
func (r *Ringer) finish(ctx context.Context, results []sql.TimerResult) (dropped int, failing []sql.FailingTimer, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeWait)
	defer cancel()
	err = guard.Do(r.log, "results", func() (err error) {
		if err := failpoint.Hit("ring.save.before"); err != nil {
			return err
		}
		if dropped, failing, err = r.Store.FinishTimerTasks(ctx, r.Owner, results); err != nil {
			return err
		}
		return failpoint.Hit("ring.save.after")
	})
	return dropped, failing, err
}

// saved forgets tasks whose results are written. Those that are tried again soon come with the next load.
func (r *Ringer) saved(results []sql.TimerResult, dropped int) {
	r.mu.Lock()
	var done []*task
	for i := range results {
		if t := r.held[results[i].TimerKey]; t != nil {
			done = append(done, t)
		}
	}
	r.counts.Dropped += int64(dropped)
	r.mu.Unlock()
	r.forget(done)
}

// Counts are what a Ringer has done since it was made.
type Counts struct {
	Planned                    int64   // tasks
	Called                     int64   // tries
	Succeeded, Retried, Failed int64   // tries, by what they led to
	Again                      int64   // tries of tasks whose last try's end nobody knows
	Dropped                    int64   // results that counted nothing, since another master had claimed the task
	LateMS, WorstMS            int64   // of first tries: their sum, and the worst
	Late                       []int64 // of first tries, by rpc.LateBounds, and what is beyond
	UnderWay                   int     // tasks that are claimed and have no result yet
}

func (c *Counts) called(result *sql.TimerResult) {
	c.Called++
	switch result.State {
	case rules.Success:
		c.Succeeded++
	case rules.Retry:
		c.Retried++
	case rules.Failed:
		c.Failed++
	case rules.Planned, rules.Calling, rules.Skipped:
	}
	if result.Tries == 1 {
		late := lateMS(result.CalledAt, result.PlannedAt)
		c.LateMS += late
		c.WorstMS = max(c.WorstMS, late)
		bounds := rpc.LateBounds()
		if c.Late == nil {
			c.Late = make([]int64, len(bounds)+1)
		}
		i, _ := slices.BinarySearch(bounds, time.Duration(late)*time.Millisecond)
		c.Late[i]++
	}
}

func lateMS(at, planned dag.Millis) int64 { return max(0, int64(at-planned)) }

// Counts returns them.
func (r *Ringer) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.counts
	out.Late, out.UnderWay = slices.Clone(out.Late), r.ready.total
	return out
}

func (r *Ringer) count(change func(*Counts)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.counts)
}
