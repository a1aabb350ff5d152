package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag/schedule"
)

// TestALedgerThatIsNotAsPlannedIsTold has each way in which the fires and instances of a stretch may be wrong.
func TestALedgerThatIsNotAsPlannedIsTold(t *testing.T) {
	t.Parallel()
	good := func() ledger {
		return ledger{
			fires: []entry{
				{moment: moment{1, 1000}, due: 1000, fired: 1010, state: schedule.Fired, instance: 7},
				{moment: moment{2, 1000}, due: 1200, fired: 1500, state: schedule.Fired, instance: 8},
			},
			starts: map[int64]moment{7: {1, 1000}, 8: {2, 1000}},
		}
	}
	rules := map[moment]bool{{1, 1000}: true, {2, 1000}: true}
	right := good()
	if err := right.holds(rules); err != nil {
		t.Errorf("a ledger as planned: %v", err)
	}
	if late := right.late(); len(late) != 2 || late[0].Milliseconds() != 10 || late[1].Milliseconds() != 300 {
		t.Errorf("late = %v, want 10 and 300 ms after they were due", late)
	}
	for _, test := range []struct {
		name, want string
		harm       func(l *ledger, rules map[moment]bool)
	}{
		{"a moment without a fire", "schedule 1 has no fire of 2000", func(_ *ledger, rules map[moment]bool) { rules[moment{1, 2000}] = true }},
		{"a fire of no moment", "schedule 2 has a fire of 1000, which no rule names", func(_ *ledger, rules map[moment]bool) { delete(rules, moment{2, 1000}) }},
		{"a fire that was missed", "is missed (misfire_latest)", func(l *ledger, _ map[moment]bool) {
			l.fires[0].state, l.fires[0].reason = schedule.Missed, "misfire_latest"
		}},
		{"a fire that is open", "is planned", func(l *ledger, _ map[moment]bool) { l.fires[0].state = schedule.Planned }},
		{"two fires of one instance", "has instance 7, as that of schedule 1", func(l *ledger, _ map[moment]bool) { l.fires[1].instance = 7 }},
		{"an instance that is gone", "which is not there", func(l *ledger, _ map[moment]bool) { delete(l.starts, 8) }},
		{"an instance about another moment", "not about it", func(l *ledger, _ map[moment]bool) { l.starts[8] = moment{2, 2000} }},
		{"an instance without a fire", "instance 9 of schedule 1 at 1000 was started by no fire", func(l *ledger, _ map[moment]bool) { l.starts[9] = moment{1, 1000} }},
	} {
		l, rules := good(), maps.Clone(rules)
		test.harm(&l, rules)
		if err := l.holds(rules); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
