package sql

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

const (
	// maxSkipped bounds the fires that one change of a schedule writes as skipped, and maxSkippedTogether those of one
	// change of many: nobody was there to plan them, which is rare, and the change must not take the database for long.
	maxSkipped         = 1000
	maxSkippedTogether = 20_000
)

// skipUnplanned writes the fires of schedules that were due before now and have no row, since no master was there to plan
// them, as skipped for a reason. The rows of the schedules are locked, and their documents and calendars are still those
// by which it was due. It must come before the change: afterwards nobody knows what the rules were.
func (s *Store) skipUnplanned(ctx context.Context, tx *sqlTx, ids []int64, reason string, now dag.Millis) error {
	b := &batch{s: s, tx: plainTx{tx, s}}
	var behind []Schedule
	err := eachChunk(ids, func(chunk []any) error {
		return b.eachRow(ctx, `SELECT id, project_id, spec, revision, planned_until FROM schedule WHERE enabled = 1 AND planned_until < ? AND id IN (`+marks(len(chunk))+`) ORDER BY id`,
			append([]any{now}, chunk...), func(scan func(...any) error) error {
				var sch Schedule
				var spec string
				if err := scan(&sch.ID, &sch.ProjectID, &spec, &sch.Revision, &sch.PlannedUntil); err != nil {
					return err
				}
				if err := json.Unmarshal([]byte(spec), &sch.Spec); err != nil {
					return fmt.Errorf("schedule %d: %w", sch.ID, err)
				}
				behind = append(behind, sch)
				return nil
			})
	})
	if err != nil {
		return err
	}
	calendars := map[int64]map[string]schedule.Calendar{}
	var rows []any
	for _, sch := range behind {
		if sch.Spec.Calendar != nil && calendars[sch.ProjectID] == nil {
			if calendars[sch.ProjectID], err = calendarsWithin(ctx, b, sch.ProjectID); err != nil {
				return err
			}
		}
		fires := dueOf(&sch, calendars[sch.ProjectID], now)
		if len(rows)/len(fireInsert.cols)+len(fires) > maxSkippedTogether {
			s.log.Warn("not all fires that nobody planned are in the ledger as skipped", "from_schedule", sch.ID, "schedules", len(behind))
			break
		}
		for _, f := range fires {
			why := reason
			if f.Skip != "" {
				why = f.Skip
			}
			rows = append(rows, sch.ID, int64(f.At), int64(f.Due), int64(schedule.Bucket(sch.ID)), sch.Revision, int64(0), string(schedule.Skipped), why,
				int64(0), int64(0), "", int64(0))
		}
	}
	if err := b.rows(ctx, fireInsert, s.dial.insertNew, rows); err != nil {
		return fmt.Errorf("insert fires that nobody planned: %w", err)
	}
	return nil
}

// dueOf returns what was due of a schedule and was not planned. Rules that can't be read, or whose reckoning ends in a
// panic, name nothing: it is for them that a schedule is paused, and that must not fail.
func dueOf(sch *Schedule, calendars map[string]schedule.Calendar, now dag.Millis) (fires []schedule.Fire) {
	defer func() {
		if recover() != nil {
			fires = nil
		}
	}()
	plan, wrong := sch.Spec.Compile(sch.ID, calendars, 0)
	if len(wrong) > 0 {
		return nil
	}
	fires, _ = plan.Fires(sch.PlannedUntil, now, maxSkipped)
	return fires
}

// calendarsWithin returns the calendars of a project as a transaction sees them, by their folded names.
func calendarsWithin(ctx context.Context, b *batch, projectID int64) (map[string]schedule.Calendar, error) {
	out := map[string]schedule.Calendar{}
	return out, b.eachRow(ctx, selectCalendar+` WHERE project_id = ?`, []any{projectID}, func(scan func(...any) error) error {
		c, err := scanCalendar(scan)
		out[dag.FoldName(c.Name)] = c.Spec
		return err
	})
}
