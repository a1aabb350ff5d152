package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

func TestLateFiresGoByThePolicy(t *testing.T) {
	t.Parallel()
	const hour = dag.Millis(3_600_000)
	now := 100 * hour
	late := []dag.Millis{now - 4*hour, now - 3*hour, now - 2*hour, now - hour}
	for _, c := range []struct {
		name   string
		policy *schedule.Misfire
		want   string
	}{
		{"nothing said", nil, "misfire_latest misfire_latest misfire_latest fires"},
		{"latest", &schedule.Misfire{Policy: schedule.RunLatest}, "misfire_latest misfire_latest misfire_latest fires"},
		{"latest, too old", &schedule.Misfire{Policy: schedule.RunLatest, MaxAge: "30m"}, "misfire_max_age misfire_max_age misfire_max_age misfire_max_age"},
		{"none", &schedule.Misfire{Policy: schedule.RunNone}, "misfire_none misfire_none misfire_none misfire_none"},
		{"all", &schedule.Misfire{Policy: schedule.RunAll}, "fires fires fires fires"},
		{"all, at most two", &schedule.Misfire{Policy: schedule.RunAll, Max: 2}, "misfire_max misfire_max fires fires"},
		{"all, at most three and two hours", &schedule.Misfire{Policy: schedule.RunAll, Max: 3, MaxAge: "2h"}, "misfire_max_age misfire_max_age fires fires"},
	} {
		p := compile(t, schedule.Spec{Cron: "0 * * * *", Misfire: c.policy}, nil)
		var got []string
		for i, o := range p.Judge(late, now) {
			if o.At != late[i] {
				t.Errorf("%s: outcome %d is of %v, want %v", c.name, i, o.At, late[i])
			}
			if o.Fire {
				o.Why += "fires"
			}
			got = append(got, o.Why)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

func TestAnOutageOfADayDoesNotStartEverySecondOfIt(t *testing.T) {
	t.Parallel()
	p := compile(t, schedule.Spec{Cron: "* * * * * *", Misfire: &schedule.Misfire{Policy: schedule.RunAll}}, nil)
	late := make([]dag.Millis, 86_400)
	for i := range late {
		late[i] = dag.Millis(1000 * (i + 1))
	}
	fires := 0
	for _, o := range p.Judge(late, 86_401_000) {
		if o.Fire {
			fires++
		}
	}
	if fires != 100 {
		t.Errorf("%d fires of a day that nobody saw start, want 100", fires)
	}
}

func TestWhatIsWithinTheGraceIsNotLate(t *testing.T) {
	t.Parallel()
	for grace, want := range map[string]time.Duration{"": 30 * time.Second, "0s": 0, "5m": 5 * time.Minute} {
		p := compile(t, schedule.Spec{Cron: "0 * * * *", Misfire: &schedule.Misfire{Policy: schedule.RunLatest, Grace: grace}}, nil)
		due := dag.Millis(1_000_000)
		if p.Late(due, due.Add(want)) || !p.Late(due, due.Add(want)+1) {
			t.Errorf("with grace %q a fire is not late from %v on", grace, want)
		}
	}
}

func TestSlicesSpreadWhatIsDueTogether(t *testing.T) {
	t.Parallel()
	for fires, want := range map[int]int{0: 1, 1: 1, 256: 1, 257: 2, 1000: 4, 10_000: 64, 100_000: 512, 10_000_000: 1024} {
		if got := schedule.Buckets(fires); got != want {
			t.Errorf("%d fires have %d buckets, want %d", fires, got, want)
		}
	}
	const slots = 64
	due := dag.Millis(time.Date(2026, 3, 1, 5, 0, 0, 0, time.UTC).UnixMilli())
	fires := map[int]int{}
	for id := range int64(10_000) {
		slot := schedule.SlotOf(due, schedule.Bucket(id), schedule.Buckets(10_000), slots)
		if slot < 0 || slot >= slots {
			t.Fatalf("slot %d of %d", slot, slots)
		}
		fires[slot]++
	}
	for slot, n := range fires {
		if len(fires) != slots || n > 10_000/slots*2 {
			t.Errorf("%d slots have fires, slot %d has %d of 10,000", len(fires), slot, n)
		}
	}
	if a, b := schedule.SlotOf(due, 3, 1, slots), schedule.SlotOf(due+59_999, 900, 1, slots); a != b {
		t.Errorf("two lone fires of a minute are in slots %d and %d", a, b)
	}
	if fmt.Sprint(schedule.Bucket(1024), schedule.Bucket(1023)) != "0 1023" {
		t.Error("buckets are not the source modulo 1024")
	}
}
