package sql

import "testing"

func TestTriggersAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row  InstanceRow
		want Trigger
	}{
		{InstanceRow{TriggerKey: ManualKey(4)}, "manual"},
		{InstanceRow{TriggerKey: ScheduleKey(4)}, "schedule"},
		{InstanceRow{TriggerKey: EndKey(4, 7)}, "end"},
		{InstanceRow{TriggerKey: CallKey(4)}, "webhook"},
		{InstanceRow{TriggerKey: NowKey(4, 5)}, "schedule"},
		{InstanceRow{TriggerKey: BackfillKey(4)}, "backfill"},
		{InstanceRow{TriggerKey: ChildKey(4, 1, 1, 0), Parent: Parent{Instance: 4}}, "child"},
		{InstanceRow{TriggerKey: ManualKey(4), RerunOf: 3}, "rerun"},
	} {
		if got := c.row.Trigger(); got != c.want {
			t.Errorf("Trigger of %q = %s, want %s", c.row.TriggerKey, got, c.want)
		}
	}
}
