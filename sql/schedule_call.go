package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag/schedule"
)

// CallKey is the trigger key of the instances that calls of a schedule's webhook start: each has a schedule time of its own.
func CallKey(id int64) string { return ScheduleKey(id) + ":call" }

// Call is one call of a schedule's webhook.
type Call struct {
	ID        string            // what its sender calls it: a call that comes again has the same
	Signature string            // one that comes again with another id has the same
	Params    map[string]string // what its body gives, beside the schedule's own
}

// Called is what became of a call.
type Called struct {
	Fire     Fire
	Repeated bool // it came before
	Settlement
}

// maxWaiting bounds the waiting fires that a call looks at: there is one, or two for a moment.
const maxWaiting = 8

var (
	callFire = &table{
		name: "fire",
		cols: append(append([]string(nil), fireInsert.cols...), "call_id"),
	}
	scheduleCallInsert = &table{
		name: "schedule_call",
		cols: []string{"source_id", "call_id", "signature", "planned_at", "params"},
	}
)

// CallOf returns the fire of a call that a schedule has taken, or ErrNotFound.
func (s *Store) CallOf(ctx context.Context, scheduleID int64, call string) (Fire, error) {
	f, err := scanFire(s.read.QueryRowContext(ctx, selectFire+` WHERE source_id = ? AND planned_at = (SELECT planned_at FROM schedule_call WHERE source_id = ? AND call_id = ?)`,
		scheduleID, scheduleID, call).Scan)
	if err != nil {
		return Fire{}, fmt.Errorf("read a call of schedule %d: %w", scheduleID, explain(err))
	}
	return f, nil
}

// CallSchedule takes a call of a schedule that stood as given, and settles its fire by the schedule's overlap policy, all in
// one transaction: a call has its instance before its sender has the answer. One that came before gets what it got then.
// It returns ErrExists where a call of another id had the same signature, and ErrStale where the schedule was changed,
// paused or deleted since it was read.
func (s *Store) CallSchedule(ctx context.Context, sch Schedule, call Call, by string) (out Called, err error) {
	c, err := s.Cluster(ctx)
	if err != nil {
		return Called{}, err
	}
	const n = 1 + maxWaiting
	const ids = n + 2*(n+maxStopped) // as SettleFires
	first, err := s.NextIDs(ctx, ids)
	if err != nil {
		return Called{}, err
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		w := &settler{
			batch:  &batch{s: s, tx: plainTx{tx, s}, slots: int64(c.Slots), freeID: first + n, endID: first + ids},
			master: by, now: s.millis(), instance: first, look: true,
		}
		out, err = w.take(ctx, sch, call)
		return err
	})
	if err != nil {
		return Called{}, fmt.Errorf("call schedule %d: %w", sch.ID, err)
	}
	if out.Repeated {
		out.Fire, err = s.CallOf(ctx, sch.ID, call.ID)
	}
	return out, err
}

// take writes a call, its fire and what becomes of it.
func (w *settler) take(ctx context.Context, sch Schedule, call Call) (out Called, err error) {
	tx := w.tx.(plainTx)
	var revision int64
	var enabled bool
	// The schedule's row is the lock: of two calls that are one the second finds the first.
	err = tx.QueryRowContext(ctx, `SELECT revision, enabled FROM schedule WHERE id = ?`+w.s.dial.forUpdate(), sch.ID).Scan(&revision, &enabled)
	if err = explain(err); errors.Is(err, ErrNotFound) {
		return out, ErrStale
	}
	if err != nil {
		return out, err
	}
	var same, signed int
	err = tx.QueryRowContext(ctx, `SELECT COALESCE(SUM(CASE WHEN call_id = ? THEN 1 ELSE 0 END), 0), COUNT(*) FROM schedule_call
		WHERE source_id = ? AND (call_id = ? OR signature = ?)`, call.ID, sch.ID, call.ID, call.Signature).Scan(&same, &signed)
	switch {
	case err != nil:
		return out, err
	case same > 0:
		return Called{Repeated: true}, nil
	case signed > 0:
		return out, ErrExists
	case revision != sch.Revision || !enabled:
		return out, ErrStale
	}
	last, err := w.s.lastFire(ctx, w.batch, sch.ID)
	if err != nil {
		return out, err
	}
	at := max(w.now, last+1)
	fire := []any{
		sch.ID, int64(at), int64(at), int64(schedule.Bucket(sch.ID)), revision, int64(1), string(schedule.Planned), "", int64(0), int64(0), "", int64(0), call.ID,
	}
	if err := w.rows(ctx, callFire, w.s.dial.insert, fire); err != nil {
		return out, fmt.Errorf("insert fire: %w", err)
	}
	if err := w.rows(ctx, scheduleCallInsert, w.s.dial.insert, []any{sch.ID, call.ID, call.Signature, int64(at), encodeMap(call.Params)}); err != nil {
		return out, fmt.Errorf("insert call: %w", err)
	}
	// What waits is older, and first in line: the new one takes its place, or both find that nothing runs.
	err = w.eachRow(ctx, `SELECT planned_at FROM fire WHERE source_id = ? AND open = 1 AND state = 'waiting' ORDER BY planned_at DESC LIMIT ?`,
		[]any{sch.ID, maxWaiting}, func(scan func(...any) error) error {
			v := Verdict{Source: sch.ID, State: schedule.Fired}
			err := scan(&v.At)
			w.verdicts = append(w.verdicts, v)
			return err
		})
	if err != nil {
		return out, fmt.Errorf("read what waits: %w", err)
	}
	slices.Reverse(w.verdicts)
	w.verdicts = append(w.verdicts, Verdict{Source: sch.ID, At: at, State: schedule.Fired})
	if err := w.settle(ctx, &out.Settlement); err != nil {
		return out, err
	}
	i := slices.IndexFunc(out.Fires, func(f Fire) bool { return f.At == at })
	out.Fire = out.Fires[i]
	return out, nil
}

// readGiven finds what the bodies of calls gave to the parameters of their fires.
func (w *settler) readGiven(ctx context.Context, open map[fireKey]Fire) error {
	w.given = map[fireKey]map[string]string{}
	var args []any
	for _, v := range w.verdicts { // and not by the map: the order of questions stays the same
		if f, ok := open[fireKey{v.Source, v.At}]; ok && f.Call != "" {
			args = append(args, f.Source, f.Call)
		}
	}
	return w.eachPair(ctx, `SELECT source_id, planned_at, params FROM schedule_call WHERE `, "(source_id, call_id)", 2, args, func(scan func(...any) error) error {
		var key fireKey
		var text string
		if err := scan(&key.source, &key.at, &text); err != nil {
			return err
		}
		params, err := decodeMap(text)
		w.given[key] = params
		return err
	})
}

// forgetCalls deletes the calls of schedules, up to the list of their ids.
const forgetCalls = `DELETE FROM schedule_call WHERE source_id IN (`

// forgetCause deletes the end or the call whose fire is pruned.
func forgetCause(ctx context.Context, tx plainTx, f *Fire) (err error) {
	switch {
	case f.After != 0:
		_, err = tx.ExecContext(ctx, `DELETE FROM schedule_end WHERE source_id = ? AND instance_id = ?`, f.Source, f.After)
	case f.Call != "":
		_, err = tx.ExecContext(ctx, `DELETE FROM schedule_call WHERE source_id = ? AND call_id = ?`, f.Source, f.Call)
	}
	return err
}
