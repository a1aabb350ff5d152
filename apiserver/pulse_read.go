package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// shownFailovers is how many takeovers come with a pulse.
const shownFailovers = 5

// readPulse works one out: from memory what nodes say, and from indexes of what is open what stands in rows.
func (s *Server) readPulse(ctx context.Context, meter *meter, last *Rebalance) (Pulse, error) {
	now := s.now()
	hold, err := s.store.Hold(ctx)
	if err != nil {
		return Pulse{}, fmt.Errorf("work out the pulse: %w", err)
	}
	rows, err := s.store.Pulse(ctx, dag.MillisOf(now))
	if err != nil {
		return Pulse{}, fmt.Errorf("work out the pulse: %w", err)
	}
	failovers, _, err := s.store.Failovers(ctx, "", sql.Page{Limit: shownFailovers})
	if err != nil {
		return Pulse{}, fmt.Errorf("work out the pulse: %w", err)
	}
	layout, masters, workers := s.cfg.Cluster.Slots(), s.cfg.Cluster.Masters(), s.cfg.Cluster.Workers()
	p := Pulse{
		At: Time(dag.MillisOf(now)), Hold: holdFace(hold), Running: rows.Attempts, Tasks: rows.Mark,
		Failovers: make([]Failover, len(failovers)), Stuck: PulseStuck{Overdue: rows.Overdue, Asked: rows.Asked, GivenUp: rows.GivenUp},
		Limits: PulseLimits{MasterMS: s.cfg.Leases.Master.Milliseconds(), WorkerMS: s.cfg.Leases.Worker.Milliseconds()},
	}
	for i, f := range failovers {
		p.Failovers[i] = failoverFace(f)
	}
	if p.Slots, err = s.pulseSlots(ctx, layout, masters, last); err != nil {
		return Pulse{}, err
	}
	p.Slots.Overloaded = rows.Lent
	figures := map[string]*rpc.MasterFigures{}
	if s.cfg.Masters != nil {
		figures = s.cfg.Masters.Figures()
	}
	meter.sample(now, masters, figures, rows)
	p.Masters = s.pulseMasters(layout, masters, figures, meter, now)
	p.Workers = s.pulseWorkers(workers, now)
	p.Timers = pulseTimers(figures, meter)
	p.Queues = queues(figures, rows, p.Workers, meter, now)
	for _, f := range figures {
		p.Refused.Commands += f.GetClaimsLost()
		p.Refused.Commits += f.GetCommitsRefused()
		p.Refused.Fires += f.GetSchedules().GetDuplicate()
	}
	if s.cfg.Demo != nil {
		p.Demo = s.cfg.Demo.Nodes()
	}
	return p, nil
}

// pulseSlots is the layout; how it came about is read once, and kept with the pulse before.
func (s *Server) pulseSlots(ctx context.Context, l SlotLayout, live []Node, last *Rebalance) (PulseSlots, error) {
	out := PulseSlots{Epoch: l.Epoch, Cause: l.Cause, CommittedAt: Time(l.CommittedAt), Members: holders(l.Members), Owners: slices.Clone(l.Owners), Last: last}
	for slot, i := range out.Owners {
		if i >= 0 && !alive(l.Members[i], live) {
			out.Owners[slot] = -1
		}
	}
	if p := l.Preparing; p != nil {
		out.Preparing = &PulsePreparing{PreparingOf: *preparingFace(*p), Members: holders(p.Members), Owners: p.Owners}
		if out.Preparing.Owners == nil {
			out.Preparing.Owners = []int{}
		}
	}
	if l.Epoch == 0 || last != nil && last.Epoch == l.Epoch {
		return out, nil
	}
	history, err := s.store.Rebalances(ctx, 1)
	if err != nil {
		return out, fmt.Errorf("read the last rebalance: %w", err)
	}
	if len(history) > 0 {
		r := rebalanceFace(history[0])
		out.Last = &r
	}
	return out, nil
}

func holders(list []LayoutMember) []string {
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.Node
	}
	return out
}

func (s *Server) pulseMasters(l SlotLayout, live []Node, figures map[string]*rpc.MasterFigures, meter *meter, now time.Time) []PulseMaster {
	nodes := map[string]Node{}
	for _, n := range live {
		nodes[n.Name+":"+n.Incarnation] = n
	}
	out := []PulseMaster{}
	for _, m := range slotMasters(l, live) {
		n := nodes[m.Name+":"+m.Incarnation]
		face := PulseMaster{
			Name: m.Name, Incarnation: m.Incarnation, Address: n.Address, Version: n.Version, Weight: m.Weight, StartedAt: Time(n.StartedAt),
			State: m.State, Slots: m.Slots, Draining: n.Draining,
		}
		if f := figures[m.Name]; f != nil && m.State != "gone" {
			instances, cpu := int(f.GetInstances()), math.Round(f.GetCpu()*100)/100
			face.Instances, face.CPU = &instances, &cpu
			face.Commits = meter.rate(masterKey(n, "commits"))
		}
		if s.cfg.Masters != nil && m.State != "gone" {
			heard, known := s.cfg.Masters.Heard(m.Name)
			face.SilentSince = silent(heard, known, masterSilent, now)
		}
		out = append(out, face)
	}
	slices.SortStableFunc(out, func(a, b PulseMaster) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (s *Server) pulseWorkers(live []Node, now time.Time) []PulseWorker {
	out := make([]PulseWorker, len(live))
	for i, n := range live {
		w := PulseWorker{
			Name: n.Name, Incarnation: n.Incarnation, Version: n.Version, Groups: n.Groups, Labels: n.Labels, Slots: n.Slots, StartedAt: Time(n.StartedAt), Draining: n.Draining,
		}
		if w.Groups == nil {
			w.Groups = []string{}
		}
		if s.cfg.Workers != nil {
			if f, ok := s.cfg.Workers.Figures(n.Name); ok {
				running := int(f.GetRunning())
				w.Running, w.Load, w.FreeDisk, w.Outbox = &running, f.GetLoad(), f.GetFreeDisk(), int(f.GetOutbox())
			}
			heard, known := s.cfg.Workers.Heard(n.Name)
			w.SilentSince = silent(heard, known, workerSilent, now)
		}
		out[i] = w
	}
	return out
}

// queues are the commands and every worker group that has workers or tasks.
func queues(figures map[string]*rpc.MasterFigures, rows sql.Pulse, workers []PulseWorker, meter *meter, now time.Time) []Queue {
	groups := map[string]*Queue{}
	group := func(name string) *Queue {
		if groups[name] == nil {
			groups[name] = &Queue{Kind: "group", Name: name}
		}
		return groups[name]
	}
	for _, f := range figures {
		for _, q := range f.GetQueues() {
			g := group(q.GetGroup())
			g.Waiting += int(q.GetWaiting())
			if at := Time(q.GetOldestAt()); at != 0 && (g.Oldest == 0 || at < g.Oldest) {
				g.Oldest = at
			}
		}
	}
	for _, w := range workers {
		for _, name := range w.Groups {
			g := group(name)
			g.Workers++
			if w.Draining == "" {
				g.Slots += w.Slots
			}
			if w.Running != nil {
				g.Running += *w.Running
			}
		}
	}
	commands := Queue{Kind: "commands", Waiting: rows.Commands}
	if rows.Commands > 0 {
		commands.Oldest = Time(rows.OldestCommand)
	}
	out := []Queue{commands}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, *groups[name])
	}
	for i := range out {
		meter.judge(&out[i], now)
	}
	return out
}
