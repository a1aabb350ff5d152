package main

import (
	"maps"
	"strings"
)

// onlyOwnersWrite is I06: an epoch never falls; who writes an instance is the node that
// owns it before or after the write; and a task's row is only written by the connection
// that has just written its instance's. More time for an attempt (complete_by and nothing else) may
// come by another connection, but from the owner's node as well. Nodes have database users of their own.
func onlyOwnersWrite(r *report) {
	for _, in := range ordered(r.instances) {
		var last *write
		for _, a := range in.all {
			switch {
			case a.Op == "D":
			case a.Table == "workflow_instance":
				if a.Op == "U" && !completes(last, a) {
					r.look()
					r.actor(in, a)
				}
				last = a
			case last == nil || a.Who != last.Who || a.Conn != last.Conn && !extends(a):
				proof := []string{clip(a.text)}
				if last != nil {
					proof = append([]string{clip(last.text)}, proof...)
				}
				r.bad(proof, "instance %d: a row of %s was written beside its owner", in.id, a.Table)
			default:
				r.look()
				if owner := node(last.new.str("owner")); a.Who != "" && owner != "" && owner != a.Who {
					r.bad([]string{clip(last.text), clip(a.text)}, "instance %d belongs to %s, and %s writes %s", in.id, owner, a.Who, a.Table)
				}
			}
		}
	}
}

// completes says that a write is that of who has just inserted the row, and changes nothing that is copied: an instance of a
// schedule is made by a master, who also marks whether anybody is to be told of it.
func completes(last, a *write) bool {
	return last != nil && last.Op == "I" && last.Table == a.Table && last.Who == a.Who && last.Conn == a.Conn && maps.Equal(a.old, a.new)
}

// extends says that a write gives an attempt more time and changes nothing else.
func extends(a *write) bool {
	if a.Table != "task_attempt" || a.Op != "U" || len(a.old) != len(a.new) {
		return false
	}
	for column, value := range a.new {
		if column != "complete_by" && a.old[column] != value {
			return false
		}
	}
	return true
}

// actor holds one update of an instance's row against its owner.
func (r *report) actor(in *instance, a *write) {
	before, after := a.old.num("owner_epoch"), a.new.num("owner_epoch")
	if after < before {
		r.bad([]string{clip(a.text)}, "instance %d: the epoch fell from %d to %d", in.id, before, after)
	}
	if a.Who == "" {
		return // SQLite knows no users
	}
	if strings.HasPrefix(a.Who, "master-") && a.Who != node(a.old.str("owner")) && a.Who != node(a.new.str("owner")) && !passes(a) {
		r.bad([]string{clip(a.text)}, "instance %d belongs to %q, and %s writes it", in.id, a.old.str("owner"), a.Who)
	}
}

// passes says that one write both claims an instance that nobody has begun and lets it go again: it was paused or killed
// before it began, or has nothing to do.
func passes(a *write) bool {
	return a.old.str("state") == "submitted" && a.old.str("owner") == "" && a.new.str("owner") == "" &&
		a.new.str("state") != "submitted" && a.new.num("owner_epoch") == a.old.num("owner_epoch")+1
}

// epochs is I07.
func epochs(r *report) {
	for _, in := range ordered(r.instances) {
		for _, a := range in.writes {
			if a.Op != "U" {
				continue
			}
			r.look()
			rise := a.new.num("owner_epoch") - a.old.num("owner_epoch")
			before, after := a.old.str("owner"), a.new.str("owner")
			taken := after != "" && after != before
			switch {
			case taken && rise != 1:
				r.bad([]string{clip(a.text)}, "instance %d: owner %q became %q and the epoch rose by %d", in.id, before, after, rise)
			case passes(a):
				r.note("instances that were claimed and let go by one commit")
			case !taken && rise == 1 && after != "":
				r.note("instances that their owner took up again, for it doubted itself")
			case !taken && rise != 0:
				r.bad([]string{clip(a.text)}, "instance %d: the epoch rose by %d and the owner stayed", in.id, rise)
			}
		}
	}
}

// oneActor is I08: one owner, and one database user, per epoch. A master that withdraws begins its
// successor's epoch itself.
func oneActor(r *report) {
	type key struct {
		instance, epoch int64
	}
	owners, users := map[key]string{}, map[key]string{}
	for _, in := range ordered(r.instances) {
		for _, a := range in.writes {
			owner := a.value().str("owner")
			if a.Op != "U" || owner == "" {
				continue
			}
			r.look()
			k := key{in.id, a.new.num("owner_epoch")}
			if before, ok := owners[k]; ok && before != owner {
				r.bad([]string{clip(a.text)}, "instance %d epoch %d belongs to %s and to %s", in.id, k.epoch, before, owner)
			}
			owners[k] = owner
			if !strings.HasPrefix(a.Who, "master-") {
				continue
			}
			if before := a.old.str("owner"); before != owner && a.Who == node(before) {
				r.note("instances that their owner handed on")
				continue // its last write, with which the next epoch begins
			}
			if before, ok := users[k]; ok && before != a.Who {
				r.bad([]string{clip(a.text)}, "instance %d epoch %d is written by %s and by %s", in.id, k.epoch, before, a.Who)
			}
			users[k] = a.Who
		}
	}
}
