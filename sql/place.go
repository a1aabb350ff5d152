package sql

import (
	"cmp"
	"context"
	stdsql "database/sql"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/failpoint"
)

// Entry is an instance that wants to begin a round under the limit of its workflow.
type Entry struct {
	InstanceID int64
	Owner      string
	Epoch      int64
	WorkflowID int64
	Key        string // see dag.Instance.LimitKey
	Priority   dag.Priority
	// First says that it is the first round: only that may be discarded.
	First bool
	// Replaces says that it may take the places of others.
	Replaces bool
}

// Admission is the answer to an Entry.
type Admission string

// The answers.
const (
	Admitted  Admission = "admitted"  // it has a place: it may begin
	Waits     Admission = "waits"     // it is in the line; a command comes when its turn does
	Discarded Admission = "discarded" // there is no place, and when_full is discard
	NotOwned  Admission = "not_owned" // another owner or epoch has it, or it has ended: nothing was done
)

// The states of a place.
const (
	placeWaiting = "waiting" // its turn has yet to come
	placeHeld    = "held"    // its instance may run, and counts
	placeOut     = "out"     // its instance is quarantined, and does not count
)

const (
	// maxReplaced bounds the instances that one entry stops.
	maxReplaced = 64
	// maxPicked bounds the places that one transaction gives away on a line; a sweep gives the rest.
	maxPicked = 1000
)

// line is all instances of a workflow that share places.
type line struct {
	workflow int64
	key      string
}

func compareLines(a, b line) int {
	return cmp.Or(cmp.Compare(a.workflow, b.workflow), cmp.Compare(a.key, b.key))
}

// statements is a transaction of the writer, or one of write.
type statements interface {
	exec(ctx context.Context, text string, args []any, want int) error
	query(ctx context.Context, text string, args []any) (*stdsql.Rows, error)
}

// plainTx is a transaction of write as statements, by prepared ones where there are some.
type plainTx struct {
	*sqlTx
	s *Store
}

func (t plainTx) exec(ctx context.Context, text string, args []any, want int) error {
	res, err := t.s.stmts.exec(ctx, t.Tx, text, args)
	if err != nil || want == anyRows {
		return err
	}
	return metOne(res, nil)
}

func (t plainTx) query(ctx context.Context, text string, args []any) (*stdsql.Rows, error) {
	return t.s.stmts.query(ctx, t.Tx, text, args)
}

func (t plainTx) commit(context.Context, bool) error { return t.Commit() }

func (t plainTx) rollback() { _ = t.Rollback() }

// places gives and takes places within one transaction. Its order of locks is that of all
// writers: rows of instances, the workflow, the line, its places, commands.
type places struct {
	s     *Store
	in    statements
	slots int64
	woke  bool // an instance got a command
}

// Enter asks for a place for each instance and answers in their order. What it answered before it
// answers again, so that it may be repeated after a crash or an error. woke says that commands were
// written, which any master may take.
func (s *Store) Enter(ctx context.Context, entries []Entry) (answers []Admission, woke bool, err error) {
	cluster, err := s.Cluster(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("enter %d instances: %w", len(entries), err)
	}
	var ids reserved
	for _, e := range entries {
		if e.Replaces {
			ids.count += maxReplaced
		}
	}
	if ids.count > 0 {
		if ids.next, err = s.NextIDs(ctx, ids.count); err != nil {
			return nil, false, err
		}
	}
	err = failpoint.Hit("limit.enter.before")
	if err == nil {
		err = s.write(ctx, func(tx *sqlTx) (err error) {
			p := &places{s: s, in: plainTx{tx, s}, slots: int64(cluster.Slots)}
			answers, err = p.enter(ctx, tx, entries, ids)
			woke = p.woke
			return err
		})
	}
	if err == nil {
		err = failpoint.Hit("limit.enter.after")
	}
	if err != nil {
		return nil, false, fmt.Errorf("enter %d instances: %w", len(entries), err)
	}
	return answers, woke, nil
}

// reserved are ids that were taken before the transaction.
type reserved struct {
	next  int64
	count int
}

func (r *reserved) take() int64 {
	r.next, r.count = r.next+1, r.count-1
	return r.next - 1
}

func (p *places) enter(ctx context.Context, tx *sqlTx, entries []Entry, ids reserved) ([]Admission, error) {
	answers := make([]Admission, len(entries))
	owned, err := p.lockEntries(ctx, entries)
	if err != nil {
		return nil, fmt.Errorf("lock instances: %w", err)
	}
	lines := map[line][]int{}
	limits := map[int64]dag.Concurrency{}
	for i, e := range entries {
		answers[i] = NotOwned
		if owned[e.InstanceID] == (ownership{e.InstanceID, e.Epoch, e.Owner}) {
			lines[line{e.WorkflowID, e.Key}] = append(lines[line{e.WorkflowID, e.Key}], i)
			limits[e.WorkflowID] = dag.Concurrency{}
		}
	}
	for _, workflow := range sortedKeys(limits) {
		var c dag.Concurrency
		// Shared: a version that is just being published either sees what enters here, or is seen.
		err := tx.QueryRowContext(ctx, `SELECT concurrency_limit, when_full FROM workflow WHERE id = ?`+p.s.dial.forShare(), workflow).Scan(&c.Limit, &c.WhenFull)
		if err != nil {
			return nil, fmt.Errorf("read limit of workflow %d: %w", workflow, err)
		}
		limits[workflow] = c
	}
	order := make([]line, 0, len(lines))
	for l := range lines {
		order = append(order, l)
	}
	slices.SortFunc(order, compareLines)
	for _, l := range order {
		if err := p.enterLine(ctx, l, limits[l.workflow], entries, lines[l], answers, &ids); err != nil {
			return nil, fmt.Errorf("line %q of workflow %d: %w", l.key, l.workflow, err)
		}
	}
	return answers, nil
}

// lockEntries locks the rows of the instances and returns who owns those that have not ended.
func (p *places) lockEntries(ctx context.Context, entries []Entry) (map[int64]ownership, error) {
	ids := make([]int64, len(entries))
	for i, e := range entries {
		ids[i] = e.InstanceID
	}
	slices.Sort(ids)
	owned := make(map[int64]ownership, len(ids))
	err := eachChunk(slices.Compact(ids), func(chunk []any) error {
		return p.each(ctx, `SELECT id, owner_epoch, owner FROM workflow_instance WHERE id IN (`+marks(len(chunk))+`) AND state IN ('submitted', 'serial_wait')
			ORDER BY id`+p.s.dial.forUpdate(), chunk, func(scan func(...any) error) error {
			var o ownership
			if err := scan(&o.id, &o.epoch, &o.owner); err != nil {
				return err
			}
			owned[o.id] = o
			return nil
		})
	})
	return owned, err
}

// enterLine puts entries into one line, in the order of their turn.
func (p *places) enterLine(ctx context.Context, l line, c dag.Concurrency, entries []Entry, which []int, answers []Admission, ids *reserved) error {
	if err := p.lock(ctx, l); err != nil {
		return err
	}
	slices.SortFunc(which, func(a, b int) int {
		if c.WhenFull == dag.WhenFullReplace { // the newest comes last, and stays
			return cmp.Compare(entries[a].InstanceID, entries[b].InstanceID)
		}
		return cmp.Or(cmp.Compare(entries[a].Priority, entries[b].Priority), cmp.Compare(entries[a].InstanceID, entries[b].InstanceID))
	})
	here := make(map[int64]int, len(which))
	for _, i := range which {
		e := &entries[i]
		state, err := p.stateOf(ctx, e.InstanceID)
		if err != nil {
			return err
		}
		switch state {
		case placeHeld:
			answers[i] = Admitted
			continue
		case placeOut:
			if err := p.in.exec(ctx, `UPDATE workflow_place SET state = 'waiting' WHERE instance_id = ?`, []any{e.InstanceID}, anyRows); err != nil {
				return err
			}
		case "":
			if c.Limit > 0 && c.WhenFull == dag.WhenFullDiscard && e.First {
				free, err := p.free(ctx, l, c.Limit)
				if err != nil {
					return err
				}
				if free <= 0 {
					answers[i] = Discarded
					continue
				}
			}
			if err := p.add(ctx, l, e, placeWaiting); err != nil {
				return err
			}
			if c.Limit > 0 && c.WhenFull == dag.WhenFullReplace {
				if err := p.replace(ctx, l, c.Limit, e, ids); err != nil {
					return err
				}
			}
		}
		answers[i], here[e.InstanceID] = Waits, i
		if c.WhenFull != dag.WhenFullDiscard {
			continue // the order of all is that of their turns
		}
		if err := p.settle(ctx, l, c.Limit, here, answers); err != nil {
			return err
		}
	}
	return p.settle(ctx, l, c.Limit, here, answers)
}

// lock locks a line, which it makes where it is new.
func (p *places) lock(ctx context.Context, l line) error {
	return p.in.exec(ctx, `INSERT INTO workflow_limit (workflow_id, limit_key) VALUES (?, ?)`+p.s.dial.onConflict("workflow_id, limit_key")+
		p.s.dial.givenAll("limit_key"), []any{l.workflow, l.key}, anyRows)
}

func (p *places) add(ctx context.Context, l line, e *Entry, state string) error {
	return p.in.exec(ctx, `INSERT INTO workflow_place (instance_id, workflow_id, limit_key, state, priority, replaced_by, entered_at)
		VALUES (?, ?, ?, ?, ?, 0, ?)`, []any{e.InstanceID, l.workflow, l.key, state, int64(e.Priority), int64(p.s.millis())}, anyRows)
}

// stateOf returns the state of an instance's place, "" for none; its line is locked.
func (p *places) stateOf(ctx context.Context, instance int64) (state string, err error) {
	err = p.each(ctx, `SELECT state FROM workflow_place WHERE instance_id = ?`+p.s.dial.forUpdate(), []any{instance}, func(scan func(...any) error) error {
		return scan(&state)
	})
	return state, err
}

// free returns how many places of a locked line nobody holds; it may be negative, where the limit
// was lowered.
func (p *places) free(ctx context.Context, l line, limit int) (free int, err error) {
	held := 0
	err = p.each(ctx, `SELECT instance_id FROM workflow_place WHERE workflow_id = ? AND limit_key = ? AND state = 'held'`+p.s.dial.forUpdate(),
		[]any{l.workflow, l.key}, func(scan func(...any) error) error {
			var id int64
			held++
			return scan(&id)
		})
	return limit - held, err
}

// settle gives the free places of a locked line to those whose turn it is: by priority, then by id.
// Those that enter here are answered, the others get a command.
func (p *places) settle(ctx context.Context, l line, limit int, here map[int64]int, answers []Admission) error {
	free := maxPicked
	if limit > 0 {
		var err error
		if free, err = p.free(ctx, l, limit); err != nil {
			return err
		}
		free = min(free, maxPicked)
	}
	if free <= 0 {
		return nil
	}
	var picked []int64
	err := p.each(ctx, `SELECT instance_id FROM workflow_place WHERE workflow_id = ? AND limit_key = ? AND state = 'waiting' AND replaced_by = 0
		ORDER BY priority, instance_id LIMIT ?`+p.s.dial.forUpdate(), []any{l.workflow, l.key, free}, func(scan func(...any) error) error {
		var id int64
		err := scan(&id)
		picked = append(picked, id)
		return err
	})
	if err != nil || len(picked) == 0 {
		return err
	}
	if err := p.execIDs(ctx, `UPDATE workflow_place SET state = 'held' WHERE instance_id IN (%s)`, picked); err != nil {
		return err
	}
	var asleep []int64
	for _, id := range picked {
		if i, entering := here[id]; entering {
			answers[i] = Admitted
		} else {
			asleep = append(asleep, id)
		}
	}
	return p.wake(ctx, asleep)
}

// replace stops those of a locked line that are older than the newest ones that the limit allows. A
// wish is written for each without a look at its row, whose lock would come too late: its owner finds
// the wish, and where there is none, the command does.
func (p *places) replace(ctx context.Context, l line, limit int, by *Entry, ids *reserved) error {
	var older []int64
	skip := limit - 1
	err := p.each(ctx, `SELECT instance_id FROM workflow_place WHERE workflow_id = ? AND limit_key = ? AND state IN ('waiting', 'held') AND replaced_by = 0
		AND instance_id <> ? ORDER BY entered_at DESC, instance_id DESC LIMIT ?`+p.s.dial.forUpdate(),
		[]any{l.workflow, l.key, by.InstanceID, skip + maxReplaced}, func(scan func(...any) error) error {
			var id int64
			err := scan(&id)
			if skip--; skip < 0 {
				older = append(older, id)
			}
			return err
		})
	if err != nil || len(older) == 0 {
		return err
	}
	if err := p.execIDs(ctx, `UPDATE workflow_place SET replaced_by = ? WHERE instance_id IN (%s)`, older, by.InstanceID); err != nil {
		return err
	}
	now := int64(p.s.millis())
	for _, id := range older[:min(len(older), ids.count)] {
		err := p.in.exec(ctx, p.s.dial.insert(controlInsert, 1), []any{
			ids.take(), id, string(dag.VerbReplace), encodeList(nil), "", flag(false), fmt.Sprintf("instance %d", by.InstanceID), now, int64(0), "", int64(0), int64(0), "",
		}, anyRows)
		if err != nil {
			return err
		}
	}
	return p.wake(ctx, older)
}

// wake makes a command for each of the instances that any master may take, with the instance's id: one
// that is there already serves.
func (p *places) wake(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	p.woke = true
	var args [][]any
	slices.Sort(ids)
	err := eachChunk(ids, func(chunk []any) error {
		return p.each(ctx, `SELECT id, project_id, priority FROM workflow_instance WHERE id IN (`+marks(len(chunk))+`)`, chunk, func(scan func(...any) error) error {
			var id, project, priority int64
			err := scan(&id, &project, &priority)
			args = append(args, []any{id, string(CommandResume), id, project, id % p.slots, priority, int64(p.s.millis())})
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("read instances to wake: %w", err)
	}
	for _, row := range args {
		err := p.in.exec(ctx, p.s.dial.insertIgnore()+`command (id, kind, instance_id, project_id, slot, priority, lent, created_at) VALUES (?, ?, ?, ?, ?, ?, 1, ?)`, row, anyRows)
		if err != nil {
			return fmt.Errorf("insert command: %w", err)
		}
	}
	return nil
}

// each reads the rows of one SELECT.
func (p *places) each(ctx context.Context, text string, args []any, row func(scan func(...any) error) error) error {
	rows, err := p.in.query(ctx, text, args)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (p *places) execIDs(ctx context.Context, text string, ids []int64, before ...any) error {
	return eachChunk(ids, func(chunk []any) error {
		return p.in.exec(ctx, fmt.Sprintf(text, marks(len(chunk))), append(slices.Clone(before), chunk...), anyRows)
	})
}

func sortedKeys[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
