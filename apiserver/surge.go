package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// ownStarts a second are every project's own, ownBurst of them at once: they wait for nobody.
	ownStarts, ownBurst = 100, 20
	// surgeStep is how often starts of the line go on. What others notice differs little between 5 and 40 ms: docs/performance.md.
	surgeStep = 10 * time.Millisecond
	// lately is how long after its last start a project still counts as one that starts something, and calmAfter how long it must not
	// have wanted more than its own.
	lately    = 10 * time.Second
	calmAfter = time.Second
	// longestLine is how long the last one of a line may have to wait; who would wait longer is refused.
	longestLine = 10 * time.Second
)

// surges keep the starts of few projects from slowing down those of all others. What a project starts beyond its own goes at full
// speed as long as no other project keeps to its own: several that want more are no worse for each other than for themselves. Once
// one does, those that want more wait in line, and get rate starts a second together, one after the other. Its memory is
// this process's: several apiservers multiply the bounds.
type surges struct {
	rate int // 0 is no bound
	log  hclog.Logger

	mu     sync.Mutex // guards what follows
	of     map[int64]*starter
	line   []*starter // those whose starts wait, who has waited longest for one of the common ones first
	looked time.Time  // when calm was found out
	calm   bool       // somebody keeps to his own
	credit float64    // common starts that nobody has had yet
	told   time.Time  // when its log has last told of a line
}

// starter is a project that has started something lately.
type starter struct {
	paid   time.Time // until when its own are used up
	last   time.Time // when it last asked for a start
	beyond time.Time // when it last wanted more than its own
	wait   []chan struct{}
}

func newSurges(rate int, log hclog.Logger) *surges {
	return &surges{rate: rate, log: log, of: map[int64]*starter{}}
}

// waiting counts the starts that are in line.
func (s *surges) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, p := range s.line {
		n += len(p.wait)
	}
	return n
}

// take waits until a project may start one instance more. Its error is a Problem where too many wait already, and that of ctx.
func (s *surges) take(ctx context.Context, project int64) error {
	if s.rate == 0 {
		return nil
	}
	of, w, err := s.enter(project)
	if w == nil {
		return err
	}
	select {
	case <-w:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(of.wait, w); i >= 0 {
		of.wait = slices.Delete(of.wait, i, i+1)
	}
	return ctx.Err()
}

// enter returns what is closed when the start may go on; nil is at once, unless there is an error.
func (s *surges) enter(project int64) (*starter, chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	p := s.of[project]
	if p == nil {
		p = &starter{}
		s.of[project] = p
	}
	p.last = now
	inLine := slices.Contains(s.line, p)
	if !inLine && p.pay(now) {
		return p, nil, nil
	}
	p.beyond = now
	if !inLine && !s.someCalm(now) {
		return p, nil, nil
	}
	if !inLine {
		if len(s.line) == 0 {
			time.AfterFunc(surgeStep, s.step)
		}
		s.line = append(s.line, p)
		if now.Sub(s.told) > tellFull {
			s.told = now
			s.log.Info("starts of a project wait in line, to leave room to those of others", "project", project, "a_second", ownStarts+s.rate/len(s.line))
		}
	}
	perSecond := ownStarts + s.rate/len(s.line)
	if long := time.Duration(len(p.wait)) * time.Second / time.Duration(perSecond); long > longestLine {
		return p, nil, surged(perSecond, long)
	}
	w := make(chan struct{})
	p.wait = append(p.wait, w)
	return p, w, nil
}

// surged is the answer to who has too many starts in line already.
func surged(perSecond int, long time.Duration) *Problem {
	seconds := int(long / time.Second)
	return problem(http.StatusTooManyRequests, fmt.Sprintf("this project has too many starts in line: while others start something too it gets about %d a second, wait %d s", perSecond, seconds)).
		with("Retry-After", strconv.Itoa(seconds))
}

// pay takes one of the project's own starts.
func (p *starter) pay(now time.Time) bool {
	const each = time.Second / ownStarts
	if p.paid.Before(now) {
		p.paid = now
	}
	if p.paid.Add(each).Sub(now) > ownBurst*each {
		return false
	}
	p.paid = p.paid.Add(each)
	return true
}

// letOne lets the start go on that has waited longest.
func (p *starter) letOne() {
	close(p.wait[0])
	p.wait = p.wait[1:]
}

// someCalm says whether a project starts something and keeps to its own, and forgets those that no longer start anything.
// The caller holds the lock.
func (s *surges) someCalm(now time.Time) bool {
	if now.Sub(s.looked) < surgeStep {
		return s.calm
	}
	s.looked, s.calm = now, false
	for id, p := range s.of {
		switch {
		case len(p.wait) > 0:
		case now.Sub(p.last) > lately:
			delete(s.of, id)
		case now.Sub(p.beyond) > calmAfter:
			s.calm = true
		}
	}
	return s.calm
}

// step lets those of the line go on whose turn it is.
func (s *surges) step() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	held := s.someCalm(now)
	for _, p := range s.line {
		for len(p.wait) > 0 && (!held || p.pay(now)) {
			p.letOne()
		}
	}
	s.credit += float64(s.rate) * surgeStep.Seconds()
	for s.drop(); s.credit >= 1 && len(s.line) > 0; s.credit-- {
		p := s.line[0]
		p.letOne()
		s.line = append(s.line[1:], p)
		s.drop()
	}
	if len(s.line) == 0 {
		s.credit = 0
		return
	}
	for _, p := range s.line {
		p.beyond = now
	}
	time.AfterFunc(surgeStep, s.step)
}

// drop takes those out of the line for whom nothing waits any more. The caller holds the lock.
func (s *surges) drop() {
	s.line = slices.DeleteFunc(s.line, func(p *starter) bool { return len(p.wait) == 0 })
}
