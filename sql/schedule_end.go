package sql

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

// EndKey is the trigger key of the instance that a schedule starts at the end of another: one for each of those.
func EndKey(id, ended int64) string { return fmt.Sprintf("%s:%d", ScheduleKey(id), ended) }

// ScheduleOf returns the schedule that a trigger key is of, by a moment, an end, a call or a person; false where it is of none.
func ScheduleOf(key string) (id int64, ok bool) {
	digits, ok := strings.CutPrefix(key, "s")
	if !ok {
		return 0, false
	}
	digits, _, _ = strings.Cut(digits, ":")
	id, err := strconv.ParseInt(digits, 10, 64)
	return id, err == nil && id > 0
}

// Trigger returns the schedule time and the trigger key of the instance that the fire starts.
func (f *Fire) Trigger() (dag.Millis, string) {
	switch {
	case f.Call != "":
		return f.At, CallKey(f.Source)
	case f.After == 0:
		return f.At, ScheduleKey(f.Source)
	case f.ScheduleTime != 0:
		return f.ScheduleTime, EndKey(f.Source, f.After)
	}
	return f.At, EndKey(f.Source, f.After)
}

// afterStates are the ends that a schedule waits for, as its row has them.
func afterStates(spec *schedule.Spec) string {
	if spec.After == nil {
		return ""
	}
	var words []string
	for _, state := range spec.After.Ends() {
		words = append(words, string(state))
	}
	return strings.Join(words, ",")
}

// refuseCircle returns ErrCircle where the end of a schedule's workflow leads to that of the one that it waits for. The
// workflow's row is locked, and those of all that lead there are locked too: of two that would close a circle together
// each goes through the other's workflow.
func (s *Store) refuseCircle(ctx context.Context, tx *sqlTx, sch *Schedule) error {
	if sch.AfterWorkflow == 0 {
		return nil
	}
	circle, err := schedule.Leads(sch.WorkflowID, sch.AfterWorkflow, func(ids []int64) (before []int64, err error) {
		slices.Sort(ids) // the order of locks
		return before, eachChunk(ids, func(chunk []any) error {
			var locked, some []int64
			if err := tx.SelectContext(ctx, &locked, `SELECT id FROM workflow WHERE id IN (`+marks(len(chunk))+`) ORDER BY id`+s.dial.forUpdate(), chunk...); err != nil {
				return err
			}
			err := tx.SelectContext(ctx, &some, `SELECT after_workflow FROM schedule WHERE workflow_id IN (`+marks(len(chunk))+`) AND after_workflow <> 0 ORDER BY id`+
				s.dial.forUpdate(), chunk...)
			before = append(before, some...)
			return err
		})
	})
	if err == nil && circle {
		err = ErrCircle
	}
	return err
}

// StartedBy returns the workflows whose ends start any of some workflows, by schedules that are paused too.
func (s *Store) StartedBy(ctx context.Context, workflows []int64) (before []int64, err error) {
	err = eachChunk(workflows, func(chunk []any) error {
		some, err := collect(ctx, s, func(scan func(...any) error) (id int64, err error) { return id, scan(&id) },
			`SELECT DISTINCT after_workflow FROM schedule WHERE workflow_id IN (`+marks(len(chunk))+`) AND after_workflow <> 0`, chunk...)
		before = append(before, some...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what starts workflows: %w", err)
	}
	return before, nil
}

var scheduleEndInsert = &table{
	name: "schedule_end",
	cols: []string{"source_id", "instance_id", "ended_at", "schedule_time", "revision", "open"},
}

// noteEnds notes the ends of instances for the schedules that wait for them. It is written with the end, so that neither
// is there without the other; an end that was noted before, since its instance was recovered, stays as it was. The ends of
// dry runs start nothing, nor do those of backfills, which bring along what depends on them themselves.
func (b *batch) noteEnds(ctx context.Context, ops []*operation, waiting map[int64][]waitsFor) error {
	if len(waiting) == 0 {
		return nil // mostly nobody waits
	}
	at := map[int64]dag.Millis{}
	for _, o := range ops {
		if t := o.commit; t.Release && t.Instance.State.Final() {
			at[t.Instance.ID] = t.At
		}
	}
	var ids []int64
	for _, id := range sortedKeys(at) {
		if len(waiting[b.locked[id].workflow]) > 0 {
			ids = append(ids, id)
		}
	}
	var rows []any
	err := eachChunk(ids, func(chunk []any) error {
		return b.eachRow(ctx, `SELECT id, workflow_id, state, schedule_time, trigger_key FROM workflow_instance WHERE id IN (`+marks(len(chunk))+`) AND dry_run = 0`, chunk,
			func(scan func(...any) error) error {
				var id, workflow, scheduleTime int64
				var state, key string
				if err := scan(&id, &workflow, &state, &scheduleTime, &key); err != nil {
					return err
				}
				if _, filled := BackfillOf(key); filled {
					return nil
				}
				for _, w := range waiting[workflow] {
					if slices.Contains(w.states, state) {
						rows = append(rows, w.source, id, int64(at[id]), scheduleTime, w.revision, int64(1))
					}
				}
				return nil
			})
	})
	if err != nil {
		return err
	}
	return b.rows(ctx, scheduleEndInsert, b.s.dial.insertNew, rows)
}

// waitsFor is a schedule that waits for ends of a workflow.
type waitsFor struct {
	source, revision int64
	states           []string
}

// maxDives is how many values MySQL and MariaDB look up in an index before they reckon by averages (200), which are of no
// use here: most schedules wait for nothing, so that on average all of them would have to be read.
const maxDives = 128

// endedWorkflows returns the workflows of instances that end.
func (b *batch) endedWorkflows(ops []*operation) []int64 {
	workflows := map[int64]bool{}
	for _, o := range ops {
		if t := o.commit; t.Release && t.Instance.State.Final() {
			if row, ok := b.locked[t.Instance.ID]; ok { // where it is gone the transaction fails
				workflows[row.workflow] = true
			}
		}
	}
	return sortedKeys(workflows)
}

// waitingFor asks which schedules wait for ends of workflows, by those. It does not join them with instances: where few
// wait, a database would begin with them and go through all instances that their workflows ever had.
func waitingFor(workflows []int64, into map[int64][]waitsFor) []question {
	var out []question
	for some := range slices.Chunk(workflows, maxDives) {
		out = append(out, chunked(some, func(n int) string {
			return `SELECT id, revision, after_workflow, after_states FROM schedule WHERE after_workflow IN (` + marks(n) + `) ORDER BY id`
		}, func(scan func(...any) error) error {
			var w waitsFor
			var workflow int64
			var states string
			err := scan(&w.source, &w.revision, &workflow, &states)
			w.states = strings.Split(states, ",")
			into[workflow] = append(into[workflow], w)
			return err
		})...)
	}
	return out
}

// pendingEnd is an end whose fire has no row.
type pendingEnd struct {
	source, instance int64
	at, scheduleTime dag.Millis
	revision         int64
}

const selectEnd = `SELECT source_id, instance_id, ended_at, schedule_time, revision FROM schedule_end`

func scanEnd(scan func(...any) error) (e pendingEnd, err error) {
	return e, scan(&e.source, &e.instance, &e.at, &e.scheduleTime, &e.revision)
}

// PlanEnds writes the fires of up to limit ends that schedules wait for and returns them with their instances to start, the
// oldest first; more says that others are left. Whoever plans asks for what owns says, and it may be called by several
// masters at once. Two ends of one moment are fires of moments next to each other.
func (s *Store) PlanEnds(ctx context.Context, limit int, owns func(id int64) bool) (fires []Verdict, more bool, err error) {
	ends, more, err := s.pendingEnds(ctx, limit, owns)
	if err != nil {
		return nil, false, fmt.Errorf("read ends: %w", err)
	}
	if len(ends) == 0 {
		return nil, false, nil
	}
	slices.SortStableFunc(ends, func(a, b pendingEnd) int { return cmp.Compare(a.source, b.source) }) // the order of locks
	err = s.write(ctx, func(tx *sqlTx) error {
		fires, err = s.planEnds(ctx, &batch{s: s, tx: plainTx{tx, s}}, ends)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("plan %d ends: %w", len(ends), err)
	}
	return fires, more, nil
}

func (s *Store) pendingEnds(ctx context.Context, limit int, owns func(id int64) bool) (out []pendingEnd, more bool, err error) {
	const page = 500
	for after := (pendingEnd{}); ; {
		rows, err := collect(ctx, s, scanEnd, selectEnd+` WHERE open = 1 AND (ended_at > ? OR ended_at = ? AND (source_id > ? OR source_id = ? AND instance_id > ?))
			ORDER BY ended_at, source_id, instance_id LIMIT ?`, after.at, after.at, after.source, after.source, after.instance, page)
		if err != nil {
			return nil, false, err
		}
		for _, e := range rows {
			if after = e; !owns(e.source) {
				continue
			}
			if len(out) == limit {
				return out, true, nil
			}
			out = append(out, e)
		}
		if len(rows) < page {
			return out, false, nil
		}
	}
}

var (
	endFire = &table{
		name: "fire",
		cols: append(slices.Clone(fireInsert.cols), "after_id", "schedule_time"),
	}
	endPlanned = &table{
		name: "schedule_end",
		keys: []string{"source_id", "instance_id"},
		cols: []string{"source_id", "instance_id", "open"},
		sets: []string{"open"},
	}
)

// forgetEnds deletes what schedules wait for, up to the list of their ids.
const forgetEnds = `DELETE FROM schedule_end WHERE source_id IN (`

// planEnds writes the fires of ends, which are in the order of their schedules. Those of a schedule that is gone are
// forgotten.
func (s *Store) planEnds(ctx context.Context, b *batch, ends []pendingEnd) (out []Verdict, err error) {
	sources := map[int64]bool{}
	var args []any
	for _, e := range ends {
		sources[e.source] = false
		args = append(args, e.source, e.instance)
	}
	err = eachChunk(sortedKeys(sources), func(chunk []any) error {
		return b.eachRow(ctx, `SELECT id FROM schedule WHERE id IN (`+marks(len(chunk))+`) ORDER BY id`+s.dial.forUpdate(), chunk, func(scan func(...any) error) error {
			var id int64
			err := scan(&id)
			sources[id] = true
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("lock schedules: %w", err)
	}
	// Another master may have been first: whoever plans an end holds the lock of its schedule.
	type claim struct{ source, instance int64 }
	open := map[claim]bool{}
	err = b.eachPair(ctx, `SELECT source_id, instance_id FROM schedule_end WHERE open = 1 AND `, "(source_id, instance_id)", 2, args, func(scan func(...any) error) error {
		var c claim
		err := scan(&c.source, &c.instance)
		open[c] = true
		return err
	})
	if err != nil {
		return nil, err
	}
	last := map[int64]dag.Millis{}
	var fires, planned []any
	var gone []int64
	for _, e := range ends {
		switch {
		case !sources[e.source]:
			gone = append(gone, e.source)
			continue
		case !open[claim{e.source, e.instance}]:
			continue
		}
		at := last[e.source]
		if at == 0 {
			if at, err = s.lastFire(ctx, b, e.source); err != nil {
				return nil, fmt.Errorf("read the last fire of schedule %d: %w", e.source, err)
			}
		}
		at = max(e.at, at+1)
		last[e.source] = at
		fires = append(fires, e.source, int64(at), int64(at), int64(schedule.Bucket(e.source)), e.revision, int64(1), string(schedule.Planned), "", int64(0), int64(0), "", int64(0),
			e.instance, int64(e.scheduleTime))
		planned = append(planned, e.source, e.instance, int64(0))
		out = append(out, Verdict{Source: e.source, At: at, State: schedule.Fired})
	}
	if err := b.rows(ctx, endFire, s.dial.insert, fires); err != nil {
		return nil, fmt.Errorf("insert fires: %w", err)
	}
	if err := b.execIDs(ctx, forgetEnds+`%s)`, gone); err != nil {
		return nil, err
	}
	return out, b.updates(ctx, endPlanned, planned, false)
}

func (s *Store) lastFire(ctx context.Context, b *batch, source int64) (at dag.Millis, err error) {
	return at, b.eachRow(ctx, `SELECT COALESCE(MAX(planned_at), 0) FROM fire WHERE source_id = ?`, []any{source}, func(scan func(...any) error) error { return scan(&at) })
}

// AfterEdge is a schedule that fires at ends of another workflow.
type AfterEdge struct {
	Name       string
	WorkflowID int64 // which it starts
	After      int64 // whose ends it waits for
}

// SchedulesAfter returns the schedules that fire at ends of workflows, up to limit of them. It walks the index of those:
// "<> 0" is what SQLite's holds, "> 0" is a range of it.
func (s *Store) SchedulesAfter(ctx context.Context, limit int) ([]AfterEdge, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (e AfterEdge, err error) {
		return e, scan(&e.Name, &e.WorkflowID, &e.After)
	},
		`SELECT name, workflow_id, after_workflow FROM schedule WHERE after_workflow > 0 AND after_workflow <> 0 ORDER BY after_workflow, id LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("read schedules that fire at ends: %w", err)
	}
	return out, nil
}
