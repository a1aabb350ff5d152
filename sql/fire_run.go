package sql

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

// MaxRunFires bounds the fires that RunFires takes at once.
const MaxRunFires = 100

// RunFires starts the instances of fires that were missed or skipped, as they would have started, and returns those fires
// with their instances, the oldest first. The outcome stays: the ledger says that it was missed, and which instance made up for it,
// so that a proof adds up as before. A fire that has an instance already keeps that one, so twice is once; started are the
// instances of this call, of which each has a command. A moment that has no such fire is left out: it is open, fired, pruned,
// or was never planned. Somebody asks for each of them, so the overlap policy is not asked. It returns ErrNotFound where the
// schedule is gone, and ErrStale where its workflow has no published version.
func (s *Store) RunFires(ctx context.Context, scheduleID int64, at []dag.Millis, by string) (fires []Fire, started []int64, err error) {
	c, err := s.Cluster(ctx)
	if err != nil {
		return nil, nil, err
	}
	first, err := s.NextIDs(ctx, len(at))
	if err != nil {
		return nil, nil, err
	}
	verdicts := make([]Verdict, len(at))
	for i, m := range slices.Sorted(slices.Values(at)) {
		verdicts[i] = Verdict{Source: scheduleID, At: m}
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		w := &settler{batch: &batch{s: s, tx: plainTx{tx, s}, slots: int64(c.Slots)}, verdicts: verdicts, now: s.millis(), instance: first}
		fires, started, err = w.makeUp(ctx, scheduleID, by)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("run %d fires of schedule %d: %w", len(at), scheduleID, err)
	}
	return fires, started, nil
}

// makeUp writes the instances of fires that started none, under the lock of their schedule.
func (w *settler) makeUp(ctx context.Context, scheduleID int64, by string) (fires []Fire, started []int64, err error) {
	if err := w.lockSchedules(ctx); err != nil {
		return nil, nil, fmt.Errorf("lock schedule: %w", err)
	}
	sch, ok := w.schedules[scheduleID]
	version := w.published[sch.WorkflowID]
	switch {
	case !ok:
		return nil, nil, ErrNotFound
	case version == 0:
		return nil, nil, fmt.Errorf("workflow %d is not published: %w", sch.WorkflowID, ErrStale)
	}
	found, err := w.leftOut(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read fires: %w", err)
	}
	if err := w.readGiven(ctx, found); err != nil {
		return nil, nil, fmt.Errorf("read calls: %w", err)
	}
	var ops []*operation
	for _, v := range w.verdicts {
		key := fireKey{v.Source, v.At}
		f, ok := found[key]
		if !ok {
			continue
		}
		delete(found, key) // named twice is once
		fires = append(fires, f)
		if f.Instance != 0 {
			continue
		}
		at, trigger := f.Trigger()
		st := sch.start(version, at, w.now)
		st.ID, st.TriggerKey, st.By = w.instance, trigger, by
		if given := w.given[key]; len(given) > 0 {
			if st.Params = maps.Clone(st.Params); st.Params == nil {
				st.Params = map[string]string{}
			}
			maps.Copy(st.Params, given)
		}
		w.instance++
		ops = append(ops, &operation{start: &st})
	}
	if err := w.refuseTriggers(ctx, ops); err != nil {
		return nil, nil, fmt.Errorf("read triggers: %w", err)
	}
	return w.writeMadeUp(ctx, fires, ops)
}

// writeMadeUp writes the starts of those of the fires that have no instance, which are in the same order.
func (w *settler) writeMadeUp(ctx context.Context, fires []Fire, ops []*operation) (kept []Fire, started []int64, err error) {
	var starts []*Start
	var rows []any
	next := 0
	for _, f := range fires {
		if f.Instance == 0 {
			o := ops[next]
			next++
			if o.err != nil {
				continue // an instance of this very moment is there, as the fire of a duplicate would find
			}
			f.Instance = o.start.ID
			starts, started = append(starts, o.start), append(started, f.Instance)
			rows = append(rows, f.Source, int64(f.At), f.Instance)
		}
		kept = append(kept, f)
	}
	if err := w.insertStarts(ctx, starts); err != nil {
		return nil, nil, err
	}
	if err := w.updates(ctx, fireMadeUp, rows, false); err != nil {
		return nil, nil, fmt.Errorf("write instances: %w", err)
	}
	return kept, started, nil
}

var fireMadeUp = &table{
	name: "fire",
	keys: []string{"source_id", "planned_at"},
	cols: []string{"source_id", "planned_at", "instance_id"},
	sets: []string{"instance_id"},
}

// leftOut returns the fires that the verdicts name, where they were missed or skipped.
func (w *settler) leftOut(ctx context.Context) (map[fireKey]Fire, error) {
	args := make([]any, 0, 2*len(w.verdicts))
	for _, v := range w.verdicts {
		args = append(args, v.Source, int64(v.At))
	}
	out := make(map[fireKey]Fire, len(w.verdicts))
	err := w.eachPair(ctx, selectFire+w.s.dial.byPrimary()+` WHERE `, "(source_id, planned_at)", 2, args, func(scan func(...any) error) error {
		f, err := scanFire(scan)
		if f.State == schedule.Missed || f.State == schedule.Skipped {
			out[fireKey{f.Source, f.At}] = f
		}
		return err
	})
	return out, err
}
