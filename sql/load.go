package sql

import (
	"context"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/failpoint"
)

// loadChunk bounds the instances that one set of reads fetches.
const loadChunk = 64

// load reads what was won. Those that were lost meanwhile are left out. Rows that cannot be
// read must not keep those beside them: each is read alone then.
func (s *Store) load(ctx context.Context, won []ownership) ([]Claimed, error) {
	out := make([]Claimed, 0, len(won))
	for chunk := range slices.Chunk(won, loadChunk) {
		part, err := s.loadRetrying(ctx, chunk)
		switch {
		case err == nil:
			out = append(out, part...)
			continue
		case away(err) || ctx.Err() != nil:
			return out, fmt.Errorf("load claimed instances: %w", err)
		}
		for _, o := range chunk {
			part, err := s.loadRetrying(ctx, []ownership{o})
			if err != nil {
				if away(err) || ctx.Err() != nil {
					return out, fmt.Errorf("load claimed instances: %w", err)
				}
				part = []Claimed{{Instance: InstanceRow{ID: o.id, Owner: o.owner, OwnerEpoch: o.epoch}, Err: fmt.Errorf("load instance %d: %w", o.id, err)}}
			}
			out = append(out, part...)
		}
	}
	return out, nil
}

func (s *Store) loadRetrying(ctx context.Context, won []ownership) (out []Claimed, err error) {
	for try := range maxTries {
		if try > 0 {
			if perr := pause(ctx, try); perr != nil {
				return nil, perr
			}
		}
		if out, err = s.loadOnce(ctx, won); err == nil || !away(err) {
			break
		}
	}
	return out, explain(err)
}

func (s *Store) loadOnce(ctx context.Context, won []ownership) ([]Claimed, error) {
	ids := make([]int64, len(won))
	for i, o := range won {
		ids[i] = o.id
	}
	return s.loadSome(ctx, ids, func(i int, r *InstanceRow) bool { return r.Owner == won[i].owner && r.OwnerEpoch == won[i].epoch })
}

// Unbegun reads instances that were never begun and have no owner, as a claim by owner would return them: a Commit
// with the claim and their marks makes it so. Others are left out. The marks come with the rows, so that what changes while the
// rest is read is refused by that Commit, and nothing need be read twice. What belongs to them is asked for only where the
// rows say that there is any: of 200 instances it is one question as a rule.
func (s *Store) Unbegun(ctx context.Context, owner string, ids []int64) ([]Claimed, error) {
	out := make([]Claimed, 0, len(ids))
	var has belongings
	err := eachChunk(ids, func(chunk []any) error {
		part, err := s.unbegun(ctx, chunk, &has)
		out = append(out, part...)
		return err
	})
	if err == nil {
		err = s.loadShared(ctx, out, has)
	}
	if err != nil {
		return nil, fmt.Errorf("read instances without an owner: %w", explain(err))
	}
	for i := range out {
		out[i].Instance.Owner = owner
		out[i].Instance.OwnerEpoch++
	}
	return out, nil
}

// belongings says what some of a number of instances have, beside their rows.
type belongings struct{ params, environments bool }

// unbegun reads the rows of those instances that were never begun, and what is wished of them, and notes what else they have.
func (s *Store) unbegun(ctx context.Context, ids []any, has *belongings) ([]Claimed, error) {
	if err := failpoint.Hit("inst.load.before"); err != nil {
		return nil, err
	}
	wished := false
	// Not by EXISTS, which MariaDB may turn into a table of all controls that wait.
	rows, err := collect(ctx, s, func(scan func(...any) error) (c Claimed, err error) {
		var wish, params, environments bool
		c.Instance, err = scanInstance(func(into ...any) error { return scan(append(into, &c.Mark, &wish, &params, &environments)...) })
		wished, has.params, has.environments = wished || wish, has.params || params, has.environments || environments
		return c, err
	}, `SELECT `+instanceColumns+`, i.write_id,
		COALESCE((SELECT 1 FROM control c WHERE c.instance_id = i.id AND c.applied_at = 0 LIMIT 1), 0),
		COALESCE((SELECT 1 FROM project_param q WHERE q.project_id IN (?, i.project_id) LIMIT 1), 0),
		COALESCE((SELECT 1 FROM environment e WHERE e.project_id IN (?, i.project_id) LIMIT 1), 0)`+
		instanceTables+` WHERE i.id IN (`+marks(len(ids))+`)`, slices.Concat([]any{AllProjects, AllProjects}, ids)...)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(c Claimed) bool {
		r := &c.Instance
		return r.Owner != "" || r.State != dag.InstanceSubmitted || r.Round != 0 || r.Seq != 0 || r.CrashCount != 0
	})
	at := make(map[int64]int, len(rows))
	for i := range rows {
		r := &rows[i].Instance
		at[r.ID] = i
		if r.NeedsKept() {
			if r.Kept, err = s.Kept(ctx, r.ID); err != nil {
				return nil, err
			}
		}
	}
	if !wished {
		return rows, nil
	}
	return rows, s.loadControls(ctx, rows, at, ids)
}

// loadShared gives instances what is not theirs alone: their projects' parameters and environments, and their versions.
func (s *Store) loadShared(ctx context.Context, out []Claimed, has belongings) error {
	if has.params {
		if err := s.loadProjectParams(ctx, out); err != nil {
			return err
		}
	}
	if has.environments {
		if err := s.loadEnvironments(ctx, out); err != nil {
			return err
		}
	}
	for i := range out {
		version, err := s.Version(ctx, out[i].Instance.WorkflowID, out[i].Instance.Version)
		if err != nil {
			return err
		}
		out[i].Version = version
	}
	return nil
}

// loadSome reads those instances that are wanted, with all that belongs to them, as of one moment for each.
func (s *Store) loadSome(ctx context.Context, wanted []int64, want func(i int, r *InstanceRow) bool) ([]Claimed, error) {
	ids := make([]any, len(wanted))
	for i, id := range wanted {
		ids[i] = id
	}
	if err := failpoint.Hit("inst.load.before"); err != nil {
		return nil, err
	}
	before, err := s.written(ctx, ids)
	if err != nil {
		return nil, err
	}
	rows, err := collect(ctx, s, scanInstance, selectInstance+` WHERE i.id IN (`+marks(len(ids))+`)`, ids...)
	if err != nil {
		return nil, err
	}
	at := make(map[int64]int, len(rows))
	byID := make(map[int64]InstanceRow, len(rows))
	for _, r := range rows {
		byID[r.ID] = r
	}
	out := make([]Claimed, 0, len(wanted))
	var begun []any
	for i, id := range wanted {
		r, found := byID[id]
		if !found || !want(i, &r) {
			continue
		}
		if r.NeedsKept() {
			if r.Kept, err = s.Kept(ctx, r.ID); err != nil {
				return nil, err
			}
		}
		at[r.ID] = len(out)
		out = append(out, Claimed{Instance: r})
		if r.Round > 0 || r.Seq > 0 {
			begun = append(begun, r.ID) // one that never began has no tasks yet
		}
	}
	if err := s.loadRows(ctx, out, at, ids, begun); err != nil {
		return nil, err
	}
	if err := s.loadShared(ctx, out, belongings{params: true, environments: true}); err != nil {
		return nil, err
	}
	// The rows were read one table after the other. Where the owner has moved the instance on
	// meanwhile, they contradict each other, and the owner has no use for them.
	after, err := s.written(ctx, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(out, func(c Claimed) bool { return before[c.Instance.ID] != after[c.Instance.ID] }), nil
}

// mark is what every write to an instance, or to what belongs to it, changes.
type mark struct{ id, epoch, write int64 }

// written reads the marks of instances.
func (s *Store) written(ctx context.Context, ids []any) (map[int64]mark, error) {
	list, err := collect(ctx, s, func(scan func(...any) error) (m mark, err error) {
		return m, scan(&m.id, &m.epoch, &m.write)
	}, `SELECT id, owner_epoch, write_id FROM workflow_instance WHERE id IN (`+marks(len(ids))+`)`, ids...)
	if err != nil {
		return nil, err
	}
	written := make(map[int64]mark, len(list))
	for _, m := range list {
		written[m.id] = m
	}
	return written, nil
}

// loadControls gives instances what is wished of them and has no answer yet.
func (s *Store) loadControls(ctx context.Context, out []Claimed, at map[int64]int, all []any) error {
	controls, err := collect(ctx, s, scanControl, `SELECT `+controlColumns+` FROM control WHERE instance_id IN (`+marks(len(all))+
		`) AND applied_at = 0 ORDER BY id`, all...)
	if err != nil {
		return err
	}
	for _, c := range controls {
		if i, mine := at[c.InstanceID]; mine {
			out[i].Controls = append(out[i].Controls, c)
		}
	}
	return nil
}

func (s *Store) loadRows(ctx context.Context, out []Claimed, at map[int64]int, all, begun []any) error {
	if err := s.loadControls(ctx, out, at, all); err != nil {
		return err
	}
	if len(begun) == 0 {
		return nil
	}
	tasks, err := collect(ctx, s, scanTask, `SELECT `+taskColumns+` FROM task_instance WHERE instance_id IN (`+marks(len(begun))+
		`) ORDER BY instance_id, task_index`, begun...)
	if err != nil {
		return err
	}
	if err := s.items(ctx, tasks); err != nil {
		return err
	}
	for _, t := range tasks {
		out[at[t.InstanceID]].Tasks = append(out[at[t.InstanceID]].Tasks, t)
	}
	attempts, err := collect(ctx, s, scanAttempt, `SELECT `+attemptColumns+` FROM task_attempt WHERE instance_id IN (`+marks(len(begun))+
		`) AND state IN ('dispatched', 'running', 'killing') ORDER BY instance_id, task_index, number`, begun...)
	if err != nil {
		return err
	}
	missed, err := s.missed(ctx, tasks)
	if err != nil {
		return err
	}
	for _, a := range append(attempts, missed...) {
		out[at[a.InstanceID]].Attempts = append(out[at[a.InstanceID]].Attempts, a.Attempt)
	}
	if !slices.ContainsFunc(tasks, func(t TaskRow) bool { return t.Type == dag.TypeApproval && t.State == dag.TaskRunning }) {
		return nil
	}
	return s.addDecisions(ctx, out, at, begun)
}

// missed returns the lost attempts of tasks that wait for another one.
func (s *Store) missed(ctx context.Context, tasks []TaskRow) ([]AttemptRow, error) {
	var of []any
	for i := range tasks {
		t := &tasks[i]
		if t.State == dag.TaskReady && t.Lost > 0 && !slices.Contains(of, any(t.InstanceID)) {
			of = append(of, t.InstanceID)
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	return collect(ctx, s, scanAttempt, `SELECT `+attemptColumns+` FROM task_attempt WHERE instance_id IN (`+marks(len(of))+
		`) AND state = 'lost' ORDER BY instance_id, task_index, number`, of...)
}

// OwnerCount is how many instances an owner has.
type OwnerCount struct {
	Owner     string
	Instances int
}

// Owners returns everybody who owns instances, by name.
func (s *Store) Owners(ctx context.Context) ([]OwnerCount, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (o OwnerCount, err error) {
		return o, scan(&o.Owner, &o.Instances)
	}, `SELECT owner, COUNT(*) FROM workflow_instance WHERE owner > '' AND owner <> '' GROUP BY owner ORDER BY owner`)
	if err != nil {
		return nil, fmt.Errorf("read owners: %w", err)
	}
	return out, nil
}

// Owned returns the ids of up to limit instances of owner above after, in order: a master whose
// Claim ended in an error compares them with those that it knows and loads the rest.
func (s *Store) Owned(ctx context.Context, owner string, after int64, limit int) ([]int64, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (id int64, err error) { return id, scan(&id) },
		`SELECT id FROM workflow_instance WHERE owner = ? AND owner <> '' AND id > ? ORDER BY id LIMIT ?`, owner, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read instances of %s: %w", owner, err)
	}
	return out, nil
}

// Load reads those of the instances that owner owns, as Claim would have returned them.
func (s *Store) Load(ctx context.Context, owner string, ids []int64) ([]Claimed, error) {
	var won []ownership
	err := eachChunk(ids, func(chunk []any) error {
		got, err := collect(ctx, s, func(scan func(...any) error) (o ownership, err error) {
			return o, scan(&o.id, &o.epoch, &o.owner)
		}, `SELECT id, owner_epoch, owner FROM workflow_instance WHERE id IN (`+marks(len(chunk))+`) AND owner = ?`, append(chunk, owner)...)
		won = append(won, got...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load instances of %s: %w", owner, explain(err))
	}
	return s.load(ctx, won)
}

// collect runs a query on the readers and scans every row.
func collect[T any](ctx context.Context, s *Store, scan func(func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	if s.trace != nil {
		s.trace(query, args)
	}
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows.Scan)
		if err != nil {
			return nil, explain(err)
		}
		out = append(out, v)
	}
	return out, explain(rows.Err())
}
