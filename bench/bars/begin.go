package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
)

const (
	begins        = 300
	beginMiddle   = 1500 * time.Microsecond
	beginBar      = 6 * time.Millisecond
	beginBusy     = 50 * time.Millisecond
	beginPatience = 10 * time.Second
	// busyShare of what a flood came to is what other callers start meanwhile.
	busyShare = 0.5
)

// begin measures what it takes from a call to the work: an http task asks a receiver of ours, and what counts is from
// the start that is sent to that request. The task's own call is part of it. First nothing else happens, then other callers
// start half as many workflows as the site can take.
func (m *measure) begin(ctx context.Context) error {
	arrived := make(chan time.Time, 1)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for tasks: %w", err)
	}
	receiver := &http.Server{ReadHeaderTimeout: beginPatience, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- time.Now() })}
	var serving errgroup.Group
	serving.Go(func() error { return receiver.Serve(listener) })
	defer func() {
		_ = receiver.Close()
		_ = serving.Wait()
	}()
	if err := m.place("call").Save(ctx, []crowd.Task{{Name: "call", Type: "http", URL: "http://" + listener.Addr().String()}}, nil); err != nil {
		return err
	}
	m.progress("%d starts, each until its task runs", begins)
	idle, err := m.begun(ctx, arrived)
	if err != nil {
		return err
	}
	bare := func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listener.Addr().String(), http.NoBody)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		<-arrived
		return answer.Body.Close()
	}
	calls, err := lone(ctx, begins, func() error { return bare(ctx) })
	if err != nil {
		return err
	}
	limit := m.limits.commit[m.database] + figures.Median(calls)
	m.begins("nothing else happens", idle, limit, beginMiddle, beginBar)

	if err := m.place("flood").Save(ctx, crowd.Chain(1, "noop", ""), nil); err != nil {
		return err
	}
	others := crowd.Crowd{Site: m.site, Project: project, Workflow: "flood", Callers: 64}
	m.progress("the same beside half the load that it can take")
	most, err := others.Run(ctx, floodFor, 0)
	if err != nil {
		return err
	}
	within, stop := context.WithCancel(ctx)
	var pacing errgroup.Group
	pacing.Go(func() error { return others.Pace(within, most.Rate()*busyShare) })
	busy, err := m.begun(ctx, arrived)
	stop()
	if werr := pacing.Wait(); err == nil && ctx.Err() == nil {
		err = werr
	}
	if err != nil {
		return err
	}
	m.begins(fmt.Sprintf("others start %.0f workflows a second", most.Rate()*busyShare), busy, limit, 0, beginBusy)
	return nil
}

// begun starts one workflow after another, each of which calls the receiver.
func (m *measure) begun(ctx context.Context, arrived <-chan time.Time) ([]time.Duration, error) {
	caller := crowd.NewStarter(m.site, project, "call")
	defer caller.Close()
	took := make([]time.Duration, 0, begins)
	for range begins {
		began := time.Now()
		if _, err := caller.Start(ctx); err != nil {
			return nil, err
		}
		select {
		case at := <-arrived:
			took = append(took, at.Sub(began))
		case <-time.After(beginPatience):
			return nil, fmt.Errorf("no call of a task within %s", beginPatience)
		}
		time.Sleep(2 * time.Millisecond) // let its end be written: the next one is a start of its own
	}
	return took, m.place("call").Over(ctx)
}

// begins adds the row of what begun has measured.
func (m *measure) begins(when string, took []time.Duration, limit, middle, bar time.Duration) {
	p50, p99 := figures.Median(took), figures.Quantile(took, 0.99)
	words := "p99 <= " + figures.Milliseconds(bar)
	if middle > 0 {
		words = "p50 <= " + figures.Milliseconds(middle) + ", " + words
	}
	m.rows = append(m.rows, row{
		What:  fmt.Sprintf("from a start's HTTP call to the request that its http task makes, p50 / p99; %s; %s", when, m.where),
		Limit: figures.Milliseconds(limit) + " (a durable commit and that request)", Ours: figures.Milliseconds(p50) + " / " + figures.Milliseconds(p99), N: len(took), Ratio: figures.Per(p50, limit),
		Bar: words, Missed: middle > 0 && p50 > middle || p99 > bar, Value: figures.InMilliseconds(p50),
	})
}
