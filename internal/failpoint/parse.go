//go:build failpoints

package failpoint

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is what happens at a point.
type Kind string

// The kinds of action. Panic is a Go panic, which somebody may recover from; Crash ends the
// process as kill -9 does.
const (
	Off   Kind = "off"
	Panic Kind = "panic"
	Crash Kind = "crash"
	Sleep Kind = "sleep"
	Fail  Kind = "error"
)

// Action is what happens at a point, and at which hit of it.
type Action struct {
	Kind  Kind
	Sleep time.Duration
	Nth   int  // the first hit that counts, from 1
	Once  bool // only that one, in all processes that share a folder
}

// Parse reads point=action;point=action. An action is off, panic, crash, error or sleep(8s);
// behind it may stand @n, the first hit that counts, and ! for "once": then the folder that
// PORPOISE_TEST_FAILPOINTS_DIR names remembers it beyond the end of the process.
func Parse(text string) (map[string]Action, error) {
	points := map[string]Action{}
	for part := range strings.SplitSeq(text, ";") {
		if part == "" {
			continue
		}
		name, rest, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("failpoint %q: want point=action", part)
		}
		a, err := parseAction(rest)
		if err != nil {
			return nil, fmt.Errorf("failpoint %s: %w", name, err)
		}
		points[name] = a
	}
	return points, nil
}

func parseAction(text string) (Action, error) {
	a := Action{Nth: 1}
	text, a.Once = strings.CutSuffix(text, "!")
	text, nth, counted := strings.Cut(text, "@")
	if counted {
		n, err := strconv.Atoi(nth)
		if err != nil || n < 1 {
			return a, fmt.Errorf("%q is no number of a hit", nth)
		}
		a.Nth = n
	}
	if d, ok := strings.CutPrefix(text, "sleep("); ok {
		var err error
		a.Kind = Sleep
		a.Sleep, err = time.ParseDuration(strings.TrimSuffix(d, ")"))
		return a, err
	}
	a.Kind = Kind(text)
	switch a.Kind {
	case Off, Panic, Crash, Fail:
		return a, nil
	case Sleep:
	}
	return a, fmt.Errorf("no such action: %q", text)
}
