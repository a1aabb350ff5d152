package clocks

import (
	"testing"
	"time"
)

func TestAReadingHasTwoClocks(t *testing.T) {
	t.Parallel()
	wall := time.Date(2026, 11, 23, 0, 1, 2, 3_000_004, time.UTC)
	before := Reading(wall, 5*time.Second)
	after := Reading(wall.Add(-time.Hour), 7*time.Second) // it was set back meanwhile
	if got := after.Sub(before); got != 2*time.Second {
		t.Errorf("%v have passed, want 2s", got)
	}
	if !after.After(before) {
		t.Error("the later reading is not after the earlier")
	}
	if got := after.UnixMilli() - before.UnixMilli(); got != -time.Hour.Milliseconds() {
		t.Errorf("the wall shows %d ms more, want an hour less", got)
	}
	if got := before.Add(time.Minute); got.Sub(before) != time.Minute || !got.Round(0).Equal(wall.Add(time.Minute)) {
		t.Errorf("a minute later it is %v", got)
	}
}
