package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// receiver notes each firing that it is called for: by its key, which ends in the moment planned.
type receiver struct {
	url    string
	server *http.Server
	ended  chan error

	mu    sync.Mutex // guards heard
	heard map[string]hearing
}

// hearing is when a firing was heard first, and how often.
type hearing struct {
	planned, at int64 // milliseconds since 1970
	times       int
}

func listen(ctx context.Context) (*receiver, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	r := &receiver{url: "http://" + l.Addr().String() + "/", ended: make(chan error, 1), heard: map[string]hearing{}}
	r.server = &http.Server{Handler: http.HandlerFunc(r.receive), ReadHeaderTimeout: 10 * time.Second}
	go func() { r.ended <- r.server.Serve(l) }()
	return r, nil
}

func (r *receiver) close() error {
	err := r.server.Close()
	if served := <-r.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (r *receiver) receive(w http.ResponseWriter, req *http.Request) {
	at := time.Now().UnixMilli()
	key := req.Header.Get("Idempotency-Key")
	_, moment, _ := strings.Cut(key, "-")
	planned, err := strconv.ParseInt(moment, 10, 64)
	if err != nil {
		http.Error(w, "no Idempotency-Key of a timer", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	h := r.heard[key]
	if h.times++; h.times == 1 {
		h.planned, h.at = planned, at
	}
	r.heard[key] = h
	r.mu.Unlock()
}

// result is what was heard of the firings of a while.
type result struct {
	heard, doubled int
	early          int
	late           []time.Duration
}

// between returns what was heard of the firings that were planned from one moment until before another.
func (r *receiver) between(from, until time.Time) (out result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.heard {
		if h.planned < from.UnixMilli() || h.planned >= until.UnixMilli() {
			continue
		}
		out.heard++
		if h.times > 1 {
			out.doubled++
		}
		if h.at < h.planned {
			out.early++
		}
		out.late = append(out.late, time.Duration(h.at-h.planned)*time.Millisecond)
	}
	return out
}

// met says whether the bars are kept. Where nodes are killed a firing may come twice, and late.
func (r result) met(expected int, killed bool) bool {
	if r.heard != expected || r.early > 0 {
		return false
	}
	return killed || r.doubled == 0 && figures.Quantile(r.late, 0.99) <= lateBar
}

// tooFast is how long a caller waits whom the server asks to.
const tooFast = time.Second

// enable makes the timers, and enables them.
func enable(ctx context.Context, c *client.Client, o options, url string) error {
	if _, err := c.PutProject(ctx, app, ""); err != nil {
		return err
	}
	progress("making %d timers", o.timers)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.callers)
	for i := range o.timers {
		group.Go(func() error {
			var id int64
			err := patiently(ctx, func() (err error) {
				id, err = c.CreateTimer(ctx, client.TimerDef{App: app, Name: fmt.Sprint("t", i), Cron: "* * * * * *", Call: client.TimerCall{URL: url, Method: "POST", Body: "{}"}})
				return err
			})
			if err != nil {
				return err
			}
			return patiently(ctx, func() error { return c.EnableTimer(ctx, app, strconv.FormatInt(id, 10)) })
		})
	}
	return group.Wait()
}

// patiently does what the server may ask to do later.
func patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		if p, ok := errors.AsType[*client.Problem](err); !ok || p.Status != http.StatusTooManyRequests {
			return err
		}
		if err := pause(ctx, tooFast); err != nil {
			return err
		}
	}
}
