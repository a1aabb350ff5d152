// Package clocks makes readings of a clock that can be set, for those who drive parts of the product by a time of their
// own: the simulator of whole clusters and tests. The standard library makes a time with a monotonic reading only of the
// machine's own clock, and what a host does whose clock leaps shows in nothing else. No part of the product imports it.
package clocks

import (
	"fmt"
	"time"
	"unsafe"
)

// How package time keeps a reading that has both clocks: a bit that says so, seconds since 1885 and nanoseconds for the
// wall, and nanoseconds of the monotonic clock.
const (
	hasMonotonic = 1 << 63
	nsecShift    = 30
)

// wallBegins is the year 1885, in Unix seconds.
var wallBegins = time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

type layout struct {
	wall uint64
	ext  int64
	loc  *time.Location
}

// Reading is what time.Now returns where the clock on the wall shows wall, and the clock that nobody sets has counted so
// much. It panics where package time keeps its readings in another way than it is known to.
func Reading(wall time.Time, steady time.Duration) time.Time {
	var t time.Time
	seconds := wall.Unix() - wallBegins
	*(*layout)(unsafe.Pointer(&t)) = layout{
		wall: hasMonotonic | uint64(seconds)<<nsecShift | uint64(wall.Nanosecond()), ext: int64(steady), loc: time.UTC,
	}
	if seconds < 0 || seconds >= 1<<33 || unsafe.Sizeof(t) != unsafe.Sizeof(layout{}) || !t.Round(0).Equal(wall) {
		panic(fmt.Sprintf("no reading of %v: package time keeps them in another way", wall))
	}
	return t
}
