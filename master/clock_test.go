package master

import (
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/clocks"
)

// settable is the clock of a host that somebody sets.
type settable struct {
	wall   time.Time
	steady time.Duration
}

func (s *settable) now() time.Time { return clocks.Reading(s.wall, s.steady) }

func (s *settable) pass(d time.Duration) { s.wall, s.steady = s.wall.Add(d), s.steady+d }

func TestAMastersClockFollowsTheWallOnlyOnceThatIsConfirmed(t *testing.T) {
	t.Parallel()
	began := time.UnixMilli(1_700_000_000_000)
	for _, leap := range []time.Duration{time.Hour, -time.Hour, 10 * time.Second, -10 * time.Second} {
		host := &settable{wall: began}
		c := newClock(host.now, hclog.NewNullLogger())
		before := c.now()
		host.pass(time.Minute)
		host.wall = host.wall.Add(leap)
		if got := c.now(); !got.Round(0).Equal(began.Add(time.Minute)) || got.Sub(before) != time.Minute {
			t.Errorf("after a leap of %v the clock shows %v, want a minute after %v", leap, got, began)
		}
		c.confirmed()
		host.pass(time.Second)
		got := c.now()
		if want := began.Add(time.Minute + leap + time.Second); !got.Round(0).Equal(want) {
			t.Errorf("after a leap of %v that is confirmed the clock shows %v, want %v", leap, got, want)
		}
		if passed := got.Sub(before); passed != time.Minute+time.Second {
			t.Errorf("after a leap of %v %v have passed, want 1m1s", leap, passed)
		}
		if passed := host.now().Sub(got); passed != 0 {
			t.Errorf("a reading of the wall's clock is %v after one of the master's, want none", passed)
		}
	}
}
