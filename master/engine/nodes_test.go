package engine

import (
	"testing"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
)

// The other side of a worker's deadlines: an attempt is lost when its worker is surely past them.
func TestAnAttemptIsLostWhenItsDeadlineHasSurelyPassed(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, c := range map[string]struct {
		present   map[string]bool
		node      node
		takenOver time.Time
		lost      bool
	}{
		"gone and silent":              {map[string]bool{}, node{heard: ago(8 * time.Second), absent: ago(2 * time.Second)}, time.Time{}, true},
		"never seen and silent":        {map[string]bool{}, node{heard: ago(8 * time.Second)}, time.Time{}, true},
		"registered":                   {map[string]bool{"w": true}, node{heard: ago(time.Hour)}, time.Time{}, false},
		"no list yet":                  {nil, node{heard: ago(time.Hour)}, time.Time{}, false},
		"heard":                        {map[string]bool{}, node{heard: ago(6 * time.Second), absent: ago(5 * time.Second)}, time.Time{}, false},
		"linked":                       {map[string]bool{}, node{heard: ago(8 * time.Second), incarnation: "1"}, time.Time{}, false},
		"gone just now":                {map[string]bool{}, node{heard: ago(8 * time.Second), absent: ago(900 * time.Millisecond)}, time.Time{}, false},
		"restarted":                    {nil, node{incarnation: "2", since: ago(4 * time.Second)}, time.Time{}, true},
		"restarted just now":           {nil, node{incarnation: "2", since: ago(2 * time.Second)}, time.Time{}, false},
		"restarted, taken over lately": {nil, node{incarnation: "2", since: ago(time.Hour)}, ago(5 * time.Second), false},
		"restarted, not heard of it":   {nil, node{incarnation: "2", since: ago(time.Hour)}, ago(7 * time.Second), true},
		"taken over lately":            {map[string]bool{}, node{heard: ago(time.Hour)}, ago(8 * time.Second), false},
		"taken over, and silent since": {map[string]bool{}, node{heard: ago(time.Hour)}, ago(10 * time.Second), true},
	} {
		r := ref{incarnation: "1", takenOver: c.takenOver}
		if got := c.node.verdict(c.present, "w", refKey{}, &r, now) != ""; got != c.lost {
			t.Errorf("%s: lost = %v, want %v", name, got, c.lost)
		}
	}
}

// A loss may wait for its commit while the worker comes back: it must not be given the attempt then.
func TestAnAttemptThatWasCalledLostIsNotSentAgain(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	n := newNodes(func() time.Time { return now })
	n.add(ref{instance: 1, number: 1, token: "t", node: "w", incarnation: "1", dispatch: &rpc.Dispatch{}})
	n.present = map[string]bool{}
	now = now.Add(time.Minute)
	if _, gone := n.sweep(now, true); len(gone) != 1 {
		t.Fatalf("%d attempts are lost, want 1", len(gone))
	}
	n.byNode["w"].incarnation, n.byNode["w"].heard = "1", now // it is back
	if again, _ := n.sweep(now.Add(time.Minute), true); len(again) != 0 {
		t.Errorf("sent again: %v, want nothing", again)
	}
}
