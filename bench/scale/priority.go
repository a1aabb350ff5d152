package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/dag"
)

const (
	// lowWaiting instances of the lowest priority wait for slots when the starts of the highest come, lowLeft of which must be
	// left after them: else there was no overload.
	lowWaiting, lowLeft = 16_000, 1000
	// lowEvery is how often one of them gives its slot back, of which there are lowSlots on each of two workers: the machine is not
	// busy with them. Tasks that each last as long would give them back in bursts, since all began together.
	lowEvery = 4 * time.Millisecond
	lowSlots = 64
)

// besidePriorities has starts of the highest priority overtake thousands of the lowest that wait for slots: such as are another
// project's, and such as are their own project's.
func (m *measure) besidePriorities(ctx context.Context) (err error) {
	url, stop, err := dawdle(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, own := range []struct{ of, whose string }{{project, "another project's"}, {loud, "their own project's"}} {
		err = errors.Join(err, m.beside(ctx, noises{
			what:    fmt.Sprintf("%s %d instances of the lowest priority that wait for a slot each; a task that needs a slot, of the highest", own.whose, lowWaiting),
			options: site.Options{Masters: 1, Workers: 2, Slots: lowSlots},
			live:    crowd.Crowd{Project: own.of, Workflow: "urgent", Body: `{"priority":"highest"}`},
			prepare: func(s *site.Site) error {
				urgent := crowd.Place{Client: s.Client, Project: own.of, Workflow: "urgent"}
				return errors.Join(urgent.Save(ctx, []crowd.Task{{Name: "a", Type: "http", URL: url + "/at-once"}}, nil),
					loudly(s).Save(ctx, []crowd.Task{{Name: "a", Type: "http", URL: url}}, nil))
			},
			settle: func(ctx context.Context, s *site.Site) error {
				progress("%d starts of the lowest priority", lowWaiting)
				c := crowd.Crowd{Site: s, Project: loud, Workflow: noise, Callers: loudCallers, Body: `{"priority":"lowest"}`}
				if _, err := c.Call(ctx, 0, lowWaiting); err != nil {
					return err
				}
				return begun(ctx, s)
			},
			then: overtaken,
		}))
	}
	return err
}

// overtaken is the row of how many of the lowest priority were passed by all that was measured: those that still wait.
func overtaken(ctx context.Context, s *site.Site) (figures.Row, error) {
	by, err := tally(ctx, s, noise)
	left := by[dag.InstanceRunning]
	return figures.Row{
		What: "the same: instances of the lowest priority that came before all of these and are not over when they are", Ours: fmt.Sprint(left),
		Bar: fmt.Sprintf(">= %d", lowLeft), Missed: left < lowLeft, Value: float64(left),
	}, err
}

// dawdle serves calls of which one is let go each lowEvery, who came first before the others; those of /at-once do not wait.
func dawdle(ctx context.Context) (url string, stop func() error, err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for tasks: %w", err)
	}
	turn := time.NewTicker(lowEvery)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/at-once" {
			return
		}
		select {
		case <-turn.C:
		case <-r.Context().Done():
		}
	})}
	var serving errgroup.Group
	serving.Go(func() error { return server.Serve(listener) })
	return "http://" + listener.Addr().String(), func() error {
		turn.Stop()
		err := server.Close()
		if e := serving.Wait(); !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		return err
	}, nil
}
