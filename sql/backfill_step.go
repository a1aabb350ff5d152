package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/backfill"
)

// maxBackfillStarts bounds the instances that one step of a backfill makes: neither its transaction nor their beginning may hold up the
// starts of people and schedules. With 20, of four backfills at once, the p99 of those was 13 ms, and 10 with 5.
const maxBackfillStarts = 5

// BackfillStep is what a step of a backfill did and wants.
type BackfillStep struct {
	WorkflowIDs []int64 // whose ends matter to it
	Started     []int64 // new instances, which have a command
	Stop        []int64 // instances that its cancel is to stop: see BackfillStopping
	By          string  // who asked for that
	More        bool    // another step would start more
}

// StepBackfill takes a backfill one step on: it notes the dates whose instances have ended, starts as many as may, and
// ends the backfill where nothing is left. All of it is one transaction under the lock of the backfill, so any
// number of masters may call it at once, and again after a crash.
func (s *Store) StepBackfill(ctx context.Context, id int64) (BackfillStep, error) {
	var out BackfillStep
	b, err := s.Backfill(ctx, id)
	if err != nil || !b.Active {
		return out, err
	}
	live, err := s.liveDates(ctx, id)
	if err != nil {
		return out, err
	}
	if out.WorkflowIDs, err = s.partWorkflows(ctx, id); err != nil {
		return out, err
	}
	var ended []BackfillDate
	for _, d := range live {
		switch {
		case d.State == d.is():
			if b.StopRunning && d.State == backfill.DateRunning {
				out.Stop, out.By = append(out.Stop, d.Instance), b.ChangedBy
			}
		default:
			ended = append(ended, d)
			b.Dates[d.State]--
			b.Dates[d.is()]++
		}
	}
	next, start := backfill.Next(b.State, b.Rules, b.Dates)
	if len(ended) == 0 && next == b.State && start == 0 && !b.over(next) {
		return out, nil
	}
	first := int64(0)
	if start = min(start, maxBackfillStarts); start > 0 {
		if first, err = s.NextIDs(ctx, start); err != nil {
			return out, err
		}
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		out.Started, out.More = nil, false
		p, err := s.plainPlaces(ctx, tx) // it knows the slots
		if err != nil {
			return err
		}
		w := &backfillWriter{batch: &batch{s: s, tx: plainTx{tx, s}, slots: p.slots}, sqlTx: tx}
		return w.step(ctx, id, ended, first, start, &out)
	})
	if err != nil {
		return BackfillStep{}, fmt.Errorf("step backfill %d: %w", id, err)
	}
	return out, nil
}

// is the state that a date has by its instance. An instance that is gone has failed.
func (d *BackfillDate) is() backfill.DateState {
	switch {
	case d.InstanceIs == dag.InstanceSuccess:
		return backfill.DateSuccess
	case d.InstanceIs == "" || d.InstanceIs.Final():
		return backfill.DateFailed
	}
	return d.State
}

// over says that a backfill whose state is to be next has nothing left to do.
func (b *Backfill) over(next backfill.State) bool { return next.Final() && b.Dates.Live() == 0 }

// liveDates reads the dates whose instance has not ended, as far as is known; there are no more than may run at once.
func (s *Store) liveDates(ctx context.Context, id int64) ([]BackfillDate, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (d BackfillDate, err error) {
		return d, scan(&d.Place, &d.State, &d.Instance, &d.InstanceIs)
	}, `SELECT d.place, d.state, d.instance_id, COALESCE(i.state, '') FROM backfill_date d LEFT JOIN workflow_instance i ON i.id = d.instance_id
		WHERE d.backfill_id = ? AND d.state IN ('running', 'stopping') ORDER BY d.place`, id)
	if err != nil {
		return nil, fmt.Errorf("read live dates of backfill %d: %w", id, err)
	}
	return out, nil
}

func (s *Store) partWorkflows(ctx context.Context, id int64) ([]int64, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (w int64, err error) { return w, scan(&w) },
		`SELECT workflow_id FROM backfill_part WHERE backfill_id = ? ORDER BY part`, id)
	if err != nil {
		return nil, fmt.Errorf("read workflows of backfill %d: %w", id, err)
	}
	return out, nil
}

// backfillWriter writes one step within a transaction.
type backfillWriter struct {
	*batch
	*sqlTx
}

func (w *backfillWriter) step(ctx context.Context, id int64, ended []BackfillDate, first int64, start int, out *BackfillStep) error {
	b, err := w.lockBackfill(ctx, id)
	if err != nil || !b.Active {
		return err
	}
	for _, d := range ended {
		_, err := w.ExecContext(ctx, `UPDATE backfill_date SET state = ? WHERE backfill_id = ? AND place = ? AND state IN ('running', 'stopping')`,
			string(d.is()), id, d.Place)
		if err != nil {
			return err
		}
	}
	if err := w.countDates(ctx, &b); err != nil {
		return err
	}
	next, may := backfill.Next(b.State, b.Rules, b.Dates)
	if n := min(start, may); n > 0 {
		if out.Started, err = w.startDates(ctx, &b, first, n); err != nil {
			return fmt.Errorf("start dates: %w", err)
		}
	}
	out.More = may > len(out.Started)
	if next != b.State && next.Final() {
		if err := w.cancelWaiting(ctx, id); err != nil {
			return err
		}
	}
	finished, active := dag.Millis(0), true
	if b.over(next) {
		finished, active = w.s.millis(), false
	}
	_, err = w.ExecContext(ctx, `UPDATE backfill SET state = ?, active = ?, finished_at = ? WHERE id = ?`, string(next), flag(active), finished, id)
	return err
}

func (w *backfillWriter) lockBackfill(ctx context.Context, id int64) (Backfill, error) {
	var locked int64
	if err := w.QueryRowContext(ctx, `SELECT id FROM backfill WHERE id = ?`+w.s.dial.forUpdate(), id).Scan(&locked); err != nil {
		return Backfill{}, err
	}
	return scanBackfill(w.QueryRowContext(ctx, selectBackfill+` WHERE b.id = ?`, id).Scan)
}

func (w *backfillWriter) countDates(ctx context.Context, b *Backfill) error {
	b.Dates = backfill.Counts{}
	return w.eachRow(ctx, `SELECT state, COUNT(*) FROM backfill_date WHERE backfill_id = ? GROUP BY state`, []any{b.ID}, func(scan func(...any) error) error {
		var state backfill.DateState
		var n int
		err := scan(&state, &n)
		b.Dates[state] = n
		return err
	})
}

func (w *backfillWriter) cancelWaiting(ctx context.Context, id int64) error {
	_, err := w.ExecContext(ctx, `UPDATE backfill_date SET state = 'cancelled' WHERE backfill_id = ? AND state = 'waiting'`, id)
	return err
}

// startDates makes the instances of the next n dates, with the ids from first on.
func (w *backfillWriter) startDates(ctx context.Context, b *Backfill, first int64, n int) ([]int64, error) {
	var starts []*Start
	var places []int64
	err := w.eachRow(ctx, `SELECT d.place, d.schedule_time, t.project_id, t.workflow_id, t.version, t.params, t.on_failure FROM backfill_date d
		JOIN backfill_part t ON t.backfill_id = d.backfill_id AND t.part = d.part WHERE d.backfill_id = ? AND d.state = 'waiting' ORDER BY d.place LIMIT ?`,
		[]any{b.ID, n}, func(scan func(...any) error) error {
			st := &Start{
				ID: first + int64(len(starts)), TriggerKey: BackfillKey(b.ID), Timezone: b.Timezone, DryRun: b.DryRun, WorkerGroup: b.WorkerGroup,
				Priority: b.Priority, By: b.CreatedBy, At: w.s.millis(),
			}
			var place int64
			var params string
			err := scan(&place, &st.ScheduleTime, &st.ProjectID, &st.WorkflowID, &st.Version, &params, &st.OnFailure)
			if err == nil {
				st.Params, err = decodeMap(params)
			}
			starts, places = append(starts, st), append(places, place)
			return err
		})
	if err != nil {
		return nil, err
	}
	if err := w.insertStarts(ctx, starts); err != nil {
		return nil, err
	}
	ids := make([]int64, len(starts))
	for i, st := range starts {
		ids[i] = st.ID
		if _, err := w.ExecContext(ctx, `UPDATE backfill_date SET state = 'running', instance_id = ? WHERE backfill_id = ? AND place = ?`, st.ID, b.ID, places[i]); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// endDates notes how instances of backfills ended with their dates, also of those that ended before and were
// recovered. A step would find out by itself, but of the latter.
func (b *batch) endDates(ctx context.Context, ops []*operation) error {
	ended := map[backfill.DateState][]int64{}
	for _, o := range ops {
		if t := o.commit; t.Backfill && t.Release && t.Instance.State.Final() {
			state := backfill.DateFailed
			if t.Instance.State == dag.InstanceSuccess {
				state = backfill.DateSuccess
			}
			ended[state] = append(ended[state], t.Instance.ID)
		}
	}
	for _, state := range []backfill.DateState{backfill.DateSuccess, backfill.DateFailed} {
		if err := b.execIDs(ctx, `UPDATE backfill_date SET state = ? WHERE instance_id IN (%s)`, ended[state], string(state)); err != nil {
			return err
		}
	}
	return nil
}

// BackfillStopping notes that instances of a backfill have been asked to stop. Where that is not reached, they are
// asked again.
func (s *Store) BackfillStopping(ctx context.Context, id int64, instances []int64) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		return eachChunk(instances, func(chunk []any) error {
			_, err := tx.ExecContext(ctx, `UPDATE backfill_date SET state = 'stopping' WHERE backfill_id = ? AND state = 'running' AND instance_id IN (`+marks(len(chunk))+`)`,
				append([]any{id}, chunk...)...)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("note what backfill %d stops: %w", id, err)
	}
	return nil
}

// BackfillChange is what somebody wants of a backfill. The zero value of a field changes nothing.
type BackfillChange struct {
	State       backfill.State // Paused, Running or Cancelled
	StopRunning bool           // with Cancelled: stop what runs, too
	Parallel    int
	By          string
}

// ChangeBackfill pauses, resumes or cancels a backfill, or changes how many of its dates run at once. It returns the
// backfill as it is then and whether that changed it, and ErrStale where it is final and the change means something
// else.
func (s *Store) ChangeBackfill(ctx context.Context, id int64, c BackfillChange) (Backfill, bool, error) {
	changed := false
	err := s.write(ctx, func(tx *sqlTx) error {
		w := &backfillWriter{batch: &batch{s: s, tx: plainTx{tx, s}}, sqlTx: tx}
		b, err := w.lockBackfill(ctx, id)
		if err != nil {
			return err
		}
		want := b
		if c.State != "" {
			want.State = c.State
		}
		want.StopRunning = b.StopRunning || c.StopRunning
		if c.Parallel > 0 {
			want.Parallel = c.Parallel
		}
		changed = want.State != b.State || want.StopRunning != b.StopRunning || want.Parallel != b.Parallel
		if !changed {
			return nil
		}
		if b.State.Final() && want.State != b.State || b.State.Final() && !b.Active || b.State.Final() && want.Parallel != b.Parallel {
			return fmt.Errorf("it is %s: %w", b.State, ErrStale)
		}
		if want.State == backfill.Cancelled && b.State != backfill.Cancelled {
			if err := w.cancelWaiting(ctx, id); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE backfill SET state = ?, stop_running = ?, parallel = ?, changed_by = ? WHERE id = ?`,
			string(want.State), flag(want.StopRunning), want.Parallel, c.By, id)
		return err
	})
	if err != nil {
		return Backfill{}, false, fmt.Errorf("change backfill %d: %w", id, err)
	}
	b, err := s.Backfill(ctx, id)
	return b, changed, err
}
