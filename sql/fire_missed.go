package sql

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/dag/schedule"
)

// missedSources counts the schedules of which verdicts, which are in order, let fires go: so many alerts there may be.
func missedSources(verdicts []Verdict) (n int) {
	last := int64(0)
	for _, v := range verdicts {
		if v.State == schedule.Missed && v.Source != last {
			n, last = n+1, v.Source
		}
	}
	return n
}

// tellMissed alerts the listeners of schedules of which fires are missed, the first in a row: an outage is told once of each,
// however many fires it cost and in however many settlements they come.
func (w *settler) tellMissed(ctx context.Context, fires []*pending) error {
	var alerts []*Alert
	for of := range chunkBySource(fires) {
		var first *pending
		for _, p := range of {
			if p.State == schedule.Missed && p.was != schedule.Missed {
				first = p
				break
			}
		}
		if first == nil {
			continue
		}
		before := schedule.Fired
		err := w.eachRow(ctx, `SELECT state FROM fire WHERE source_id = ? AND planned_at < ? ORDER BY planned_at DESC LIMIT 1`, []any{first.Source, int64(first.At)},
			func(scan func(...any) error) error { return scan(&before) })
		if err != nil {
			return err
		}
		if before == schedule.Missed {
			continue
		}
		sch := w.schedules[first.Source]
		alerts = append(alerts, &Alert{
			ID: w.alertID, ProjectID: sch.ProjectID, Kind: listen.ScheduleMissed, Workflow: w.names[sch.WorkflowID], Subject: sch.Name, By: w.master, CreatedAt: w.now,
			Message: missedMessage(first.At, first.Reason),
		})
		w.alertID++
	}
	return w.alert(ctx, alerts...)
}

func missedMessage(at dag.Millis, reason string) string {
	return fmt.Sprintf("fires were missed from %s on: no master was there in time, and the misfire policy let them go (%s)", at.Time().UTC().Format(time.RFC3339), reason)
}
