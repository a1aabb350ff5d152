package main

import (
	"context"
	"testing"
	"time"

	"github.com/porpoise/porpoise/bench/site"
)

// A real node is killed with firings under way, and started again: none is missing.
func TestNoFiringIsLostByAKill(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	binary, err := site.Binary(ctx, "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := run(ctx, options{porpoise: binary, timers: 10, callers: 4, lasts: 8 * time.Second, kill: 4 * time.Second}); err != nil {
		t.Error(err)
	}
}

func TestWhatWasHeardIsJudged(t *testing.T) {
	t.Parallel()
	from := time.Unix(1_700_000_000, 0)
	r := &receiver{heard: map[string]hearing{
		"1-a": {planned: from.UnixMilli(), at: from.UnixMilli() + 20, times: 1}, "1-b": {planned: from.UnixMilli() + 1000, at: from.UnixMilli() + 1300, times: 2},
		"1-c": {planned: from.UnixMilli() + 2000, at: from.UnixMilli() + 2000, times: 1},
	}}
	got := r.between(from, from.Add(2*time.Second))
	if got.heard != 2 || got.doubled != 1 || got.early != 0 || len(got.late) != 2 {
		t.Errorf("heard %+v", got)
	}
	if got.met(2, false) || !got.met(2, true) || got.met(3, true) {
		t.Error("doubled and late is good enough only where nodes are killed, and a missing one never is")
	}
	early := result{heard: 1, early: 1}
	if early.met(1, true) {
		t.Error("a call before its moment is good enough")
	}
}
