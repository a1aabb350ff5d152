package runner

import (
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Requirement H21: a runner that nobody needs ends by the time that has passed, however often it has looked; a
// task or a worker begins the time anew.
func TestAnIdleRunnerEndsByTimeNotByLooks(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_700_000_000, 0)
	l := &loop{Runner: &Runner{cfg: Config{IdleFor: time.Minute}, log: hclog.NewNullLogger()}, idle: start}
	for range 10_000 {
		l.idleClock(start.Add(59 * time.Second))
	}
	if l.quit {
		t.Fatal("ended by looks")
	}
	l.tasks = map[string]*task{"a": nil}
	l.idleClock(start.Add(90 * time.Second))
	l.tasks = nil
	if l.idleClock(start.Add(149 * time.Second)); l.quit {
		t.Fatal("the time of a task counts as idle")
	}
	if l.idleClock(start.Add(150 * time.Second)); !l.quit {
		t.Error("not ended after a minute without anything")
	}
}
