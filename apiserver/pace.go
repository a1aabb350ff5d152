package apiserver

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// paceBurst changes of one project's timers are taken at once, pacePerSecond of them for long. Enabling a timer of
	// every second writes 600 rows, so that this is what the database can do, and not what a script can ask for.
	paceBurst     = 200
	pacePerSecond = 50
	// maxPaced bounds the table. Who has not changed anything for a while needs no record.
	maxPaced = 10_000
)

// pace bounds how fast the timers of each project are changed. Its memory is this process's: several apiservers multiply
// the bound. A lock of some seconds, which the service that this stands in for has, would take hours for thousands.
type pace struct {
	now func() time.Time

	mu   sync.Mutex
	paid map[string]time.Time // until when a project has used its share up
}

func newPace(now func() time.Time) *pace { return &pace{now: now, paid: map[string]time.Time{}} }

// take takes one change of a kind; it returns how long to wait, zero to go on.
func (p *pace) take(kind string, project int64) time.Duration {
	const each, burst = time.Second / pacePerSecond, paceBurst * (time.Second / pacePerSecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	key := kind + " " + strconv.FormatInt(project, 10)
	until := p.paid[key]
	if until.Before(now) {
		until = now
	}
	if over := until.Add(each).Sub(now) - burst; over > 0 {
		return over
	}
	if len(p.paid) >= maxPaced {
		for k, v := range p.paid {
			if v.Before(now) {
				delete(p.paid, k)
			}
		}
	}
	p.paid[key] = until.Add(each)
	return 0
}

// paced is the answer to who goes too fast.
func paced(wait time.Duration) *Problem {
	seconds := int(wait/time.Second) + 1
	return wrongField(http.StatusTooManyRequests, "app", "too_many", "", "too many changes of this app's timers: at most %d a second, wait %d s", pacePerSecond, seconds).
		with("Retry-After", strconv.Itoa(seconds))
}
