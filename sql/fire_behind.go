package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

const (
	// maxBehind bounds the fires of one schedule that a change plans, and maxBehindTogether those of one change of many:
	// nobody was there to plan them, which is rare, and the change must not take the database for long.
	maxBehind         = 1000
	maxBehindTogether = 20_000
	// leastBehind is how far back any schedule has no more than maxBehind fires, with one each second.
	leastBehind = 15 * msPerMinute
)

// planBehind writes the fires of schedules that were due before now and have no row, since no master was there to plan
// them: planned, so that their misfire policy judges them, or, where the schedules are being paused, as skipped. The rows
// of the schedules are locked, and their documents and calendars are still those by which it was due. It must come
// before the change: afterwards nobody knows what the rules were.
func (s *Store) planBehind(ctx context.Context, tx *sqlTx, ids []int64, enabled bool, now dag.Millis) error {
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
				behind = append(behind, sch)
				return behind[len(behind)-1].decode(spec)
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
		fires, from, ok := dueOf(&sch, calendars[sch.ProjectID], now)
		if !ok || from > sch.PlannedUntil {
			s.log.Warn("not all fires that nobody planned are in the ledger", "schedule", sch.ID, "from", sch.PlannedUntil.Time(), "until", from.Time())
		}
		if len(rows)/len(fireInsert.cols)+len(fires) > maxBehindTogether {
			s.log.Warn("not all fires that nobody planned are in the ledger", "from_schedule", sch.ID, "schedules", len(behind))
			break
		}
		for _, f := range fires {
			state, reason := schedule.Planned, ""
			switch {
			case f.Skip != "":
				state, reason = schedule.Skipped, f.Skip
			case !enabled:
				state, reason = schedule.Skipped, schedule.ReasonPaused
			}
			rows = append(rows, sch.ID, int64(f.At), int64(f.Due), int64(schedule.Bucket(sch.ID)), sch.Revision, flag(state == schedule.Planned), string(state), reason,
				int64(0), int64(0), "", int64(0))
		}
	}
	if err := b.rows(ctx, fireInsert, s.dial.insertNew, rows); err != nil {
		return fmt.Errorf("insert fires that nobody planned: %w", err)
	}
	return nil
}

// dueOf returns what was due of a schedule and was not planned, of very many the newest, which its misfire policy wants; from
// is the moment from which on these are all. It is false where the rules can't be read, or their reckoning ends in a panic:
// it is for them that a schedule is paused, and that must not fail.
func dueOf(sch *Schedule, calendars map[string]schedule.Calendar, now dag.Millis) (fires []schedule.Fire, from dag.Millis, ok bool) {
	defer func() {
		if recover() != nil {
			fires, from, ok = nil, now, false
		}
	}()
	plan, wrong := sch.Spec.Compile(sch.ID, calendars, 0)
	if len(wrong) > 0 {
		return nil, now, false
	}
	from = now
	for back := dag.Millis(leastBehind); from > sch.PlannedUntil; back *= 2 {
		since := max(sch.PlannedUntil, now-back)
		more, _ := plan.Fires(since, now, maxBehind+1)
		if len(more) > maxBehind {
			break
		}
		fires, from = more, since
	}
	return fires, from, true
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
