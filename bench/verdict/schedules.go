package main

import (
	"fmt"
	"maps"
	"slices"
)

// planSchedule is one of the run's schedules.
type planSchedule struct {
	Name     string `json:"name"`
	Workflow string `json:"workflow"`
	EveryMS  int64  `json:"every_ms"`
	After    string `json:"after"`
	Overlap  string `json:"overlap"`
}

// fireLimit is how much later than due, in milliseconds, a fire may start its instance while the stores are there: as long
// as a command may wait.
const fireLimit = commandLimit

// endThatFires is how an instance ends that fires.
var endThatFires = words("success failed stopped")

// schedule is a schedule of the run with what is known of it.
type schedule struct {
	planSchedule
	id     int64
	row    row
	writes []*write // of its own row, in order
	fires  []row    // at rest, in the order of their moments
	acts   []*write // of its fires
}

func (s *schedule) String() string { return fmt.Sprintf("schedule %d (%s)", s.id, s.Name) }

// schedules brings rows and audit to the schedules of the run.
func (w *world) schedules() map[int64]*schedule {
	all := map[int64]*schedule{}
	for _, r := range w.scheduled {
		for _, plan := range w.run.Schedules {
			if plan.Name == r.str("name") && plan.Workflow == w.names[r.num("workflow_id")] {
				all[r.num("id")] = &schedule{planSchedule: plan, id: r.num("id"), row: r}
			}
		}
	}
	for _, r := range w.fires {
		if s := all[r.num("source_id")]; s != nil {
			s.fires = append(s.fires, r)
		}
	}
	for _, a := range w.audit {
		switch a.Table {
		case "schedule":
			if s := all[a.value().num("id")]; s != nil {
				s.writes = append(s.writes, a)
			}
		case "fire":
			if s := all[a.value().num("source_id")]; s != nil {
				s.acts = append(s.acts, a)
			}
		}
	}
	for _, s := range all {
		slices.SortFunc(s.fires, func(a, b row) int { return int(a.num("planned_at") - b.num("planned_at")) })
	}
	return all
}

// disabled is the write by which the schedule was paused, and nil where it was not.
func (s *schedule) disabled() *write {
	for _, a := range s.writes {
		if a.Op == "U" && a.old.num("enabled") == 1 && a.new.num("enabled") == 0 {
			return a
		}
	}
	return nil
}

// scheduleOf returns the schedule that started an instance, 0 where none did, and the instance after whose end.
func (in *instance) scheduleOf() (id, after int64) {
	for _, a := range in.writes {
		if a.Op != "I" {
			continue
		}
		key := a.new.str("trigger_key")
		if n, _ := fmt.Sscanf(key, "s%d:%d", &id, &after); n == 0 {
			return 0, 0
		}
	}
	return id, after
}

// moment is what an instance says that it is about.
func (in *instance) moment() int64 {
	for _, a := range in.writes {
		if a.Op == "I" {
			return a.new.num("schedule_time")
		}
	}
	return 0
}

// plansRise is I33: by the writes of the schedules. A change begins anew.
func plansRise(r *report) {
	for _, s := range ordered(r.schedules()) {
		for _, a := range s.writes {
			if a.Op != "U" || a.old.num("revision") != a.new.num("revision") {
				continue
			}
			r.look()
			if a.new.num("planned_until") < a.old.num("planned_until") {
				r.bad([]string{clip(a.text)}, "the plan of %s goes back", s)
			}
		}
	}
}

// momentsFire is I34: the ledger of each schedule is held to the clock, to the ends that it waits for, and to the instances.
func momentsFire(r *report) {
	all := r.schedules()
	if len(all) < len(r.run.Schedules) {
		r.bad(nil, "%d of the %d schedules are there", len(all), len(r.run.Schedules))
	}
	for _, s := range ordered(all) {
		r.outcomes(s)
		r.overlaps(s)
		if s.EveryMS > 0 {
			r.clock(s)
		} else {
			r.ends(s)
		}
	}
	r.fireless(all)
}

// outcomes wants each fire of a schedule to have one outcome, which stays, and one that fired an instance of its own.
func (r *report) outcomes(s *schedule) {
	by := map[int64]row{}
	for _, f := range s.fires {
		r.look()
		proof := s.proof(f)
		id := f.num("instance_id")
		switch state := f.str("state"); {
		case f.num("open") != 0:
			if r.run.Rest == "" {
				r.bad(proof, "%s: the fire of %d is %s at rest", s, f.num("planned_at"), state)
			}
			continue
		case state == "fired":
		case state == "duplicate":
			r.note("fires whose instance was there already")
			continue
		default:
			if id != 0 {
				r.bad(proof, "%s: the fire of %d is %s, and has instance %d", s, f.num("planned_at"), state, id)
			}
			r.note("fires that are " + state + " by " + f.str("reason"))
			continue
		}
		if before, taken := by[id]; taken {
			r.bad(append(s.proof(before), proof...), "%s: the fires of %d and %d have one instance, %d", s, before.num("planned_at"), f.num("planned_at"), id)
		}
		by[id] = f
		in := r.instances[id]
		if r.inserted(id) != 1 {
			r.bad(proof, "%s: the fire of %d has instance %d, which was made %d times", s, f.num("planned_at"), id, r.inserted(id))
			continue
		}
		if source, after := in.scheduleOf(); source != s.id || after != f.num("after_id") || after == 0 && in.moment() != f.num("planned_at") {
			r.bad(append(proof, clip(in.writes[0].text)), "%s: the fire of %d has instance %d, which is not about it", s, f.num("planned_at"), id)
		}
		// What waits for the one before is late for a reason.
		if late := r.healthy(f.num("due_at"), f.num("fired_at")); s.Overlap != "wait" && late > fireLimit {
			r.bad(proof, "%s: the fire of %d started its instance %d ms late, in which it could have", s, f.num("planned_at"), late)
		}
	}
	for _, a := range s.acts {
		if a.Op == "U" && a.old.num("open") == 0 && a.old.str("state") != a.new.str("state") {
			r.bad([]string{clip(a.text)}, "%s: the fire of %d had its outcome and got another", s, a.new.num("planned_at"))
		}
	}
}

// proof is what was written of a fire.
func (s *schedule) proof(f row) []string {
	var p []string
	for _, a := range s.acts {
		if a.value().num("planned_at") == f.num("planned_at") {
			p = append(p, clip(a.text))
		}
	}
	return p
}

// clock wants a fire of each moment from when the schedule was saved until it was paused, and none beside them: so what
// was planned is the sum of the outcomes. Of what no master had planned before the pause nobody can say what it was.
func (r *report) clock(s *schedule) {
	from, until := s.row.num("created_at"), r.run.Rested
	if a := s.disabled(); a != nil {
		until = a.new.num("changed_at")
		if planned := a.old.num("planned_until"); planned < until {
			r.note("schedules that were paused before all that was due was planned")
			until = planned
		}
	}
	wanted := map[int64]bool{}
	for at := (from + s.EveryMS - 1) / s.EveryMS * s.EveryMS; at < until; at += s.EveryMS {
		wanted[at] = true
	}
	for _, f := range s.fires {
		at := f.num("planned_at")
		r.look()
		// The pause may have waited for the fires of its own moment.
		if !wanted[at] && (at%s.EveryMS != 0 || at < from || at >= until && f.str("state") != "fired") {
			r.bad(s.proof(f), "%s has a fire of %d, which is no moment of it", s, at)
		}
		delete(wanted, at)
	}
	for _, at := range slices.Sorted(maps.Keys(wanted)) {
		r.bad(nil, "%s has no fire of %d", s, at)
	}
}

// ends wants a fire for each end of the workflow that a schedule waits for, from when it was saved on.
func (r *report) ends(s *schedule) {
	byEnd := map[int64]row{}
	for _, f := range s.fires {
		r.look()
		id := f.num("after_id")
		if before, there := byEnd[id]; there {
			r.bad(append(s.proof(before), s.proof(f)...), "%s has two fires of the end of instance %d", s, id)
		}
		byEnd[id] = f
		if in := r.instances[id]; in == nil || in.name() != s.After {
			r.bad(s.proof(f), "%s has a fire of the end of instance %d, which is none of %s", s, id, s.After)
		}
	}
	if r.run.Rest != "" || len(s.writes) == 0 {
		return
	}
	for _, in := range ordered(r.instances) {
		if in.name() != s.After {
			continue
		}
		for _, a := range in.writes {
			if a.Op == "U" && endThatFires[a.new.str("state")] && a.Seq > s.writes[0].Seq {
				if _, there := byEnd[in.id]; !there {
					r.bad([]string{clip(a.text)}, "%s has no fire of the end of instance %d", s, in.id)
				}
				break
			}
		}
	}
}

// overlaps wants what is to wait for the one before, or to be skipped, never to be there beside it.
func (r *report) overlaps(s *schedule) {
	if s.Overlap != "skip" && s.Overlap != "wait" {
		return
	}
	open := map[int64]bool{}
	for _, a := range r.audit {
		if a.Table != "workflow_instance" {
			continue
		}
		in := r.instances[a.value().num("id")]
		if id, _ := in.scheduleOf(); id != s.id {
			continue
		}
		if a.Op == "D" || finalInstance[a.value().str("state")] {
			delete(open, in.id)
			continue
		}
		r.look()
		if open[in.id] = true; len(open) > 1 {
			r.bad([]string{clip(a.text)}, "%s: instance %d began before the one before it had ended", s, in.id)
		}
	}
}

// fireless finds instances that a schedule started without a fire.
func (r *report) fireless(all map[int64]*schedule) {
	started := map[int64]bool{}
	for _, s := range all {
		for _, f := range s.fires {
			started[f.num("instance_id")] = true
		}
	}
	for _, in := range ordered(r.instances) {
		if id, _ := in.scheduleOf(); id != 0 && all[id] != nil && !started[in.id] {
			r.bad([]string{clip(in.writes[0].text)}, "instance %d was started by %s, which has no fire of it", in.id, all[id])
		}
	}
}

// pausedIsSilent is I35: both a pause and an outcome are written under the lock of the schedule's row, so that they have an order.
func pausedIsSilent(r *report) {
	for _, s := range ordered(r.schedules()) {
		off := s.disabled()
		if off == nil {
			continue
		}
		r.look()
		for _, a := range s.acts {
			if a.Op == "U" && a.Seq > off.Seq && a.new.str("state") == "fired" && a.old.str("state") != "fired" {
				r.bad([]string{clip(off.text), clip(a.text)}, "%s was paused, and its fire of %d started an instance after that", s, a.new.num("planned_at"))
			}
		}
	}
}
