//go:build failpoints

package failpoint

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func parsed(t *testing.T, text, dir string) *set {
	t.Helper()
	points, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return &set{dir: dir, points: points, hits: map[string]int{}}
}

func TestAPointHappensFromItsNthHitOn(t *testing.T) {
	t.Parallel()
	s := parsed(t, "a.before=error@3", "")
	for n := 1; n <= 4; n++ {
		if err := s.hit("a.before"); errors.Is(err, Err) != (n >= 3) {
			t.Errorf("hit %d: %v", n, err)
		}
	}
	if err := s.hit("another"); err != nil {
		t.Errorf("a point that is not set: %v", err)
	}
}

func TestOnceIsOnceForAllProcessesOfAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := parsed(t, "a=error!", dir), parsed(t, "a=error!", dir)
	if err := first.hit("a"); !errors.Is(err, Err) {
		t.Errorf("the first process: %v, want the error", err)
	}
	if err := errors.Join(first.hit("a"), second.hit("a")); err != nil {
		t.Errorf("later hits: %v, want none", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err != nil {
		t.Errorf("the hit left no file: %v", err)
	}
}

func TestAPanicNamesItsPoint(t *testing.T) {
	t.Parallel()
	defer func() {
		if got := recover(); got != "failpoint a" {
			t.Errorf("recovered %v", got)
		}
	}()
	_ = parsed(t, "a=panic", "").hit("a")
	t.Error("no panic")
}

func TestParseReadsEveryAction(t *testing.T) {
	t.Parallel()
	got, err := Parse("a=panic;b=crash@2;c=sleep(8s)!;d=error;e=off")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Action{
		"a": {Kind: Panic, Nth: 1}, "b": {Kind: Crash, Nth: 2}, "c": {Kind: Sleep, Sleep: 8 * time.Second, Nth: 1, Once: true},
		"d": {Kind: Fail, Nth: 1}, "e": {Kind: Off, Nth: 1},
	}
	for name, a := range want {
		if got[name] != a {
			t.Errorf("%s = %+v, want %+v", name, got[name], a)
		}
	}
	for _, wrong := range []string{"a", "a=", "a=explode", "a=sleep(soon)", "a=panic@0", "a=panic@x"} {
		if _, err := Parse(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
