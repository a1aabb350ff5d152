package apiserver

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

// starters starts what projects want, and counts it.
type starters struct {
	surges *surges
	all    sync.WaitGroup
	had    map[int64]*atomic.Int64
	on     context.Context
	end    func()
}

// held runs a test in virtual time, with starters that are held to a rate.
func held(t *testing.T, rate int, test func(*testing.T, *starters)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &starters{surges: newSurges(rate, hclog.NewNullLogger()), had: map[int64]*atomic.Int64{}}
		c.on, c.end = context.WithCancel(t.Context())
		test(t, c)
		c.over()
	})
}

// callers of a project start one instance after the other, each of them every so often.
func (c *starters) callers(project int64, n int, every time.Duration) {
	had := &atomic.Int64{}
	c.had[project] = had
	for range n {
		c.all.Go(func() {
			for c.on.Err() == nil {
				if c.surges.take(c.on, project) == nil {
					had.Add(1)
				}
				time.Sleep(every)
			}
		})
	}
}

// within counts the starts that a project has in a while.
func (c *starters) within(d time.Duration) map[int64]int64 {
	before := map[int64]int64{}
	for project, had := range c.had {
		before[project] = had.Load()
	}
	time.Sleep(d)
	for project, had := range c.had {
		before[project] = had.Load() - before[project]
	}
	return before
}

// over ends it.
func (c *starters) over() {
	c.end()
	c.all.Wait()
}

// about says whether a number is within a tenth of what is wanted.
func about(got, want int64) bool { return got >= want-want/10 && got <= want+want/10 }

const surgeRate = 150

func TestASurgeWaitsWhileAnotherProjectStartsLittle(t *testing.T) {
	held(t, surgeRate, func(t *testing.T, c *starters) {
		const loud, quiet = 1, 2
		c.callers(loud, 64, 10*time.Millisecond)
		if n := c.within(time.Second)[loud]; !about(n, 6400) {
			t.Errorf("alone a surge gets %d starts a second, want all 6400", n)
		}
		c.callers(quiet, 1, 20*time.Millisecond)
		time.Sleep(time.Second)
		n := c.within(10 * time.Second)
		if !about(n[loud], 10*(surgeRate+ownStarts)) {
			t.Errorf("a surge gets %d starts in ten seconds beside a project that starts little, want %d", n[loud], 10*(surgeRate+ownStarts))
		}
		if !about(n[quiet], 500) {
			t.Errorf("who starts little gets %d starts, want all 500", n[quiet])
		}
	})
}

func TestWhoStartsLittleNeverWaits(t *testing.T) {
	held(t, surgeRate, func(t *testing.T, c *starters) {
		c.callers(1, 64, 10*time.Millisecond)
		c.callers(3, 1, time.Second) // whoever wants more than his own waits for this one
		for range 1000 {
			time.Sleep(time.Second / ownStarts)
			before := time.Now()
			if p := c.surges.take(t.Context(), 2); p != nil || time.Now() != before {
				t.Fatalf("a start of who starts little waited %s, and was answered %v", time.Since(before), p)
			}
		}
	})
}

func TestSeveralSurgesShare(t *testing.T) {
	held(t, surgeRate, func(t *testing.T, c *starters) {
		c.callers(1, 64, 10*time.Millisecond)
		c.callers(2, 16, 10*time.Millisecond)
		c.callers(3, 256, 10*time.Millisecond)
		time.Sleep(calmAfter + time.Second)
		if n := c.within(time.Second); !about(n[1], 6400) || !about(n[2], 1600) || !about(n[3], 25600) {
			t.Errorf("with nobody who starts little, surges get %v starts a second, want all", n)
		}
		c.callers(4, 1, time.Second)
		time.Sleep(time.Second)
		n := c.within(10 * time.Second)
		for project := int64(1); project <= 3; project++ {
			if want := int64(10 * (ownStarts + surgeRate/3)); !about(n[project], want) {
				t.Errorf("surge %d gets %d starts in ten seconds, want its part, %d", project, n[project], want)
			}
		}
	})
}

func TestASurgeGoesOnOnceOthersAreSilent(t *testing.T) {
	held(t, surgeRate, func(t *testing.T, c *starters) {
		if p := c.surges.take(t.Context(), 2); p != nil {
			t.Fatal(p)
		}
		time.Sleep(calmAfter + time.Second)
		c.callers(1, 64, 10*time.Millisecond)
		time.Sleep(time.Second)
		if n := c.within(time.Second)[1]; !about(n, surgeRate+ownStarts) {
			t.Errorf("beside another one's start of two seconds ago a surge gets %d starts a second, want %d", n, surgeRate+ownStarts)
		}
		time.Sleep(lately)
		if n := c.within(time.Second)[1]; !about(n, 6400) {
			t.Errorf("once the other one is silent a surge gets %d starts a second, want all 6400", n)
		}
		c.surges.mu.Lock()
		defer c.surges.mu.Unlock()
		if n := len(c.surges.of); n != 1 {
			t.Errorf("%d projects are remembered, want the one that starts something", n)
		}
	})
}

func TestTheLineOfASurgeIsBounded(t *testing.T) {
	held(t, surgeRate, func(t *testing.T, c *starters) {
		if p := c.surges.take(t.Context(), 2); p != nil {
			t.Fatal(p)
		}
		time.Sleep(calmAfter + time.Second)
		var taken, refused atomic.Int64
		began := time.Now()
		for range 4000 {
			c.all.Go(func() {
				err := c.surges.take(t.Context(), 1)
				p, _ := errors.AsType[*Problem](err)
				switch {
				case err == nil:
					taken.Add(1)
				case p != nil && p.Status == http.StatusTooManyRequests && p.headers.Get("Retry-After") == strconv.Itoa(int(longestLine/time.Second)):
					refused.Add(1)
				default:
					t.Errorf("a start beyond the line is answered %v", err)
				}
			})
		}
		c.all.Wait()
		most := int64((surgeRate + ownStarts) * longestLine / time.Second)
		if !about(taken.Load(), most) || taken.Load()+refused.Load() != 4000 {
			t.Errorf("of 4000 starts %d were taken and %d refused, want some %d taken", taken.Load(), refused.Load(), most)
		}
		if took := time.Since(began); took > longestLine+time.Second {
			t.Errorf("the last of the line waited %s", took)
		}
		if c.surges.waiting() != 0 {
			t.Error("somebody is left in the line")
		}
	})
}

func TestWhoLeavesTheLineOfASurgeTakesNobodysTurn(t *testing.T) {
	held(t, 100, func(t *testing.T, c *starters) {
		for range ownBurst {
			if p := c.surges.take(t.Context(), 1); p != nil {
				t.Fatal(p)
			}
		}
		if p := c.surges.take(t.Context(), 2); p != nil {
			t.Fatal(p)
		}
		time.Sleep(calmAfter)
		for range ownBurst {
			if p := c.surges.take(t.Context(), 1); p != nil {
				t.Fatal(p)
			}
		}
		gone, leave := context.WithCancel(t.Context())
		left := make([]error, 10)
		for i := range left {
			c.all.Go(func() { left[i] = c.surges.take(gone, 1) })
		}
		synctest.Wait()
		var stayed error
		c.all.Go(func() { stayed = c.surges.take(t.Context(), 1) })
		synctest.Wait()
		leave()
		began := time.Now()
		c.all.Wait()
		for _, err := range left {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("who leaves the line is told %v", err)
			}
		}
		if took := time.Since(began); stayed != nil || took > surgeStep {
			t.Errorf("who stayed in it waited %s, and was answered %v: want the first step", took, stayed)
		}
	})
}

func TestWithoutABoundNobodyWaits(t *testing.T) {
	held(t, 0, func(t *testing.T, c *starters) {
		c.callers(2, 1, time.Second)
		c.callers(1, 64, 10*time.Millisecond)
		time.Sleep(calmAfter + time.Second)
		if n := c.within(time.Second)[1]; !about(n, 6400) {
			t.Errorf("without a bound a surge gets %d starts a second, want all 6400", n)
		}
	})
}

// full has so many starts of a project in line that one more is refused.
func (s *surges) full(project int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	p := &starter{paid: now.Add(time.Hour), last: now, beyond: now, wait: make([]chan struct{}, 4000)}
	s.of, s.line = map[int64]*starter{project: p}, []*starter{p}
}

func TestStartsAndCallsAreOfOneLine(t *testing.T) {
	t.Parallel()
	b, hook := newHookBench(t, "")
	alpha := b.projectID("alpha")
	b.server.surges = newSurges(surgeRate, hclog.NewNullLogger())
	const start = "/api/v1/projects/alpha/workflows/daily/start"
	b.must(202, "POST", start, `{}`)
	b.server.surges.full(alpha)
	for what, w := range map[string]*httptest.ResponseRecorder{
		"a start": b.do(asked{method: "POST", path: start, body: `{}`, token: b.admin}),
		"a call":  b.call(hook, "build-1", `{"release": {"day": 7}}`),
	} {
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "in line") {
			t.Errorf("%s beyond the line is answered %d %s, Retry-After %q", what, w.Code, w.Body, w.Header().Get("Retry-After"))
		}
	}
	b.must(200, "POST", start+"?preview=true", `{}`) // it starts nothing
}
