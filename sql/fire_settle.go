package sql

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

// ReasonUnpublished is the reason of a skipped fire whose workflow had no published version.
const ReasonUnpublished = "not_published"

// maxStopped bounds the instances beyond one for each fire that a settlement stops; the next fire stops the others.
const maxStopped = 32

// Verdict is what is to become of an open fire: Fired where it is to start an instance, or another outcome and why.
type Verdict struct {
	Source int64
	At     dag.Millis
	State  schedule.State
	Reason string
}

// Settlement is what became of fires.
type Settlement struct {
	Fires   []Fire  // that have another state now; of At, Due and what was set alone
	Started []int64 // instances, which have a command
	Stopped []int64 // instances that were replaced and have a wish to stop
}

// SettleFires gives fires their outcomes, all in one transaction under the locks of their schedules, and starts the
// instances of those that fire. A fire that is not open any more keeps what it has, so any number of masters may call
// it at once, and again after a crash. One that was to fire is skipped where its schedule was paused since, and
// otherwise goes by the schedule's overlap policy; where its instance is there already it is a duplicate.
func (s *Store) SettleFires(ctx context.Context, verdicts []Verdict, master string, epoch int64) (Settlement, error) {
	c, err := s.Cluster(ctx)
	if err != nil {
		return Settlement{}, err
	}
	n := len(verdicts)
	if n == 0 {
		return Settlement{}, nil
	}
	verdicts = slices.SortedFunc(slices.Values(verdicts), func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.At, b.At))
	})
	first, err := s.NextIDs(ctx, n+missedSources(verdicts))
	if err != nil {
		return Settlement{}, err
	}
	wishes := 2 * int64(n+maxStopped) // a wish and a command for each instance that is replaced
	var spare int64                   // the first of their ids, once some are
	for looks := 0; ; {
		var out Settlement
		err := s.write(ctx, func(tx *sqlTx) error {
			w := &settler{
				batch:    &batch{s: s, tx: plainTx{tx, s}, slots: int64(c.Slots), freeID: spare, endID: spare},
				verdicts: verdicts, master: master, epoch: epoch, now: s.millis(), instance: first, alertID: first + int64(n), look: looks > 0,
			}
			if spare > 0 {
				w.endID += wishes
			}
			out = Settlement{}
			return w.settle(ctx, &out)
		})
		switch {
		case err == nil:
			return out, nil
		case errors.Is(err, ErrExists) && looks < 2:
			looks++ // somebody has made the instance of a fire: who looks sees it
			continue
		case errors.Is(err, errNoIDs) && spare == 0:
			if spare, err = s.NextIDs(ctx, int(wishes)); err == nil {
				continue
			}
		}
		return Settlement{}, fmt.Errorf("settle %d fires: %w", n, err)
	}
}

// errNoIDs ends a settlement that replaces instances and was given no ids for that.
var errNoIDs = errors.New("no ids for what is replaced")

// settler writes one settlement within a transaction.
type settler struct {
	*batch
	verdicts []Verdict
	master   string
	epoch    int64
	now      dag.Millis
	instance int64 // the next id
	alertID  int64 // the next one of alerts
	look     bool  // for instances of the same trigger, which are rare; without, the database refuses them

	schedules map[int64]Schedule
	published map[int64]int // versions of workflows
	names     map[int64]string
	running   map[int64][]int64
	given     map[fireKey]map[string]string // to parameters, by calls
	replaced  []int64
}

// pending is an open fire with what is to become of it.
type pending struct {
	Fire
	was   schedule.State
	start *operation // nil where it starts nothing
}

type fireKey struct {
	source int64
	at     dag.Millis
}

func (w *settler) settle(ctx context.Context, out *Settlement) error {
	if err := w.lockSchedules(ctx); err != nil {
		return fmt.Errorf("lock schedules: %w", err)
	}
	open, err := w.openFires(ctx)
	if err != nil {
		return fmt.Errorf("read fires: %w", err)
	}
	if err := w.readGiven(ctx, open); err != nil {
		return fmt.Errorf("read calls: %w", err)
	}
	var fires []*pending
	var starts []*operation
	for _, v := range w.verdicts {
		f, ok := open[fireKey{v.Source, v.At}]
		if !ok {
			continue
		}
		delete(open, fireKey{v.Source, v.At}) // named twice is once
		p := &pending{Fire: f, was: f.State}
		w.judge(p, v)
		if p.start != nil {
			starts = append(starts, p.start)
		}
		fires = append(fires, p)
	}
	if w.look {
		if err := w.refuseTriggers(ctx, starts); err != nil {
			return fmt.Errorf("read triggers: %w", err)
		}
	}
	if err := w.readRunning(ctx, fires); err != nil {
		return fmt.Errorf("read running instances: %w", err)
	}
	for of := range chunkBySource(fires) {
		w.overlap(of)
	}
	return w.write(ctx, fires, out)
}

func (w *settler) lockSchedules(ctx context.Context) error {
	w.schedules, w.published, w.names = map[int64]Schedule{}, map[int64]int{}, map[int64]string{}
	var ids, workflows []int64
	for _, v := range w.verdicts {
		ids = append(ids, v.Source)
	}
	ids = slices.Compact(ids) // they are in order
	err := eachChunk(ids, func(chunk []any) error {
		return w.eachRow(ctx, `SELECT id, project_id, workflow_id, name, spec, revision, fires_from, enabled, created_by FROM schedule WHERE id IN (`+marks(len(chunk))+`) ORDER BY id`+
			w.s.dial.forUpdate(), chunk, func(scan func(...any) error) error {
			var sch Schedule
			var spec string
			if err := scan(&sch.ID, &sch.ProjectID, &sch.WorkflowID, &sch.Name, &spec, &sch.Revision, &sch.FiresFrom, &sch.Enabled, &sch.CreatedBy); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(spec), &sch.Spec); err != nil {
				return fmt.Errorf("schedule %d: %w", sch.ID, err)
			}
			w.schedules[sch.ID] = sch
			workflows = append(workflows, sch.WorkflowID)
			return nil
		})
	})
	if err != nil {
		return err
	}
	slices.Sort(workflows)
	return eachChunk(slices.Compact(workflows), func(chunk []any) error {
		return w.eachRow(ctx, `SELECT id, name, published FROM workflow WHERE deleted_at = 0 AND id IN (`+marks(len(chunk))+`)`, chunk, func(scan func(...any) error) error {
			var id int64
			var name string
			var version int
			err := scan(&id, &name, &version)
			w.published[id], w.names[id] = version, name
			return err
		})
	})
}

// openFires returns the fires that the verdicts name, where they are open and have their schedule. It needs no lock of its
// own: whoever writes an open fire holds the lock of its schedule.
func (w *settler) openFires(ctx context.Context) (map[fireKey]Fire, error) {
	args := make([]any, 0, 2*len(w.verdicts))
	for _, v := range w.verdicts {
		if _, ok := w.schedules[v.Source]; ok {
			args = append(args, v.Source, int64(v.At))
		}
	}
	out := make(map[fireKey]Fire, len(w.verdicts))
	err := w.eachPair(ctx, `SELECT source_id, planned_at, due_at, revision, state, open, after_id, schedule_time, call_id FROM fire`+w.s.dial.byPrimary()+` WHERE `, "(source_id, planned_at)", 2, args,
		func(scan func(...any) error) error {
			var f Fire
			var open bool
			err := scan(&f.Source, &f.At, &f.Due, &f.Revision, &f.State, &open, &f.After, &f.ScheduleTime, &f.Call)
			if open {
				out[fireKey{f.Source, f.At}] = f
			}
			return err
		})
	return out, err
}

// judge says what becomes of a fire by itself: without a look at instances.
func (w *settler) judge(p *pending, v Verdict) {
	sch := w.schedules[v.Source]
	version := w.published[sch.WorkflowID]
	p.State, p.Reason = schedule.Skipped, ""
	switch {
	case !sch.Enabled || p.Revision < sch.FiresFrom: // it was paused, and may be resumed
		p.Reason = schedule.ReasonPaused
	case v.State != schedule.Fired:
		p.State, p.Reason = v.State, v.Reason
	case version == 0:
		p.Reason = ReasonUnpublished
	default:
		p.State = p.was
		at, key := p.Trigger()
		st := sch.start(version, at, w.now)
		st.ID, st.TriggerKey = w.instance, key
		if given := w.given[fireKey{v.Source, v.At}]; len(given) > 0 {
			if st.Params = maps.Clone(st.Params); st.Params == nil {
				st.Params = map[string]string{}
			}
			maps.Copy(st.Params, given)
		}
		w.instance++
		p.start = &operation{start: &st}
	}
}

// readRunning finds the instances of the fires' schedules that have not ended, where that matters.
func (w *settler) readRunning(ctx context.Context, fires []*pending) error {
	w.running = map[int64][]int64{}
	of := map[int64][]int64{} // schedules by workflow
	for _, p := range fires {
		sch := w.schedules[p.Source]
		known := of[sch.WorkflowID]
		if p.start != nil && sch.Spec.Overlap != "" && sch.Spec.Overlap != schedule.Allow && (len(known) == 0 || known[len(known)-1] != sch.ID) {
			of[sch.WorkflowID] = append(known, sch.ID)
		}
	}
	for workflow, ids := range of {
		asks := make(map[int64]bool, len(ids))
		for _, id := range ids {
			asks[id] = true
		}
		err := w.eachRow(ctx, `SELECT id, trigger_key FROM workflow_instance WHERE workflow_id = ? AND state IN (`+openStates+`) ORDER BY id`, []any{workflow},
			func(scan func(...any) error) error {
				var id int64
				var key string
				if err := scan(&id, &key); err != nil {
					return err
				}
				if sch, ok := ScheduleOf(key); ok && asks[sch] {
					w.running[sch] = append(w.running[sch], id)
				}
				return nil
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// overlap applies the overlap policy to the fires of one schedule, which are in order.
func (w *settler) overlap(fires []*pending) {
	id := fires[0].Source
	policy := w.schedules[id].Spec.Overlap
	var waits *pending
	for _, p := range fires {
		if p.start == nil {
			continue
		}
		busy := len(w.running[id]) > 0
		switch {
		case p.start.err != nil:
			p.State, p.start = schedule.Duplicate, nil
			continue
		case !busy || policy == "" || policy == schedule.Allow:
		case policy == schedule.Skip:
			p.State, p.Reason, p.start = schedule.Skipped, schedule.ReasonOverlap, nil
			continue
		case policy == schedule.Wait:
			if waits != nil {
				waits.State, waits.Reason = schedule.Skipped, schedule.ReasonNewer
			}
			p.State, p.start, waits = schedule.Waiting, nil, p
			continue
		case policy == schedule.Replace:
			w.replaced = append(w.replaced, w.running[id]...)
			w.running[id] = nil
		}
		p.State, p.Instance, p.FiredAt = schedule.Fired, p.start.start.ID, w.now
		w.running[id] = append(w.running[id], p.Instance)
	}
}

var fireOutcome = &table{
	name: "fire",
	keys: []string{"source_id", "planned_at"},
	cols: []string{"source_id", "planned_at", "open", "state", "reason", "instance_id", "fired_at", "master", "epoch"},
	sets: []string{"open", "state", "reason", "instance_id", "fired_at", "master", "epoch"},
}

func (w *settler) write(ctx context.Context, fires []*pending, out *Settlement) error {
	var starts []*Start
	var rows []any
	for _, p := range fires {
		if p.State == p.was {
			continue // it waits on
		}
		p.Master, p.Epoch = w.master, w.epoch
		if p.start != nil {
			starts = append(starts, p.start.start)
			out.Started = append(out.Started, p.Instance)
		}
		rows = append(rows, p.Source, int64(p.At), flag(p.State == schedule.Waiting), string(p.State), p.Reason, p.Instance, int64(p.FiredAt), p.Master, p.Epoch)
		out.Fires = append(out.Fires, p.Fire)
	}
	if err := w.insertStarts(ctx, starts); err != nil {
		return err
	}
	if err := w.stop(ctx, out); err != nil {
		return err
	}
	if err := w.updates(ctx, fireOutcome, rows, false); err != nil {
		return fmt.Errorf("write outcomes: %w", err)
	}
	return w.tellMissed(ctx, fires)
}

// stop asks what was replaced to stop, also what this settlement itself started.
func (w *settler) stop(ctx context.Context, out *Settlement) error {
	if len(w.replaced) == 0 {
		return nil
	}
	if w.endID == w.freeID {
		return errNoIDs
	}
	w.replaced = w.replaced[:min(len(w.replaced), int(w.endID-w.freeID)/2)]
	for _, id := range w.replaced {
		w.ops = append(w.ops, &operation{control: &ControlRow{InstanceID: id, Verb: dag.VerbStop, By: "overlap: replace", At: w.now}})
	}
	if err := w.lock(ctx); err != nil {
		return fmt.Errorf("lock instances: %w", err)
	}
	out.Stopped = w.replaced
	return w.controls(ctx)
}

// chunkBySource goes through fires, which are in order, schedule by schedule.
func chunkBySource(fires []*pending) func(yield func([]*pending) bool) {
	return func(yield func([]*pending) bool) {
		for len(fires) > 0 {
			n := 1
			for n < len(fires) && fires[n].Source == fires[0].Source {
				n++
			}
			if !yield(fires[:n]) {
				return
			}
			fires = fires[n:]
		}
	}
}
