package master

import (
	"github.com/porpoise/porpoise/master/dispatch"
	"github.com/porpoise/porpoise/master/engine"
	"github.com/porpoise/porpoise/master/failover"
	"github.com/porpoise/porpoise/master/intake"
	"github.com/porpoise/porpoise/master/link"
	"github.com/porpoise/porpoise/master/schedule"
	"github.com/porpoise/porpoise/master/slot"
	"github.com/porpoise/porpoise/master/supervise"
	"github.com/porpoise/porpoise/master/wheel"
	"github.com/porpoise/porpoise/registry"
)

// Parts are the loops of a master, for who drives their steps from one goroutine instead of
// calling Run. Whatever Run does, it does through these steps and SeeMasters, SeeWorkers.
type Parts struct {
	Engine   *engine.Engine
	Alarms   *wheel.Wheel[engine.Alarm]
	Failover *failover.Failover
	Intake   *intake.Intake
	Slots    *slot.Table
	Links    *link.Links
	Placer   *dispatch.Dispatcher
	Super    *supervise.Supervisor
	Planner  *schedule.Planner
	Firer    *schedule.Firer
}

// Parts returns the loops of this master.
func (m *Master) Parts() Parts {
	return Parts{
		Engine: m.engine, Alarms: m.alarms, Failover: m.failover, Intake: m.intake, Slots: m.slots,
		Links: m.links, Placer: m.placer, Super: m.super, Planner: m.planner, Firer: m.firer,
	}
}

// SeeMasters tells the barrier who shares the slots, and failover who lives.
func (m *Master) SeeMasters(view registry.View) {
	owners := make(map[string]bool, len(view.Members))
	for _, member := range view.Members {
		owners[owner(member)] = true
	}
	m.barrier.Members(view)
	m.standing.see(view.Members)
	if m.masters.absences(view, m.Now()) {
		m.failover.Members(owners)
	}
}

// SeeWorkers tells the engine which workers are registered.
func (m *Master) SeeWorkers(view registry.View) {
	present := make(map[string]bool, len(view.Members))
	for _, member := range view.Members {
		present[member.Node] = true
	}
	if m.workers.absences(view, m.Now()) {
		m.engine.Present(present)
	}
}

// Withdrawn says that this master is to give up its membership, and to stay away, since its own way
// to the database is cut; see Pinged.
func (m *Master) Withdrawn() bool {
	cut, _ := m.reach.state()
	return cut
}
