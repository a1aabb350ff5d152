package apiserver

import (
	"strconv"
	"sync"
	"time"
)

const (
	// freeTries failed sign-ins of one user from one address cost nothing; each further
	// one doubles the wait, up to throttleMost. A person notices none of it.
	freeTries    = 5
	throttleMost = 5 * time.Minute
	// freeTriesAddress is the same for one address over all users, so that names can't
	// be tried one by one.
	freeTriesAddress = 50
	// freeSignatures wrong signatures of one schedule's calls cost nothing: whoever changes a secret sends some.
	freeSignatures = 20
	// maxThrottled bounds the table; beyond it the records that have run out go first.
	maxThrottled = 20_000
)

// throttle slows down who guesses passwords, or signatures. Its memory is this process's: several
// apiservers multiply the free tries, not the guesses per minute by much.
type throttle struct {
	now func() time.Time

	mu    sync.Mutex
	tries map[string]try
}

type try struct {
	failed int
	until  time.Time // no try before
	kept   time.Time // forgotten after
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{now: now, tries: map[string]try{}}
}

// begin counts a try as failed before it is known to be, so that many at once are
// counted too. It returns how long to wait, zero to go on.
func (t *throttle) begin(user, ip string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	var wait time.Duration
	for _, k := range [...]struct {
		key  string
		free int
	}{{user + "\x00" + ip, freeTries}, {"\x00" + ip, freeTriesAddress}} {
		v := t.tries[k.key]
		if now.Before(v.until) {
			wait = max(wait, v.until.Sub(now))
		}
	}
	if wait > 0 {
		return wait
	}
	t.count(user+"\x00"+ip, freeTries, now)
	t.count("\x00"+ip, freeTriesAddress, now)
	return 0
}

func (t *throttle) count(key string, free int, now time.Time) {
	v := t.tries[key]
	if now.After(v.kept) {
		v = try{}
	}
	v.failed++
	if over := v.failed - free; over >= 0 {
		v.until = now.Add(min(throttleMost, time.Second<<min(over, 20)))
	}
	v.kept = now.Add(2 * throttleMost)
	if len(t.tries) >= maxThrottled {
		t.sweep(now)
	}
	t.tries[key] = v
}

// wrong counts what was found to be wrong about a key. It returns how long whoever sends such has to wait, zero where this
// one is free; while he has to, nothing is counted.
func (t *throttle) wrong(key string, free int) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if v := t.tries[key]; now.Before(v.until) {
		return v.until.Sub(now)
	}
	t.count(key, free, now)
	return 0
}

// sweep makes room. Where nothing has run out, everything goes: a table full of live
// records means an attack from 10,000 addresses, which this table can't hold off anyway.
func (t *throttle) sweep(now time.Time) {
	for k, v := range t.tries {
		if now.After(v.kept) {
			delete(t.tries, k)
		}
	}
	if len(t.tries) >= maxThrottled {
		clear(t.tries)
	}
}

// succeeded forgets the failures of a user who has shown that he knows the password.
func (t *throttle) succeeded(user, ip string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tries, user+"\x00"+ip)
	if v, ok := t.tries["\x00"+ip]; ok && v.failed > 0 {
		v.failed--
		t.tries["\x00"+ip] = v
	}
}

// tooMany is the answer to a throttled sign-in.
func tooMany(wait time.Duration) *Problem {
	return throttled(wait, "password", "too many failed sign-ins")
}

// throttled is the answer to who has to wait.
func throttled(wait time.Duration, field, why string) *Problem {
	seconds := int(wait/time.Second) + 1
	return wrongField(429, field, "too_many", "", "%s: wait %d s", why, seconds).with("Retry-After", strconv.Itoa(seconds))
}
