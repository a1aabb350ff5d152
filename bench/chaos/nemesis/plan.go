// Package nemesis breaks a cluster by a plan that follows from a seed: sixteen classes of
// fault (kill, pause, cut and slow, of masters, workers, apiservers and stores), evenly,
// then everything is healed.
//
// It owns the plan and its log of what was really done when. How a part is killed or a
// link cut is the rig's; what the faults did to the product is the verdict's.
package nemesis

import (
	"math/rand/v2"
	"strings"
	"time"
)

// Fault is one planned fault.
type Fault struct {
	N      int           `json:"n"`
	Class  string        `json:"class"`  // kill.master ... slow.stores
	Target string        `json:"target"` // a node, an etcd member, etcd or database
	Way    string        `json:"way"`    // what exactly is done
	Link   string        `json:"link,omitempty"`
	At     time.Duration `json:"at"`  // since the beginning
	For    time.Duration `json:"for"` // until it is healed

	late int // how often it has waited for its target
}

// Classes are the classes of fault.
func Classes() []string {
	var list []string
	for _, verb := range []string{"kill", "pause", "cut", "slow"} {
		for _, whom := range []string{"master", "worker", "apiserver", "stores"} {
			list = append(list, verb+"."+whom)
		}
	}
	return list
}

// Plan says what is planned: so many faults, evenly over the classes, in so much time.
type Plan struct {
	Seed    uint64
	Faults  int
	Within  time.Duration
	Only    []string      // classes; empty is all
	Link    string        // the only kind of link that is cut or slow; "" is all
	Least   time.Duration // no fault is shorter
	Way     string        // how links are cut; "" is every way
	SQLite  bool          // there is no database process and no link to it
	Targets map[string][]string
}

// planner makes a plan.
type planner struct {
	Plan
	rng  *rand.Rand
	busy map[string]time.Duration // by target: until when it has a fault
}

// Make gives the faults in the order of their beginnings. The same plan gives the same
// faults.
func (p Plan) Make() []Fault {
	m := &planner{Plan: p, rng: rand.New(rand.NewPCG(p.Seed, 2)), busy: map[string]time.Duration{}}
	classes := p.Only
	if len(classes) == 0 {
		classes = Classes()
	}
	var order []string
	for len(order) < p.Faults {
		round := append([]string(nil), classes...)
		m.rng.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		order = append(order, round...)
	}
	if p.Faults == 0 {
		return nil
	}
	faults := make([]Fault, p.Faults)
	gap := p.Within / time.Duration(p.Faults)
	for i := range faults {
		at := gap*time.Duration(i) + time.Duration(m.rng.Int64N(int64(gap)))/2
		faults[i] = m.fault(i+1, order[i], at)
	}
	return faults
}

// between draws a duration.
func (m *planner) between(least, most time.Duration) time.Duration {
	return (least + time.Duration(m.rng.Int64N(int64(most-least)))).Round(time.Millisecond)
}

func (m *planner) pick(list ...string) string { return list[m.rng.IntN(len(list))] }

// fault draws one fault of a class.
func (m *planner) fault(n int, class string, at time.Duration) Fault {
	f := Fault{N: n, Class: class, At: at}
	verb, whom, _ := strings.Cut(class, ".")
	f.Target = m.target(whom, at)
	switch verb {
	case "kill":
		m.kill(&f, whom)
	case "pause":
		m.pause(&f, whom)
	case "cut":
		m.cut(&f, whom)
	case "slow":
		m.slow(&f, whom)
	}
	if f.Link != "" && m.Link != "" {
		f.Link = m.Link
	}
	if m.Way != "" && verb == "cut" {
		f.Way = m.Way
	}
	f.For = max(f.For, m.Least)
	m.busy[f.Target] = at + f.For + time.Second
	return f
}

// target takes one that has no fault at that moment, if there is one.
func (m *planner) target(whom string, at time.Duration) string {
	list := append([]string(nil), m.Targets[whom]...)
	if whom == "stores" {
		list = append([]string(nil), m.Targets["etcd"]...)
		if !m.SQLite {
			list = append(list, "database", "database")
		}
	}
	m.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, name := range list {
		if m.busy[name] <= at {
			return name
		}
	}
	return list[0]
}

func (m *planner) kill(f *Fault, whom string) {
	f.Way, f.For = "kill", m.between(300*time.Millisecond, 3*time.Second)
	switch {
	case whom == "master" && m.rng.IntN(3) == 0:
		f.For = m.between(6*time.Second, 10*time.Second) // longer than its lease
	case whom == "worker":
		// A host that loses power loses its tasks, too. The worker and its runner killed
		// without them is a double fault, of which the tasks are told when both are back.
		f.Way = m.pick("kill", "kill", "kill_runner", "kill_both", "kill_host")
		if f.Way != "kill_both" && m.rng.IntN(3) == 0 {
			f.For = m.between(8*time.Second, 12*time.Second)
		}
	case f.Target == "database":
		f.For = m.between(200*time.Millisecond, 2*time.Second)
	case whom == "stores" && m.rng.IntN(4) == 0:
		f.Target, f.Way, f.For = "etcd", "kill_all", m.between(2*time.Second, 8*time.Second)
	}
}

func (m *planner) pause(f *Fault, whom string) {
	f.Way, f.For = "pause", m.between(500*time.Millisecond, 3*time.Second)
	switch whom {
	case "master":
		if m.rng.IntN(2) == 0 {
			f.For = m.between(7*time.Second, 11*time.Second)
		}
	case "worker":
		f.Way = m.pick("pause", "pause", "pause_runner")
		if f.Way == "pause" && m.rng.IntN(3) == 0 {
			f.For = m.between(8*time.Second, 14*time.Second)
		}
	}
}

func (m *planner) cut(f *Fault, whom string) {
	f.Way, f.For = m.pick("cut", "hole", "hole_up", "hole_down"), m.between(500*time.Millisecond, 4*time.Second)
	f.Link = m.linkOf(whom)
	if m.rng.IntN(4) == 0 {
		f.For = m.between(7*time.Second, 11*time.Second)
	}
	if f.Link == "database" || f.Target == "database" {
		f.Way = m.pick("cut", "hole", "hole_down", "commit_before", "commit_after", "commit_after")
		f.For = m.between(500*time.Millisecond, 3*time.Second)
	}
}

func (m *planner) slow(f *Fault, whom string) {
	f.Way, f.For = m.pick("delay", "delay", "slow"), m.between(2*time.Second, 6*time.Second)
	f.Link = m.linkOf(whom)
}

// linkOf chooses which links of a node break: those to etcd, those to the database, or
// those by which others reach it. A store has only one kind.
func (m *planner) linkOf(whom string) string {
	switch whom {
	case "stores":
		return ""
	case "worker":
		return m.pick("etcd", "masters", "all")
	}
	if m.SQLite {
		return m.pick("etcd", "self")
	}
	return m.pick("etcd", "database", "self")
}
