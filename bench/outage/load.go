package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// load starts workflows and remembers what it was told.
type load struct {
	url, token string

	mu    sync.Mutex // guards what follows
	calls []answer
	reads []answer
	pad   string // goes with every start
}

// answer is one start as its caller saw it.
type answer struct {
	sent   time.Time
	took   time.Duration
	status int // 0 for no answer
	id     string
	again  string // when to come again, by a refusal
}

const (
	// callTimeout is what a caller waits.
	callTimeout = 10 * time.Second
	short       = "name: short\nparams: {pad: \"\"}\ntasks:\n  - {name: a, type: shell, script: \"true\"}\n  - {name: b, type: shell, script: \"true\", needs: [a]}\n"
)

// reset forgets the calls; from now on starts bring so many bytes along.
func (l *load) reset(pad int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls, l.reads, l.pad = nil, nil, strings.Repeat("p", pad)
}

// reply is an answer to any call.
type reply struct {
	status int
	text   []byte
	again  string
}

func (l *load) call(ctx context.Context, method, path, kind, body string) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, l.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Authorization", "Bearer "+l.token)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if method == http.MethodPut {
		req.Header.Set("If-Match", "*")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return reply{resp.StatusCode, text, resp.Header.Get("Retry-After")}, err
}

// must makes a call that has to succeed, again for a while.
func (l *load) must(ctx context.Context, method, path, kind, body string, into any) error {
	var last error
	for range 20 {
		r, err := l.call(ctx, method, path, kind, body)
		if err == nil && r.status < 300 {
			if into == nil {
				return nil
			}
			return json.Unmarshal(r.text, into)
		}
		last = fmt.Errorf("%s %s: %d %s %w", method, path, r.status, r.text, err)
		sleep(ctx, time.Second)
	}
	return last
}

func (l *load) save(ctx context.Context) error {
	if err := l.must(ctx, "PUT", "/projects/outage", "application/json", `{}`, nil); err != nil {
		return err
	}
	return l.must(ctx, "PUT", "/projects/outage/workflows/short", "application/yaml", short, nil)
}

// startLong starts workflows of one task that lives for a while, and returns them.
func (l *load) startLong(ctx context.Context, n int, lives time.Duration) ([]string, error) {
	text := fmt.Sprintf("name: long\ntasks:\n  - {name: a, type: shell, script: \"sleep %d\"}\n", int(lives.Seconds()))
	if err := l.must(ctx, "PUT", "/projects/outage/workflows/long", "application/yaml", text, nil); err != nil {
		return nil, err
	}
	ids := make([]string, n)
	for i := range ids {
		var started struct {
			ID string `json:"instance_id"`
		}
		if err := l.must(ctx, "POST", "/projects/outage/workflows/long/start", "application/json", `{}`, &started); err != nil {
			return nil, err
		}
		ids[i] = started.ID
	}
	return ids, nil
}

// start makes one start as a caller does.
func (l *load) start(ctx context.Context) answer {
	l.mu.Lock()
	body := fmt.Sprintf(`{"params": {"pad": %q}}`, l.pad)
	l.mu.Unlock()
	a := answer{sent: time.Now()}
	r, err := l.call(ctx, "POST", "/projects/outage/workflows/short/start", "application/json", body)
	a.took = time.Since(a.sent)
	if err == nil {
		a.status, a.again = r.status, r.again
	}
	var started struct {
		ID string `json:"instance_id"`
	}
	if a.status == http.StatusAccepted && json.Unmarshal(r.text, &started) == nil {
		a.id = started.ID
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, a)
	return a
}

// read asks for a list, as the console does.
func (l *load) read(ctx context.Context) {
	a := answer{sent: time.Now()}
	if r, err := l.call(ctx, "GET", "/projects/outage/workflows", "", ""); err == nil {
		a.status = r.status
	}
	a.took = time.Since(a.sent)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads = append(l.reads, a)
}

// run starts and reads at a rate, whatever the answers, until ctx ends.
func (l *load) run(ctx context.Context, rate float64) {
	var all sync.WaitGroup
	defer all.Wait()
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			all.Go(func() { l.start(context.WithoutCancel(ctx)) })
			all.Go(func() { l.read(context.WithoutCancel(ctx)) })
		}
	}
}

type instance struct {
	State    string    `json:"state"`
	Finished time.Time `json:"finished_at"`
}

func (l *load) instance(ctx context.Context, id string) (in instance, err error) {
	return in, l.must(ctx, "GET", "/instances/"+id, "", "", &in)
}

// normal returns how long after the return a new start has run to its end.
func (l *load) normal(ctx context.Context, returned time.Time) (float64, error) {
	for time.Since(returned) < settleWait {
		a := l.start(ctx)
		if a.id == "" {
			sleep(ctx, 100*time.Millisecond)
			continue
		}
		for time.Since(returned) < settleWait {
			var in instance
			r, err := l.call(ctx, "GET", "/instances/"+a.id, "", "")
			if err == nil && r.status == http.StatusOK && json.Unmarshal(r.text, &in) == nil && in.State == "success" {
				return time.Since(returned).Seconds(), nil
			}
			sleep(ctx, 50*time.Millisecond)
		}
	}
	return 0, fmt.Errorf("no start ran within %s of the return", settleWait)
}
