//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// set holds the points of a process.
type set struct {
	dir    string
	points map[string]Action

	mu   sync.Mutex
	hits map[string]int
}

// process is read from the environment at the first hit.
var process = sync.OnceValue(func() *set {
	points, err := Parse(os.Getenv("PORPOISE_TEST_FAILPOINTS"))
	if err != nil {
		panic(err) // a test that means something else must not pass
	}
	return &set{dir: os.Getenv("PORPOISE_TEST_FAILPOINTS_DIR"), points: points, hits: map[string]int{}}
})

// Hit does what is set for a point: nothing, a panic, a crash, a sleep, or an error.
func Hit(name string) error { return process().hit(name) }

func (s *set) hit(name string) error {
	a, ok := s.points[name]
	if !ok || a.Kind == Off || !s.counts(name, a) {
		return nil
	}
	switch a.Kind {
	case Panic:
		panic("failpoint " + name)
	case Crash:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until it is there
	case Sleep:
		time.Sleep(a.Sleep)
	case Fail:
		return fmt.Errorf("%w %s", Err, name)
	case Off:
	}
	return nil
}

// counts says whether the action is due at this hit. Every hit that is due leaves a file,
// so that a runner can see that the point was reached.
func (s *set) counts(name string, a Action) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits[name]++
	if s.hits[name] < a.Nth {
		return false
	}
	if s.dir == "" {
		return !a.Once || s.hits[name] == a.Nth
	}
	f, err := os.OpenFile(filepath.Join(s.dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_ = f.Close()
	}
	return err == nil || !a.Once
}

// Environment is what a process gives to those that it starts, where it leaves out the
// rest of its own configuration, so that they have the same failpoints.
func Environment() []string {
	var env []string
	for _, name := range []string{"PORPOISE_TEST_FAILPOINTS", "PORPOISE_TEST_FAILPOINTS_DIR"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}
