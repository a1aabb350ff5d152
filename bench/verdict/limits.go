package main

import (
	"cmp"
	"slices"
)

var begunInstance = words("running pausing paused stopping")

// withinLimits is I31. It goes through the writes in their order: the end that frees a place is committed
// before whoever gets it begins.
func withinLimits(r *report) {
	withinGroups(r)
	var all []*write
	for _, in := range ordered(r.instances) {
		if in.shape != nil && in.shape.Limit > 0 {
			all = append(all, in.writes...)
		}
	}
	slices.SortFunc(all, func(a, b *write) int { return cmp.Compare(a.Seq, b.Seq) })
	running := map[*shape]map[int64]bool{}
	for _, w := range all {
		row := w.value()
		in := r.instances[row.num("id")]
		ids := running[in.shape]
		if ids == nil {
			ids = map[int64]bool{}
			running[in.shape] = ids
		}
		if w.Op == "D" || !begunInstance[row.str("state")] {
			delete(ids, in.id)
			continue
		}
		r.look()
		if ids[in.id] = true; len(ids) > in.shape.Limit {
			r.bad([]string{clip(w.text)}, "%d instances of %s run at once, %d are allowed", len(ids), in.shape.Name, in.shape.Limit)
		}
	}
}

// withinGroups holds the other half of I31 by what the tasks themselves say: from the start of an
// attempt to its end it has a place of its group.
func withinGroups(r *report) {
	r.atOnce(func(a *attempt) string { return a.task.spec.Group }, func(group string, last *attempt, most int) {
		if places := r.run.Groups[group]; most > places {
			r.bad(last.proof(), "%d tasks of the group %s run at once, it has %d places", most, group, places)
		}
	})
}
