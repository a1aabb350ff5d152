package apiserver

import (
	"context"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// SlotStore keeps the history of the layouts of slots.
type SlotStore interface {
	Rebalances(ctx context.Context, limit int) ([]sql.Rebalance, error)
}

// SlotLayout is who has which command slots, as the registry shows it. Members are by node.
type SlotLayout struct {
	Epoch       int64 // 0 before the first
	Cause       string
	Coordinator string // node:incarnation
	CommittedAt dag.Millis
	// Owners has the index of its member for every slot; -1 where nobody has it.
	Owners   []int
	Members  []LayoutMember
	Excluded []LayoutMember
	// Preparing is set while masters wait for a new layout.
	Preparing *Preparing
}

// LayoutMember is a master of a layout.
type LayoutMember struct {
	Node, Incarnation string
	Weight            int
}

// Preparing is a layout that is being agreed on.
type Preparing struct {
	Epoch       int64
	Cause       string
	Coordinator string
	At          dag.Millis
	Members     []LayoutMember
	Acked       []string // by node
	// Owners has the index of its member in Members for every slot, as it will be.
	Owners []int
}

// Slots is who owns the slots that commands are divided into.
type Slots struct {
	Count       int          `json:"count"`
	Epoch       int64        `json:"epoch" doc:"Of the layout in force; it rises with every change."`
	State       string       `json:"state" enum:"committed,preparing,none" doc:"preparing: masters take no commands until the next layout is agreed on. none: there was no layout yet."`
	Cause       string       `json:"cause,omitempty" doc:"Of the layout in force."`
	Coordinator string       `json:"coordinator,omitempty" doc:"The process that made it."`
	CommittedAt Time         `json:"committed_at,omitempty"`
	Owners      []SlotRange  `json:"owners" nullable:"false"`
	Masters     []SlotMaster `json:"masters" nullable:"false" doc:"Of the layout, and those that wait to be in one."`
	Preparing   *PreparingOf `json:"preparing,omitempty"`
	Rebalances  []Rebalance  `json:"rebalances" nullable:"false" doc:"The last ones, the newest first."`
}

// SlotRange is a run of slots with one owner.
type SlotRange struct {
	From   int    `json:"from"`
	To     int    `json:"to" doc:"Inclusive."`
	Master string `json:"master,omitempty" doc:"Absent: nobody."`
}

// SlotMaster is a master with its share.
type SlotMaster struct {
	Name        string `json:"name"`
	Incarnation string `json:"incarnation"`
	Weight      int    `json:"weight"`
	Slots       int    `json:"slots"`
	State       string `json:"state" enum:"member,excluded,waiting,gone" doc:"excluded: it did not answer when the layout was made. waiting: it came after that. gone: it is in the layout, but not alive."`
}

// PreparingOf is the layout that masters wait for.
type PreparingOf struct {
	Epoch       int64    `json:"epoch"`
	Cause       string   `json:"cause"`
	Coordinator string   `json:"coordinator"`
	At          Time     `json:"at"`
	Acked       []string `json:"acked" nullable:"false"`
	Missing     []string `json:"missing" nullable:"false" doc:"Masters that still finish what they are taking, or do not answer."`
}

// Rebalance is one layout and how it came about.
type Rebalance struct {
	Epoch       int64           `json:"epoch"`
	Cause       string          `json:"cause"`
	Coordinator string          `json:"coordinator"`
	StartedAt   Time            `json:"started_at"`
	CommittedAt Time            `json:"committed_at"`
	TookMS      int64           `json:"took_ms" doc:"From the decision to the layout in force, in milliseconds: masters took no commands for the last part of it."`
	Restarts    int             `json:"restarts" doc:"Epochs that were given up on the way."`
	Moved       int             `json:"moved" doc:"Slots with another owner than before."`
	Masters     []SlotMaster    `json:"masters" nullable:"false"`
	Steps       []RebalanceStep `json:"steps" nullable:"false"`
}

// RebalanceStep is one moment of a rebalance.
type RebalanceStep struct {
	Epoch  int64  `json:"epoch"`
	Name   string `json:"name" enum:"prepare,ack,resend,exclude,restart,commit"`
	Master string `json:"master,omitempty" doc:"Several are divided by a space."`
	Note   string `json:"note,omitempty"`
	At     Time   `json:"at"`
}

type slotsAnswer struct{ Body Slots }

// shownRebalances is how much of the history comes with the slots.
const shownRebalances = 20

func (s *Server) slotRoutes() {
	add(s, spec{
		id: "get-slots", method: "GET", path: "/cluster/slots", tag: "cluster", summary: "Which master owns which slots, and how that came about",
		access: access{object: noObject},
	}, s.getSlots)
}

func (s *Server) getSlots(ctx context.Context, _ *struct{}) (*slotsAnswer, error) {
	history, err := s.store.Rebalances(ctx, shownRebalances)
	if err != nil {
		return nil, fmt.Errorf("list rebalances: %w", err)
	}
	l := s.cfg.Cluster.Slots()
	out := Slots{
		Count: len(l.Owners), Epoch: l.Epoch, State: "committed", Cause: l.Cause, Coordinator: l.Coordinator, CommittedAt: Time(l.CommittedAt),
		Owners: ranges(l), Masters: slotMasters(l, s.cfg.Cluster.Masters()), Rebalances: make([]Rebalance, len(history)),
	}
	if l.Epoch == 0 {
		out.State = "none"
	}
	if p := l.Preparing; p != nil {
		out.State, out.Preparing = "preparing", preparingFace(*p)
	}
	for i, r := range history {
		out.Rebalances[i] = rebalanceFace(r)
	}
	return &slotsAnswer{Body: out}, nil
}

// ranges joins neighbouring slots of one owner.
func ranges(l SlotLayout) []SlotRange {
	out := []SlotRange{}
	for slot, i := range l.Owners {
		name := ""
		if i >= 0 {
			name = l.Members[i].Node
		}
		if n := len(out); n > 0 && out[n-1].Master == name {
			out[n-1].To = slot
			continue
		}
		out = append(out, SlotRange{From: slot, To: slot, Master: name})
	}
	return out
}

// slotMasters are the masters of the layout and those that are alive without a part in it.
func slotMasters(l SlotLayout, live []Node) []SlotMaster {
	counts := make([]int, len(l.Members))
	for _, i := range l.Owners {
		if i >= 0 {
			counts[i]++
		}
	}
	out := []SlotMaster{}
	known := map[string]bool{}
	for i, m := range l.Members {
		state := "member"
		if !alive(m, live) {
			state = "gone"
		}
		known[m.Node+":"+m.Incarnation] = true
		out = append(out, SlotMaster{Name: m.Node, Incarnation: m.Incarnation, Weight: m.Weight, Slots: counts[i], State: state})
	}
	for _, m := range l.Excluded {
		if alive(m, live) {
			known[m.Node+":"+m.Incarnation] = true
			out = append(out, SlotMaster{Name: m.Node, Incarnation: m.Incarnation, Weight: m.Weight, State: "excluded"})
		}
	}
	for _, n := range live {
		if !known[n.Name+":"+n.Incarnation] {
			out = append(out, SlotMaster{Name: n.Name, Incarnation: n.Incarnation, Weight: n.Weight, State: "waiting"})
		}
	}
	return out
}

// alive says that a master of a layout is there, in the same life.
func alive(m LayoutMember, live []Node) bool {
	return slices.ContainsFunc(live, func(n Node) bool { return n.Name == m.Node && n.Incarnation == m.Incarnation })
}

func preparingFace(p Preparing) *PreparingOf {
	out := &PreparingOf{Epoch: p.Epoch, Cause: p.Cause, Coordinator: p.Coordinator, At: Time(p.At), Acked: []string{}, Missing: []string{}}
	for _, m := range p.Members {
		if slices.Contains(p.Acked, m.Node) {
			out.Acked = append(out.Acked, m.Node)
		} else {
			out.Missing = append(out.Missing, m.Node)
		}
	}
	return out
}

func rebalanceFace(r sql.Rebalance) Rebalance {
	out := Rebalance{
		Epoch: r.Epoch, Cause: r.Cause, Coordinator: r.Coordinator, StartedAt: Time(r.StartedAt), CommittedAt: Time(r.CommittedAt),
		TookMS: int64(r.CommittedAt - r.StartedAt), Restarts: r.Restarts, Moved: r.Moved, Masters: []SlotMaster{}, Steps: make([]RebalanceStep, len(r.Steps)),
	}
	for _, m := range r.Members {
		out.Masters = append(out.Masters, SlotMaster{Name: m.Node, Incarnation: m.Incarnation, Weight: m.Weight, Slots: m.Slots, State: "member"})
	}
	for _, m := range r.Excluded {
		out.Masters = append(out.Masters, SlotMaster{Name: m.Node, Incarnation: m.Incarnation, Weight: m.Weight, State: "excluded"})
	}
	for i, step := range r.Steps {
		out.Steps[i] = RebalanceStep{Epoch: step.Epoch, Name: step.What, Master: step.Node, Note: step.Note, At: Time(step.At)}
	}
	return out
}
