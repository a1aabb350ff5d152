package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/dag/timer"
)

func isAbsent(err error) bool { return errors.Is(err, ErrNotFound) }

// TimerResult is what came of a try. State is success, retry or failed; NextAt is of a retry.
type TimerResult struct {
	TimerKey
	ProjectID int64
	Tries     int
	State     timer.State
	NextAt    dag.Millis
	CalledAt  dag.Millis
	CostMS    int64
	Status    int
	Response  string
	Error     string
	Failing   bool // as the claim said
}

// FailingTimer is a timer whose tasks fail: how many in a row, and since when.
type FailingTimer struct {
	ID       int64
	Failures int
	Since    dag.Millis
}

// FinishTimerTasks writes the results of tries that an owner has made, all in one transaction. A result of a task that
// another one has claimed since counts nothing; dropped says how many there were. A result that is written twice
// counts once. failing are the timers of which a task has failed; where it is the first in a row, the listeners of the
// project are alerted.
func (s *Store) FinishTimerTasks(ctx context.Context, owner string, results []TimerResult) (dropped int, failing []FailingTimer, err error) {
	slices.SortFunc(results, func(a, b TimerResult) int { return compareKeys(a.TimerKey, b.TimerKey) })
	keys := make([]TimerKey, len(results))
	for i := range results {
		keys[i] = results[i].TimerKey
	}
	first := int64(0) // of the ids of alerts
	if i := slices.IndexFunc(results, func(r TimerResult) bool { return r.State == timer.Failed }); i >= 0 {
		if first, err = s.NextIDs(ctx, len(results)-i); err != nil {
			return 0, nil, err
		}
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		dropped, failing = 0, nil
		tasks, err := s.lockTimerTasks(ctx, tx, keys)
		if err != nil {
			return err
		}
		var mine []TimerResult
		for _, r := range results {
			task, ok := tasks[r.TimerKey]
			if !ok || task.State != timer.Calling || task.ClaimedBy != owner || task.Tries != r.Tries {
				dropped++
				continue
			}
			mine = append(mine, r)
		}
		if err := s.writeResults(ctx, tx, mine); err != nil {
			return err
		}
		if err := s.addDays(ctx, tx, mine); err != nil {
			return err
		}
		failing, err = s.noteFailures(ctx, tx, mine, owner, first)
		return err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("write %d results of timers: %w", len(results), err)
	}
	return dropped, failing, nil
}

var timerTaskResult = &table{
	name: "timer_task", keys: []string{"timer_id", "planned_at"},
	cols: []string{"timer_id", "planned_at", "due_at", "open", "state", "called_at", "cost_ms", "status", "response", "error"},
	sets: []string{"due_at", "open", "state", "called_at", "cost_ms", "status", "response", "error"},
}

func (s *Store) writeResults(ctx context.Context, tx *sqlTx, results []TimerResult) error {
	var rows []any
	for i := range results {
		r := &results[i]
		due := r.NextAt
		if !r.State.Open() {
			due = r.CalledAt + dag.Millis(r.CostMS)
		}
		rows = append(rows, r.TimerID, r.PlannedAt, due, flag(r.State.Open()), string(r.State), r.CalledAt, r.CostMS, r.Status, r.Response, r.Error)
	}
	return (&batch{s: s, tx: plainTx{tx, s}}).updates(ctx, timerTaskResult, rows, true)
}

// addDays counts what came to its end, by project and day: some rows, however many results there are.
func (s *Store) addDays(ctx context.Context, tx *sqlTx, results []TimerResult) error {
	type key struct {
		project, day int64
		state        timer.State
	}
	type sum struct{ tasks, tries, late int64 }
	sums := map[key]sum{}
	for _, r := range results {
		if r.State.Open() {
			continue
		}
		k := key{r.ProjectID, dayOf(r.PlannedAt), r.State}
		v := sums[k]
		sums[k] = sum{v.tasks + 1, v.tries + int64(r.Tries), v.late + max(0, int64(r.CalledAt-r.PlannedAt))}
	}
	keys := make([]key, 0, len(sums))
	for k := range sums {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.project, b.project), cmp.Compare(a.day, b.day), cmp.Compare(a.state, b.state))
	})
	for _, k := range keys {
		v := sums[k]
		_, err := tx.ExecContext(ctx, `INSERT INTO timer_day (project_id, day, state, tasks, tries, late_ms) VALUES (?, ?, ?, ?, ?, ?)`+
			s.dial.onConflict("project_id, day, state")+`tasks = tasks + `+s.dial.given("tasks")+`, tries = tries + `+s.dial.given("tries")+`, late_ms = late_ms + `+s.dial.given("late_ms"),
			k.project, k.day, string(k.state), v.tasks, v.tries, v.late)
		if err != nil {
			return fmt.Errorf("count results: %w", err)
		}
	}
	return nil
}

// noteFailures counts what failed in a row. A success ends the row, whatever order they come in.
func (s *Store) noteFailures(ctx context.Context, tx *sqlTx, results []TimerResult, owner string, alertID int64) ([]FailingTimer, error) {
	failed, since, healed, why := map[int64]int{}, map[int64]dag.Millis{}, []int64(nil), map[int64]string{}
	for _, r := range results { // of one timer the older ones first
		switch r.State {
		case timer.Failed:
			if failed[r.TimerID]++; failed[r.TimerID] == 1 {
				since[r.TimerID], why[r.TimerID] = r.PlannedAt, r.Error
			}
		case timer.Success:
			if r.Failing || failed[r.TimerID] > 0 {
				healed = append(healed, r.TimerID)
			}
			delete(failed, r.TimerID)
		case timer.Planned, timer.Calling, timer.Retry, timer.Skipped:
		}
	}
	err := eachChunk(slices.Compact(healed), func(chunk []any) error {
		_, err := tx.ExecContext(ctx, `UPDATE timer SET failures = 0, failing_since = 0 WHERE id IN (`+marks(len(chunk))+`)`, chunk...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("note timers that do not fail any more: %w", err)
	}
	ids := make([]int64, 0, len(failed))
	for id := range failed {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var out []FailingTimer
	for _, id := range ids {
		_, err := tx.ExecContext(ctx, `UPDATE timer SET failing_since = CASE WHEN failures = 0 THEN ? ELSE failing_since END, failures = failures + ? WHERE id = ?`, since[id], failed[id], id)
		if err != nil {
			return nil, fmt.Errorf("note failures of timer %d: %w", id, err)
		}
		f := FailingTimer{ID: id}
		a := Alert{ID: alertID, Kind: listen.TimerFailing, Message: why[id], By: owner, CreatedAt: s.millis()}
		err = tx.QueryRowContext(ctx, `SELECT failures, failing_since, project_id, name FROM timer WHERE id = ?`, id).Scan(&f.Failures, &f.Since, &a.ProjectID, &a.Subject)
		if isAbsent(explain(err)) {
			continue // it was deleted
		}
		if err != nil {
			return nil, err
		}
		out = append(out, f)
		if f.Failures == failed[id] {
			if err := (&batch{s: s, tx: plainTx{tx, s}}).alert(ctx, &a); err != nil {
				return nil, err
			}
			alertID++
		}
	}
	return out, nil
}

// TimerTasks returns a page of a timer's tasks, the newest moment first; "" is every state.
func (s *Store) TimerTasks(ctx context.Context, timerID int64, state timer.State, page Page) ([]TimerTask, string, error) {
	var after keyCursor
	if err := page.decode("timer_tasks", &after); err != nil {
		return nil, "", err
	}
	limit, where, args := page.limit(), `timer_id = ?`, []any{timerID}
	if page.Cursor != "" {
		where, args = where+` AND planned_at < ?`, append(args, after.Key)
	}
	if state != "" {
		where, args = where+` AND state = ?`, append(args, string(state))
	}
	out, err := collect(ctx, s, scanTimerTask, `SELECT `+timerTaskColumns+` FROM timer_task WHERE `+where+` ORDER BY planned_at DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, "", fmt.Errorf("read tasks of timer %d: %w", timerID, err)
	}
	return cut(out, limit, "timer_tasks", func(t TimerTask) any { return keyCursor{int64(t.PlannedAt)} })
}

// TimerLoad is how the timers of the cluster stand.
type TimerLoad struct {
	Enabled int
	Overdue int // tasks that are due since before a moment and that nobody has called
	// Tasks counts what has come to its end since there are timers, by state; LateMS is the sum of what the calls came late.
	Tasks  map[timer.State]int64
	LateMS int64
}

// TimerLoad counts enabled timers, and the tasks that nobody had called at a moment, MaxCount of them at most.
func (s *Store) TimerLoad(ctx context.Context, overdueAt dag.Millis) (out TimerLoad, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM timer WHERE enabled = 1),
		(SELECT COUNT(*) FROM (SELECT 1 FROM timer_task WHERE open = 1 AND due_at < ? LIMIT ?) overdue)`, overdueAt, MaxCount).Scan(&out.Enabled, &out.Overdue)
	if err != nil {
		return out, fmt.Errorf("count timers: %w", explain(err))
	}
	out.Tasks = map[timer.State]int64{}
	_, err = collect(ctx, s, func(scan func(...any) error) (state timer.State, err error) {
		var tasks, late int64
		err = scan(&state, &tasks, &late)
		out.Tasks[state] = tasks
		out.LateMS += late
		return state, err
	}, `SELECT state, SUM(tasks), SUM(late_ms) FROM timer_day GROUP BY state`)
	if err != nil {
		return out, fmt.Errorf("sum tasks of timers: %w", err)
	}
	return out, nil
}

// SweepTimerTasks deletes up to limit tasks that have been at their end for timer.Kept by now, and returns how many.
func (s *Store) SweepTimerTasks(ctx context.Context, now dag.Millis, limit int) (n int, err error) {
	old, err := collect(ctx, s, func(scan func(...any) error) (k TimerKey, err error) { return k, scan(&k.TimerID, &k.PlannedAt) },
		`SELECT timer_id, planned_at FROM timer_task WHERE open = 0 AND due_at < ? ORDER BY due_at LIMIT ?`, now.Add(-timer.Kept), limit)
	if err != nil {
		return 0, fmt.Errorf("read old tasks of timers: %w", err)
	}
	slices.SortFunc(old, compareKeys)
	for chunk := range slices.Chunk(old, maxStatementRows) {
		args := make([]any, 0, 2*len(chunk))
		for _, k := range chunk {
			args = append(args, k.TimerID, k.PlannedAt)
		}
		err := s.write(ctx, func(tx *sqlTx) error {
			_, err := tx.ExecContext(ctx, `DELETE FROM timer_task WHERE `+s.dial.rowsIn("(timer_id, planned_at)", 2, len(chunk)), args...)
			return err
		})
		if err != nil {
			return n, fmt.Errorf("delete old tasks of timers: %w", err)
		}
		n += len(chunk)
	}
	return n, nil
}
