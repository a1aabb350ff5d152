package timer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/timer"
)

func at(text string) dag.Millis {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return dag.MillisOf(t)
}

func good(change func(*timer.Spec)) timer.Spec {
	s := timer.Spec{Cron: "* * * * * *", Method: "POST", URL: "http://example.org"}
	if change != nil {
		change(&s)
	}
	return s
}

// The traps of a window that holds one firing too many, and of the timezone of the process.
func TestAWindowHoldsItsFirings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cron, zone, from, until string
		most                    int
		want                    []string
		next                    string
	}{
		{"*/20 * * * * *", "", "2026-11-22T12:00:00Z", "2026-11-22T12:01:00Z", 10, []string{"12:00:00", "12:00:20", "12:00:40"}, "2026-11-22T12:01:00Z"},
		{"*/20 * * * * *", "", "2026-11-22T12:00:00.001Z", "2026-11-22T12:01:00.001Z", 10, []string{"12:00:20", "12:00:40", "12:01:00"}, "2026-11-22T12:01:20Z"},
		{"*/20 * * * * *", "", "2026-11-22T12:00:00Z", "2026-11-22T12:01:00Z", 2, []string{"12:00:00", "12:00:20"}, "2026-11-22T12:00:40Z"},
		{"*/20 * * * * *", "", "2026-11-22T12:00:00Z", "2026-11-22T12:00:00Z", 2, nil, "2026-11-22T12:00:00Z"},
		{"0 9 * * *", "Asia/Tokyo", "2026-11-22T00:00:00Z", "2026-11-22T12:00:00Z", 2, []string{"00:00:00"}, "2026-11-23T00:00:00Z"},
		{"0 0 0 1 1 ? 2030", "", "2026-11-22T00:00:00Z", "2026-11-22T12:00:00Z", 2, nil, "2030-01-01T00:00:00Z"},
		{"0 0 0 1 1 ? 2030", "", "2030-01-01T00:00:00Z", "2030-01-01T12:00:00Z", 2, []string{"00:00:00"}, ""},
	} {
		s := good(func(s *timer.Spec) { s.Cron, s.Timezone = c.cron, c.zone })
		plan, err := s.Compile()
		if err != nil {
			t.Fatal(err)
		}
		fires, next := plan.Fires(at(c.from), at(c.until), c.most)
		var got []string
		for _, f := range fires {
			got = append(got, f.Time().UTC().Format(time.TimeOnly))
		}
		want := timer.Never
		if c.next != "" {
			want = at(c.next)
		}
		if !slices.Equal(got, c.want) || next != want {
			t.Errorf("%s from %s until %s: %v until %d, want %v until %d", c.cron, c.from, c.until, got, next, c.want, want)
		}
	}
}

func TestEverythingThatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	now := at("2026-11-22T12:00:00Z")
	for _, c := range []struct {
		change func(*timer.Spec)
		want   string
	}{
		{nil, ""},
		{func(s *timer.Spec) { *s = timer.Spec{} }, "cron required, notifyHTTPParam.method required"},
		{func(s *timer.Spec) { s.Cron, s.Method = "61 * * * *", "PUT" }, "cron out_of_range, notifyHTTPParam.method not_in_enum"},
		{func(s *timer.Spec) { s.Cron, s.Timezone, s.Dialect = "0 0 0 1 1 ? 2020", "Mars/Olympus", "cobol" }, "dialect not_in_enum, timezone invalid"},
		{func(s *timer.Spec) { s.Cron = "0 0 0 1 1 ? 2020" }, "cron invalid"},
		{func(s *timer.Spec) { s.Headers = map[string][]string{"A B": {"1"}, "hOst": {"x"}, "Ok": {"a\r\nX: b"}} }, "notifyHTTPParam.header.A B invalid, notifyHTTPParam.header.Ok invalid, notifyHTTPParam.header.hOst invalid"},
		{func(s *timer.Spec) { s.Headers = map[string][]string{"Idempotency-Key": nil} }, "notifyHTTPParam.header.Idempotency-Key invalid"},
		{func(s *timer.Spec) { s.Headers = map[string][]string{"X": make([]string, 51)} }, "notifyHTTPParam.header too_large"},
		{func(s *timer.Spec) { s.Headers = map[string][]string{"X": {strings.Repeat("x", 9000)}} }, "notifyHTTPParam.header too_large"},
		{func(s *timer.Spec) { s.Body = strings.Repeat("x", timer.MaxBody+1) }, "notifyHTTPParam.body too_large"},
		{func(s *timer.Spec) { s.TimeoutSeconds, s.MaxTries = 61, -1 }, "notifyHTTPParam.timeoutSeconds out_of_range, notifyHTTPParam.maxTries out_of_range"},
	} {
		s := good(c.change)
		var got []string
		for _, w := range s.Check(now) {
			got = append(got, w.Field+" "+w.Code)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%+v: %s, want %s", s, text, c.want)
		}
	}
}

func TestPausesGrowToABound(t *testing.T) {
	t.Parallel()
	var got []string
	for n := range 9 {
		got = append(got, timer.Pause(n+1).String())
	}
	if want := "1s 2s 4s 8s 16s 32s 1m0s 1m0s 1m0s"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", strings.Join(got, " "), want)
	}
	s := good(nil)
	for tries, want := range map[int]string{1: "retry 1s", 4: "retry 8s", 5: "failed 0s", 6: "failed 0s"} {
		state, pause := s.Outcome(tries)
		if text := fmt.Sprint(state, " ", pause); text != want {
			t.Errorf("after %d tries: %s, want %s", tries, text, want)
		}
	}
}

// FuzzCheck holds a checked timer to what planning and calling rely on.
func FuzzCheck(f *testing.F) {
	f.Add("*/5 * * * *", "", "Europe/Berlin", "X-A", "1", 10)
	f.Add("@every 90s", "unix", "", "host", "\r\n", -1)
	f.Add("0 0 12 LW * ? 2030", "quartz", "UTC", "", "ä", 60)
	f.Fuzz(func(t *testing.T, cron, dialect, zone, name, value string, timeout int) {
		s := good(func(s *timer.Spec) {
			s.Cron, s.Dialect, s.Timezone, s.Headers, s.TimeoutSeconds = cron, dialect, zone, map[string][]string{name: {value}}, timeout
		})
		now := at("2026-11-22T12:00:00Z")
		if len(s.Check(now)) > 0 {
			return
		}
		plan, err := s.Compile()
		if err != nil {
			t.Fatalf("checked, and does not compile: %v", err)
		}
		until := now.Add(timer.Step)
		fires, next := plan.Fires(now, until, 100)
		for i, at := range fires {
			if at < now || at >= until || i > 0 && at <= fires[i-1] {
				t.Fatalf("fires %v from %d until %d", fires, now, until)
			}
		}
		if len(fires) < 100 && next < until || s.Timeout() <= 0 || s.Timeout() > timer.MaxTimeout {
			t.Fatalf("next %d, until %d, timeout %s", next, until, s.Timeout())
		}
	})
}

// A receiver tells repetitions by it: it is the same for every try of a firing, and no other firing's.
func TestAFiringHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	if got, want := timer.Key(12, 345), "12-345"; got != want {
		t.Errorf("the key is %q, want %q", got, want)
	}
	if timer.Key(1, 2) == timer.Key(12, 2) || timer.Key(1, 2) == timer.Key(1, 3) {
		t.Error("two firings have one key")
	}
}
