package main

import (
	"runtime"
	"testing"
	"time"
)

func TestABusyProcessWithASmallHeapGetsRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		live, collections uint64
		want              int
	}{
		{20 << 20, 0, 100}, {20 << 20, 2, 100}, // at rest
		{20 << 20, 17, 320}, {8 << 20, 17, 800}, {1 << 20, 50, 1600}, // busy
		{64 << 20, 5, 100}, {400 << 20, 5, 100}, // much in memory
		{0, 9, 100}, // nothing is known yet
	} {
		if got := collectorPercent(c.live, c.collections); got != c.want {
			t.Errorf("collectorPercent(%d MiB, %d) = %d, want %d", c.live>>20, c.collections, got, c.want)
		}
	}
}

func TestEachCollectionIsToldOf(t *testing.T) {
	t.Parallel()
	collected := eachCollection()
	late := time.After(20 * time.Second)
	for i := range 3 {
		runtime.GC()
		select {
		case <-collected:
		case <-late:
			t.Fatalf("collection %d is not told of", i+1)
		}
	}
}
