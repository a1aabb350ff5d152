package master

import (
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// maxAstray is how far the clock of a master may be from the one on its wall, once the database has confirmed that: what
// is less says nothing, since an answer takes its time.
const maxAstray = 2 * time.Second

// clock is what the loops of a master go by. It shows what the one on the wall showed when it began, and what has passed
// since by the clock that nobody sets: timeouts, delays and leases must not come to their end because somebody set a host's
// clock by an hour. It follows the wall again once the database agrees with that, as after the sleep of a machine.
type clock struct {
	wall func() time.Time // with a monotonic reading, where it has one
	base atomic.Pointer[time.Time]
	log  hclog.Logger
}

func newClock(wall func() time.Time, log hclog.Logger) *clock {
	c := &clock{wall: wall, log: log}
	began := wall()
	c.base.Store(&began)
	return c
}

// now is a time whose monotonic reading is that of the wall's clock, so that the two may be subtracted. It may be called
// by any goroutine.
func (c *clock) now() time.Time {
	base := c.base.Load()
	return base.Add(c.wall().Sub(*base))
}

// confirmed says that the clock on the wall is the database's, too; set, that this one has leapt for it.
func (c *clock) confirmed() (set bool) {
	wall := c.wall()
	astray := wall.Round(0).Sub(c.now().Round(0))
	if astray.Abs() <= maxAstray {
		return false
	}
	c.log.Warn("the clock on the wall was set, and the database agrees with it: timeouts and delays follow", "by", astray.String())
	c.base.Store(&wall)
	return true
}
