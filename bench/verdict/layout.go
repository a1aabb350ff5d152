package main

import (
	"encoding/json"
	"strings"
)

// layout is what is read of a committed layout.
type layout struct {
	Epoch   int64 `json:"epoch"`
	Members []struct {
		Node        string `json:"node"`
		Incarnation string `json:"incarnation"`
	} `json:"members"`
	Owners []int `json:"owners"`
}

// layouts is I09: epochs rise, and every slot has an owner who was registered.
func layouts(r *report) {
	registered := map[string]bool{} // incarnations that ever were
	last := int64(0)
	for _, c := range r.changes {
		if c.Op != "put" {
			continue
		}
		if strings.Contains(c.Key, "/members/master/") {
			var m struct {
				Incarnation string `json:"incarnation"`
			}
			if json.Unmarshal([]byte(c.Value), &m) == nil {
				registered[m.Incarnation] = true
			}
		}
		if !strings.HasSuffix(c.Key, "/layout/commit") {
			continue
		}
		r.look()
		var l layout
		if err := json.Unmarshal([]byte(c.Value), &l); err != nil {
			r.bad([]string{clip(c.text)}, "the layout can't be read: %v", err)
			continue
		}
		if l.Epoch <= last {
			r.bad([]string{clip(c.text)}, "layout %d follows %d", l.Epoch, last)
		}
		last = l.Epoch
		for slot, owner := range l.Owners {
			if owner < 0 || owner >= len(l.Members) || !registered[l.Members[owner].Incarnation] {
				r.bad([]string{clip(c.text)}, "layout %d gives slot %d to %d, who is no registered master", l.Epoch, slot, owner)
				break
			}
		}
	}
}

// claimsBetweenCommits is I10: a claim carries the epoch of a layout that was committed,
// under which its slot was the claimer's.
func claimsBetweenCommits(r *report) {
	byEpoch := map[int64]layout{}
	acked := map[string][]ack{}
	for _, c := range r.changes {
		if c.Op != "put" {
			continue
		}
		if strings.HasSuffix(c.Key, "/layout/commit") {
			var l layout
			if json.Unmarshal([]byte(c.Value), &l) == nil {
				byEpoch[l.Epoch] = l
			}
		}
		if _, who, ok := strings.Cut(c.Key, "/layout/ack/"); ok {
			var k struct {
				Epoch int64 `json:"epoch"`
				At    int64 `json:"at"`
			}
			if json.Unmarshal([]byte(c.Value), &k) == nil {
				acked[who] = append(acked[who], ack{k.Epoch, k.At, c})
			}
		}
	}
	taken := map[int64][]*write{} // commands that were taken, by instance
	for _, a := range r.audit {
		if a.Table == "command" && a.Op == "D" {
			id := a.old.num("instance_id")
			taken[id] = append(taken[id], a)
		}
	}
	for _, in := range ordered(r.instances) {
		before := int64(0)
		for _, a := range in.writes {
			if a.Op == "U" && a.old.str("owner") == "" && a.new.str("owner") != "" {
				r.claim(in, a, byEpoch, acked)
				r.ownSlot(a, before, taken[in.id], byEpoch)
			}
			before = a.Seq
		}
	}
}

// ack is a master's word that it takes no commands for an epoch's layout.
type ack struct {
	epoch, at int64
	change    *change
}

// claim holds one claim against the layouts. Epoch 0 is a claim that no layout covers,
// such as of a lent command.
func (r *report) claim(in *instance, a *write, byEpoch map[int64]layout, acked map[string][]ack) {
	epoch := a.new.num("layout_epoch")
	if epoch == 0 {
		return
	}
	r.look()
	if _, ok := byEpoch[epoch]; !ok {
		r.bad([]string{clip(a.text)}, "instance %d was claimed under layout %d, which was never committed", in.id, epoch)
		return
	}
	owner := node(a.new.str("owner"))
	for _, k := range acked[owner] {
		const slack = 100 // between two clocks of one host
		if k.epoch > epoch && k.at+slack < a.At {
			r.bad([]string{clip(k.change.text), clip(a.text)}, "%s acked layout %d and then claimed instance %d under layout %d", owner, k.epoch, in.id, epoch)
			return
		}
	}
}

// ownSlot holds a claim against the layout that it names: the command that was taken by the
// same transaction, after the write before of the instance, is of a slot of the claimer's, or was lent to all.
func (r *report) ownSlot(a *write, before int64, taken []*write, byEpoch map[int64]layout) {
	l, ok := byEpoch[a.new.num("layout_epoch")]
	if !ok {
		return
	}
	for _, c := range taken {
		if c.Conn != a.Conn || c.Seq < before || c.Seq > a.Seq || a.At-c.At > 1000 || c.old.num("lent") != 0 {
			continue
		}
		slot := int(c.old.num("slot"))
		if slot >= len(l.Owners) || l.Owners[slot] < 0 || l.Owners[slot] >= len(l.Members) {
			continue // I09 tells it
		}
		m := l.Members[l.Owners[slot]]
		if owner := m.Node + ":" + m.Incarnation; owner != a.new.str("owner") {
			r.bad([]string{clip(c.text), clip(a.text)}, "slot %d is %s's under layout %d, and %s took a command of it", slot, owner, l.Epoch, a.new.str("owner"))
		}
	}
}
