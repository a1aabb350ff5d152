package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/porpoise/porpoise/internal/lean"
)

const (
	// collectorRoom is what a busy process may allocate between two collections, at least. With a heap of some 20 MiB, Go's
	// own rule collects seventeen times a second at 7,000 starts a second, which took a fifth of the processor time.
	collectorRoom = 64 << 20
	// collectorLook is how often it is looked at, and collectorBusy how many collections within that are many.
	collectorLook = time.Second
	collectorBusy = 3
	// collectorCalm is Go's own rule: twice what lives.
	collectorCalm = 100
	// collectorMost bounds what a nearly empty heap would get; of the 8 MiB that live in a busy apiserver or worker it makes all
	// of that room.
	collectorMost = 1600
	// collectorRest is how many looks without a collection make a rest: what was used before then goes back to the host, of
	// an idle standalone node 30 of 115 MB.
	collectorRest = 10
)

// collectorPercent is how much a process may allocate between two collections, in percent of what lives: room for a busy
// one whose heap is small, and nothing special for one that rests or has much in memory.
func collectorPercent(live uint64, collections uint64) int {
	if collections < collectorBusy || live == 0 {
		return collectorCalm
	}
	return int(max(collectorCalm, min(collectorMost, collectorRoom*100/live)))
}

// tuneCollector keeps the collector to that rule, unless the environment has one of its own.
func (a *app) tuneCollector() {
	if os.Getenv("GOGC") == "" {
		a.run("collector", stopTimeout, func(ctx context.Context) error {
			followHeap(ctx)
			return ctx.Err()
		})
	}
}

// followHeap gives a busy process with a small heap room between collections, until ctx ends.
func followHeap(ctx context.Context) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	collected := eachCollection()
	look := time.NewTicker(collectorLook)
	defer look.Stop()
	for percent, before, calm := collectorCalm, uint64(0), 0; ; {
		metrics.Read(samples)
		live, cycles := samples[0].Value.Uint64(), samples[1].Value.Uint64()
		since := cycles - before
		if percent > collectorCalm {
			// With more room there are fewer collections: as many as there would be without.
			since = since * uint64(percent) / collectorCalm
		}
		if now := collectorPercent(live, since); now != percent {
			percent = now
			debug.SetGCPercent(percent)
		}
		before = cycles
		if calm++; since > 0 {
			calm = 0
		}
		if calm == collectorRest {
			lean.Rest()
			metrics.Read(samples[1:])
			before = samples[1].Value.Uint64() // it was a collection, too
		}
		// Who gets busy needs not wait for the next look.
		for seen, waits := 0, true; waits; {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				waits = false
			case <-collected:
				if seen++; seen == collectorBusy && percent == collectorCalm {
					waits = false
					look.Reset(collectorLook)
				}
			}
		}
	}
}

// eachCollection tells of the collections of this process; of several at once it tells once.
func eachCollection() <-chan struct{} {
	told := make(chan struct{}, 1)
	var again func(sign *[16]byte)
	again = func(sign *[16]byte) {
		select {
		case told <- struct{}{}:
		default:
		}
		runtime.SetFinalizer(sign, again)
	}
	runtime.SetFinalizer(new([16]byte), again)
	return told
}
