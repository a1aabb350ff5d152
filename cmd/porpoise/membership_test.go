package main

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/apiserver"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/registry/inprocess"
)

// placed runs a membership until the test says stop, and returns what masters see of it.
func placed(t *testing.T, reg registry.Registry) (place *membership, views <-chan registry.View, stop func()) {
	t.Helper()
	place = &membership{reg: reg, log: hclog.NewNullLogger(), member: registry.Member{Role: registry.Worker, Node: "w1", Incarnation: "1", Takeover: true}}
	views, err := reg.Watch(t.Context(), registry.Worker)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- place.Run(ctx, ready) }()
	if v := <-views; len(v.Members) != 0 {
		t.Fatalf("registered before it was ready: %v", v.Members)
	}
	close(ready)
	seen(t, views, 1)
	return place, views, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
	}
}

// seen waits for a view of so many workers.
func seen(t *testing.T, views <-chan registry.View, n int) registry.View {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case v := <-views:
			if len(v.Members) == n {
				return v
			}
		case <-late:
			t.Fatalf("no view of %d workers", n)
		}
	}
}

func TestAPlaceIsGivenUpOnlyWhereNothingIsLeft(t *testing.T) {
	t.Parallel()
	reg := inprocess.New()
	place, views, stop := placed(t, reg)
	if place.LastRenewed().IsZero() {
		t.Error("a member that was never renewed")
	}
	stop()
	seen(t, views, 0) // at once: far within the lease

	place, views, stop = placed(t, reg)
	before := time.Now()
	sent, err := place.Hold(t.Context(), time.Minute)
	if err != nil || sent.Before(before) || sent.After(time.Now()) {
		t.Errorf("hold = %v, %v", sent, err)
	}
	stop()
	if v := seen(t, views, 1); v.Members[0].Draining == "" {
		t.Errorf("the held place says %+v", v.Members[0])
	}
	select {
	case v := <-views:
		t.Errorf("after the stop of its holder the list is %v", v.Members)
	case <-time.After(50 * time.Millisecond):
	}
}

// orders is a worker that notes what it is told.
type orders chan string

func (o orders) Drain(_ context.Context, reason string, giveBack time.Duration) {
	o <- reason + " " + giveBack.Round(time.Minute).String()
}
func (o orders) Resume(context.Context) { o <- "resumed" }

func TestAWorkerObeysTheWishesThatAreKeptForIt(t *testing.T) {
	t.Parallel()
	reg := inprocess.New()
	place, views, stop := placed(t, reg)
	defer stop()
	told := make(orders, 1)
	go func() { _ = place.obey(t.Context(), told) }()
	api := workers{reg: reg}
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error {
			return api.Drain(t.Context(), "w1", apiserver.DrainWish{Reason: "disk", At: 1000, GiveBack: time.Hour})
		}, "disk 0s"}, // its hour is long over
		{func() error { return api.Drain(t.Context(), "w1", apiserver.DrainWish{Reason: "kernel"}) }, "kernel 0s"},
		{func() error { return api.Resume(t.Context(), "w1") }, "resumed"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-told:
			if got != step.want {
				t.Errorf("told %q, want %q", got, step.want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("nothing told, want %q", step.want)
		}
	}
	if err := api.Drain(t.Context(), "another", apiserver.DrainWish{Reason: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := api.Drain(t.Context(), "w1", apiserver.DrainWish{Reason: "again"}); err != nil {
		t.Fatal(err)
	}
	if got := <-told; got != "again 0s" {
		t.Errorf("told %q", got)
	}
	for {
		if v := seen(t, views, 1); v.Members[0].Draining == "again" {
			break
		}
	}
}
