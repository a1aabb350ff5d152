package schedule

import (
	"time"

	"github.com/porpoise/porpoise/dag"
)

const (
	// The clocks of a cluster differ by some milliseconds. What is beyond skewWarn only makes fires late or early by as
	// much, and somebody should know; beyond skewStop they would be of another minute, and other masters do better.
	skewWarn = 2 * time.Second
	skewStop = 30 * time.Second
	// maxJump is what the clock on the wall may gain at once: beyond it a day of fires could be due by mistake.
	maxJump = time.Minute
)

// trust says whether this master's clock is good enough to fire by. Only the firer touches it.
type trust struct {
	wall   dag.Millis    // at the last look
	mono   time.Duration // of the clock that nobody sets, at the last look
	looked bool
	off    time.Duration // of the database's clock, by which it is ahead of ours
	known  bool          // off was read
	jumped bool          // ours has leapt forward, and the database has not confirmed it
}

// look tells of the two clocks of this machine; jumped says that the one on the wall has just leapt forward.
func (t *trust) look(wall dag.Millis, mono time.Duration) (jumped bool) {
	if t.looked && wall.Sub(t.wall)-(mono-t.mono) > maxJump {
		t.jumped, jumped = true, true
	}
	t.wall, t.mono, t.looked = wall, mono, true
	return jumped
}

// compare tells of the database's clock, which was read when ours showed wall.
func (t *trust) compare(database, wall dag.Millis) {
	t.off, t.known = database.Sub(wall), true
	if t.off.Abs() <= skewWarn {
		t.jumped = false
	}
}

// fires says whether to fire by this clock.
func (t *trust) fires() bool { return t.known && !t.jumped && t.off.Abs() <= skewStop }

// warns says that the clocks differ by more than they should.
func (t *trust) warns() bool { return t.known && t.off.Abs() > skewWarn }
