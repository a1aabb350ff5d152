package main

import (
	"fmt"
	"strconv"
)

// triggers is I01: on the instances that were ever inserted.
func triggers(r *report) {
	seen := map[string]*write{}
	for _, a := range r.audit {
		if a.Table != "workflow_instance" || a.Op != "I" {
			continue
		}
		r.look()
		key := a.new.str("workflow_id") + "/" + a.new.str("schedule_time") + "/" + a.new.str("trigger_key")
		if before := seen[key]; before != nil {
			r.bad([]string{clip(before.text), clip(a.text)}, "two instances of the trigger %s", key)
		}
		seen[key] = a
	}
}

// inserted counts how often an instance was inserted.
func (w *world) inserted(id int64) int {
	n := 0
	if in := w.instances[id]; in != nil {
		for _, a := range in.writes {
			if a.Op == "I" {
				n++
			}
		}
	}
	return n
}

// ackedStarts is I02: by the id that the client was told.
func ackedStarts(r *report) {
	byKey := map[string]string{}
	for _, c := range r.calls {
		if c.Verb != "start" || c.Outcome != "ok" {
			continue
		}
		r.look()
		id, err := strconv.ParseInt(c.Instance, 10, 64)
		if err != nil || r.inserted(id) != 1 || r.instances[id].row == nil {
			r.bad([]string{clip(c.text)}, "start %s was acked as instance %q, which is there %d times", c.Key, c.Instance, r.inserted(id))
		}
		if before, ok := byKey[c.Key]; ok && before != c.Instance {
			r.bad([]string{clip(c.text)}, "start %s was acked as instance %s and as %s", c.Key, before, c.Instance)
		}
		byKey[c.Key] = c.Instance
	}
}

// unackedStarts is I03: of each workflow there are no more instances than acked keys and
// keys whose last answer was none.
func unackedStarts(r *report) {
	acked, unknown := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, c := range r.calls {
		if c.Verb != "start" {
			continue
		}
		r.look()
		if acked[c.Workflow] == nil {
			acked[c.Workflow], unknown[c.Workflow] = map[string]bool{}, map[string]bool{}
		}
		switch c.Outcome {
		case "ok":
			acked[c.Workflow][c.Key] = true
			delete(unknown[c.Workflow], c.Key)
		case "unknown":
			if !acked[c.Workflow][c.Key] {
				unknown[c.Workflow][c.Key] = true
			}
		}
	}
	made := map[string]int{}
	for _, in := range r.instances {
		if id, _ := in.scheduleOf(); r.inserted(in.id) > 0 && !in.child() && id == 0 {
			made[in.name()]++
		}
	}
	for workflow, n := range made {
		if most := len(acked[workflow]) + len(unknown[workflow]); n > most {
			r.bad(nil, "%s has %d instances, of %d acked starts and %d that were never answered", workflow, n, len(acked[workflow]), len(unknown[workflow]))
		}
	}
}

// oneInstance is I04: an instance is inserted once, its start command is taken once, and
// its first epoch begins once.
func oneInstance(r *report) {
	taken := map[int64]*write{}
	for _, a := range r.audit {
		if a.Table != "command" || a.Op != "D" || a.old.str("kind") != "start" {
			continue
		}
		r.look()
		id := a.old.num("instance_id")
		if before := taken[id]; before != nil {
			r.bad([]string{clip(before.text), clip(a.text)}, "the start command of instance %d was taken twice", id)
		}
		taken[id] = a
	}
	for _, in := range ordered(r.instances) {
		first := 0
		var proof []string
		for _, a := range in.writes {
			if a.Op == "I" || a.Op == "U" && a.old.num("owner_epoch") == 0 && a.new.num("owner_epoch") == 1 {
				first++
				proof = append(proof, clip(a.text))
			}
		}
		if first > 2 {
			r.bad(proof, "instance %d began more than once", in.id)
		}
	}
}

const (
	commandLimit = 30_000 // milliseconds, of I05
	// afterStores is what everybody may need to find the stores again.
	afterStores = 10_000
)

// commandsTaken is I05. While a store is broken nobody can take a command; that time, and
// what it takes to come back, does not count.
func commandsTaken(r *report) {
	begun := map[int64]*write{}
	for _, a := range r.audit {
		if a.Table != "command" {
			continue
		}
		id := a.value().num("id")
		switch a.Op {
		case "I":
			begun[id] = a
		case "D":
			from := begun[id]
			if from == nil {
				continue
			}
			r.look()
			delete(begun, id)
			if waited := r.healthy(from.At, a.At); waited > commandLimit {
				r.bad([]string{clip(from.text), clip(a.text)}, "command %d waited %d ms in which it could have been taken", id, waited)
			}
		}
	}
	for id, from := range begun {
		if waited := r.healthy(from.At, r.run.Rested); waited > commandLimit {
			r.bad([]string{clip(from.text)}, "command %d was never taken, in %d ms", id, waited)
		}
	}
}

// healthy is how much of a time no store was broken, nor on its way back.
func (w *world) healthy(from, to int64) int64 {
	good := int64(0)
	const step = 250
	for at := from; at < to; at += step {
		if len(w.hit(at-afterStores, at, onStores)) == 0 {
			good += min(step, to-at)
		}
	}
	return good
}

// versionKept is I36.
func versionKept(r *report) {
	for _, in := range ordered(r.instances) {
		for _, a := range in.writes {
			if a.Op != "U" {
				continue
			}
			r.look()
			for _, column := range []string{"version", "workflow_id", "trigger_key", "schedule_time"} {
				if a.old.str(column) != a.new.str(column) {
					r.bad([]string{clip(a.text)}, "instance %d changed its %s", in.id, column)
				}
			}
		}
	}
}

func plural(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }
