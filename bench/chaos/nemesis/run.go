package nemesis

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/bench/chaos/evidence"
	"github.com/porpoise/porpoise/bench/chaos/proxy"
	"github.com/porpoise/porpoise/bench/chaos/rig"
)

// Done is a line of the log of faults: what was planned and when it really was.
type Done struct {
	Fault
	Begin int64  `json:"begin"` // UTC milliseconds
	End   int64  `json:"end"`
	Error string `json:"error,omitempty"`
}

// Nemesis works a plan off.
type Nemesis struct {
	Rig *rig.Rig
	Log *evidence.File
	Out io.Writer // one line per fault

	due  []due
	down map[string]bool // killed by a fault, which revives it
}

// due is something to do at a moment.
type due struct {
	at time.Time
	do func(ctx context.Context)
}

// At arranges something for a moment of Run.
func (n *Nemesis) At(at time.Time, do func(ctx context.Context)) {
	i, _ := slices.BinarySearchFunc(n.due, at, func(d due, at time.Time) int { return d.at.Compare(at) })
	n.due = slices.Insert(n.due, i, due{at, do})
}

// Run works the plan off, heals everything, and returns. It is one goroutine: the rig is
// for one at a time.
func (n *Nemesis) Run(ctx context.Context, faults []Fault) error {
	begin := time.Now()
	for _, f := range faults {
		n.At(begin.Add(f.At), func(ctx context.Context) { n.begin(ctx, f) })
	}
	for len(n.due) > 0 {
		next := n.due[0]
		n.due = n.due[1:]
		select {
		case <-ctx.Done():
			return n.Heal(context.WithoutCancel(ctx))
		case <-time.After(time.Until(next.at)):
		}
		next.do(ctx)
	}
	return n.Heal(ctx)
}

const (
	// lateBy and maxLate bound how long a fault waits for its target to be there again.
	lateBy  = 500 * time.Millisecond
	maxLate = 40
)

// begin does a fault and arranges its end.
func (n *Nemesis) begin(ctx context.Context, f Fault) {
	if f.Way != "kill_all" && n.Rig.Dead(f.Target) && f.late < maxLate {
		f.late++
		n.At(time.Now().Add(lateBy), func(ctx context.Context) { n.begin(ctx, f) })
		return
	}
	fmt.Fprintf(n.Out, "%6.1fs  %3d  %-15s %-12s %-13s %-8s for %s\n", f.At.Seconds(), f.N, f.Class, f.Target, f.Way, f.Link, f.For)
	d := Done{Fault: f, Begin: time.Now().UnixMilli()}
	heal, err := n.inflict(f)
	if err != nil {
		d.Error = err.Error()
	}
	n.At(time.Now().Add(f.For), func(ctx context.Context) {
		if heal != nil {
			if err := heal(ctx); err != nil && d.Error == "" {
				d.Error = err.Error()
			}
		}
		d.End = time.Now().UnixMilli()
		n.Log.Write(d)
	})
}

// keepEvery is how often Keep looks; what has died is down for that long at least.
const keepEvery = time.Second

// Keep starts what has ended by itself again, until a moment, as a supervisor would: a role
// that finds no database at its start gives up, and a failpoint ends a process.
func (n *Nemesis) Keep(until time.Time) {
	next := time.Now().Add(keepEvery)
	n.At(next, func(ctx context.Context) {
		for _, node := range n.Rig.Nodes {
			if !n.Rig.Dead(node) || n.down[node] {
				continue
			}
			fmt.Fprintf(n.Out, "%s has died and is started again\n", node)
			now := time.Now()
			n.Log.Write(Done{Fault: Fault{Class: "died", Target: node, Way: "died"}, Begin: now.Add(-keepEvery).UnixMilli(), End: now.UnixMilli()})
			if err := n.Rig.Revive(ctx, node); err != nil {
				fmt.Fprintln(n.Out, err)
			}
		}
		if next.Before(until) {
			n.Keep(until)
		}
	})
}

type healing func(ctx context.Context) error

// inflict does the fault and returns how it is healed.
func (n *Nemesis) inflict(f Fault) (healing, error) {
	switch f.Way {
	case "kill", "kill_all", "kill_runner", "kill_both", "kill_host":
		return n.kill(f), nil
	case "pause":
		if n.Rig.Dead(f.Target) {
			return nil, fmt.Errorf("%s is not there", f.Target)
		}
		return func(context.Context) error { return n.Rig.Continue(f.Target) }, n.Rig.Freeze(f.Target)
	case "pause_runner":
		n.Rig.FreezeRunner(f.Target, true)
		return func(context.Context) error { n.Rig.FreezeRunner(f.Target, false); return nil }, nil
	}
	state := proxy.Fault{Kind: proxy.Kind(f.Way)}
	switch state.Kind {
	case proxy.Delay:
		// From a slow network to one that is hardly bearable.
		state.Delay = time.Duration(20+f.N*37%400) * time.Millisecond
	case proxy.Slow:
		state.Rate = 4096 << (f.N % 4)
	case proxy.Pass, proxy.Cut, proxy.Hole, proxy.HoleUp, proxy.HoleDown, proxy.CommitBefore, proxy.CommitAfter:
	default:
		return nil, fmt.Errorf("no such way: %s", f.Way)
	}
	links := n.links(f)
	for _, l := range links {
		own := state
		if strings.HasPrefix(l, "*>") && f.Link != "self" {
			own.From = f.Target // others use this link, too
		}
		n.Rig.Set(l, own)
	}
	return func(context.Context) error {
		for _, l := range links {
			n.Rig.Set(l, proxy.Fault{})
		}
		return nil
	}, nil
}

// links are those that a fault breaks.
func (n *Nemesis) links(f Fault) []string {
	var list []string
	switch f.Link {
	case "":
		return n.Rig.LinksTo(f.Target)
	case "all":
		list = n.Rig.Links(f.Target, "etcd")
		fallthrough
	case "masters": // those of one worker to all masters
		for _, m := range n.Rig.Role("master") {
			list = append(list, n.Rig.Links(m, "self")...)
		}
		return list
	}
	return n.Rig.Links(f.Target, f.Link)
}

// kill ends processes and returns how they come back.
func (n *Nemesis) kill(f Fault) healing {
	targets := []string{f.Target}
	switch f.Way {
	case "kill_all":
		targets = n.Rig.Role("etcd")
	case "kill_runner":
		n.Rig.KillRunner(f.Target)
		return nil
	case "kill_both":
		n.Rig.KillRunner(f.Target)
	case "kill_host":
		n.Rig.Kill(f.Target)
		n.Rig.KillTree(f.Target)
	}
	if n.down == nil {
		n.down = map[string]bool{}
	}
	for _, t := range targets {
		n.Rig.Kill(t)
		n.down[t] = true
	}
	return func(ctx context.Context) error {
		for _, t := range targets {
			n.down[t] = false
			if !n.Rig.Dead(t) {
				continue // another fault on the same part has revived it
			}
			if err := n.Rig.Revive(ctx, t); err != nil {
				return err
			}
		}
		return nil
	}
}

// Heal ends whatever is left of any fault.
func (n *Nemesis) Heal(ctx context.Context) error {
	for _, node := range n.Rig.Nodes {
		for _, kind := range []string{"etcd", "database", "self"} {
			for _, l := range n.Rig.Links(node, kind) {
				n.Rig.Set(l, proxy.Fault{})
			}
		}
		n.Rig.FreezeRunner(node, false)
	}
	all := append(append([]string(nil), n.Rig.Role("etcd")...), n.Rig.Nodes...)
	if n.Rig.MariaDB != nil {
		all = append([]string{"database"}, all...)
	}
	for _, name := range all {
		_ = n.Rig.Continue(name)
		if !n.Rig.Dead(name) {
			continue
		}
		if err := n.Rig.Revive(ctx, name); err != nil {
			return fmt.Errorf("revive %s: %w", name, err)
		}
	}
	return nil
}
