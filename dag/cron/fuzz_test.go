package cron_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag/cron"
)

// FuzzParse holds that nothing that is read panics, that each mistake has a place, and that
// what is accepted goes forward and ends.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"*/15 9-17 * * MON-FRI", "0 0 0 L-3W * ?", "0 0 12 ? JAN-DEC FRI#3 2027-2030", "@every 1h30m", "@daily", "0 0 29 2 *",
		"61 * * * *", "0 0 0 15W,LW * ?", "0 0 * * 7L", "5,,6 * * * *", "0-59/60 * * * *", "\x00 * * * *", "９ * * * *", "TZ=UTC * * * * *",
	} {
		f.Add(text, "", int64(1_774_742_400))
		f.Add(text, "unix", int64(0))
		f.Add(text, "quartz", int64(-1<<62))
	}
	loc := zone(f, "America/Havana")
	f.Fuzz(func(t *testing.T, text, dialect string, after int64) {
		e, err := cron.Parse(text, cron.Dialect(dialect))
		if err != nil {
			wrong, ok := errors.AsType[*cron.Errors](err)
			if !ok || len(wrong.List) == 0 {
				t.Fatalf("Parse(%q) = %v", text, err)
			}
			for _, one := range wrong.List {
				if one.Column < 1 || one.Column > len(text)+1 || one.Message == "" || one.Code == "" {
					t.Fatalf("Parse(%q) has the mistake %+v", text, one)
				}
			}
			return
		}
		at := time.Unix(after, 0)
		for range 20 {
			next, ok := e.Next(at, loc)
			if !ok {
				break
			}
			if !next.After(at) {
				t.Fatalf("%q: Next after %v is %v", text, at, next)
			}
			at = next
		}
		if again, err := cron.Parse(strings.ToLower(e.String()), cron.Dialect(dialect)); err != nil {
			t.Fatalf("%q in lower case: %v, %v", text, again, err)
		}
	})
}

func BenchmarkNext(b *testing.B) {
	loc := zone(b, "Europe/Berlin")
	for _, bb := range []struct{ name, text string }{
		{"minutely", "* * * * *"},
		{"daily", "30 2 * * *"},
		{"office", "*/15 9-17 * * MON-FRI"},
		{"third_friday", "0 0 12 ? * FRI#3"},
		{"last_working_day", "0 0 12 LW * ?"},
		// The rarest of all: once in 28 years, or 40 over the turn of a century.
		{"leap_monday", "0 0 12 ? 2 MON#5"},
		{"every", "@every 90s"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			e := parse(b, bb.text, cron.Auto)
			start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			at := start
			for b.Loop() {
				next, ok := e.Next(at, loc)
				if at = next; !ok || at.Year() > 2090 {
					at = start
				}
			}
		})
	}
	b.Run("over", func(b *testing.B) {
		e := parse(b, "0 0 12 29 2 ? 2000-2024", cron.Auto)
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for b.Loop() {
			e.Next(at, loc)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, bb := range []struct{ name, text string }{
		{"office", "*/15 9-17 * * MON-FRI"}, {"last_working_day", "0 0 12 LW * ?"}, {"impossible", "0 0 30 2 *"}, {"impossible_years", "0 0 0 31 2,4,6,9,11 ? 1970-2098"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				_, _ = cron.Parse(bb.text, cron.Auto)
			}
		})
	}
}
