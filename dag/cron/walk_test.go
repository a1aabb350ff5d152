package cron_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/porpoise/porpoise/dag/cron"
)

var walkSeed = flag.Uint64("cron.seed", 0, "seed of the walks over changes of clocks; 0 is a new one")

func seeded(t *testing.T) pick {
	t.Helper()
	seed := *walkSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-cron.seed=%d", seed)
	return rand.New(rand.NewPCG(seed, 6)).IntN
}

// change is a moment at which the clocks of a zone are changed.
type change struct {
	at            time.Time
	before, after int
}

// changes returns the changes of the years 2024 to 2027.
func changes(loc *time.Location) []change {
	var all []change
	end := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).In(loc)
	for {
		_, next := at.ZoneBounds()
		if next.IsZero() || !next.Before(end) {
			return all
		}
		_, before := next.Add(-1).Zone()
		if _, after := next.Zone(); after != before {
			all = append(all, change{next, before, after})
		}
		at = next
	}
}

// changing returns one zone for each different history of changes from 2024 to 2027.
func changing(t *testing.T) map[string][]change {
	t.Helper()
	text, err := os.ReadFile("testdata/zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	known, zones := map[string]bool{}, map[string][]change{}
	for name := range strings.FieldsSeq(string(text)) {
		all := changes(zone(t, name))
		key := ""
		for _, c := range all {
			key += fmt.Sprint(c.at.Unix(), c.before, c.after, ";")
		}
		if !known[key] && len(all) > 0 {
			zones[name] = all
		}
		known[key] = true
	}
	if len(zones) < 25 {
		t.Fatalf("only %d zones change their clocks", len(zones))
	}
	return zones
}

// compare holds Next to a walk, but for its edges: what a walk says there depends on what
// it has not seen.
func compare(t *testing.T, s slow, w walk, margin, step time.Duration, loc *time.Location) {
	t.Helper()
	e, err := cron.Parse(s.text, cron.Dialect(s.dialect))
	if err != nil {
		if strings.Contains(err.Error(), "never fire") {
			return
		}
		t.Fatalf("a correct expression is refused: %v", err)
	}
	if e.FollowsRealTime() != s.real {
		t.Errorf("%q: FollowsRealTime = %v, want %v", s.text, e.FollowsRealTime(), s.real)
	}
	from, to := w.at[0].Add(margin), w.at[len(w.at)-1].Add(-margin)
	want := w.fires(s, step)
	at := from.Add(-1)
	next, ok := e.Next(at, loc)
	for i, moment := range w.at {
		switch {
		case moment.Before(from) || !moment.Before(to):
		case want[i] && (!ok || !next.Equal(moment)):
			t.Fatalf("%q in %v fires at %v, and Next after %v is %v, %v", s.text, loc, moment.In(loc), at.In(loc), next, ok)
		case want[i]:
			at = moment
			next, ok = e.Next(at, loc)
		}
	}
	if ok && next.Before(to) {
		t.Fatalf("%q in %v does not fire at %v, which is Next after %v", s.text, loc, next, at.In(loc))
	}
}

// TestEveryChangeOfClocksIsAsAWalkFindsIt goes minute by minute through 32 hours around
// each change of each zone from 2024 to 2027, and second by second through five hours of one.
func TestEveryChangeOfClocksIsAsAWalkFindsIt(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	expressions := 0
	for name, all := range changing(t) {
		loc := zone(t, name)
		for i, c := range all {
			w := walkFrom(c.at.Add(-20*time.Hour), c.at.Add(20*time.Hour), time.Minute, loc)
			for range 12 { // F53
				compare(t, random.expression(false), w, 4*time.Hour, time.Minute, loc)
				expressions++
			}
			if i > 0 {
				continue
			}
			w = walkFrom(c.at.Add(-3*time.Hour), c.at.Add(3*time.Hour), time.Second, loc)
			compare(t, random.expression(true), w, 30*time.Minute, time.Second, loc)
			expressions++
		}
	}
	t.Logf("%d expressions", expressions)
}

// TestEveryDayIsAsAWalkFindsIt goes day by day through years, with the turn of a century
// that is no leap year.
func TestEveryDayIsAsAWalkFindsIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		random := pick(func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "n") })
		s := random.expression(false)
		e, err := cron.Parse(s.text, cron.Dialect(s.dialect))
		if err != nil {
			if !strings.Contains(err.Error(), "never fire") {
				r.Fatalf("a correct expression is refused: %v", err)
			}
			return
		}
		at := time.Date(2096+random(4), 1, 1, 0, 0, 0, 0, time.UTC).Add(-1)
		for day := at.Add(1); day.Before(at.AddDate(6, 0, 0)); day = day.AddDate(0, 0, 1) {
			next, ok := e.Next(day.Add(-1), time.UTC)
			fires := ok && next.Before(day.AddDate(0, 0, 1))
			shown := s.names(wallOf(day))
			if fires != shown {
				r.Fatalf("%q fires on %v: %v, want %v; Next = %v", s.text, day, fires, shown, next)
			}
		}
	})
}
