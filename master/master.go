// Package master is one of the schedulers of a cluster: it takes the commands of its slots,
// drives their instances, gives ready tasks to workers that ask, and takes over from masters
// that died. It owns the wiring of its loops, each a package of its own below it, and
// the master's membership. It never runs a task, and nothing it holds in memory is missed
// when it dies: cmd builds it, workers and apiservers dial it.
package master

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/egress"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/internal/webhook"
	"github.com/porpoise/porpoise/master/artifact"
	"github.com/porpoise/porpoise/master/backfill"
	"github.com/porpoise/porpoise/master/dispatch"
	"github.com/porpoise/porpoise/master/engine"
	"github.com/porpoise/porpoise/master/failover"
	"github.com/porpoise/porpoise/master/intake"
	"github.com/porpoise/porpoise/master/link"
	"github.com/porpoise/porpoise/master/notify"
	"github.com/porpoise/porpoise/master/schedule"
	"github.com/porpoise/porpoise/master/slot"
	"github.com/porpoise/porpoise/master/supervise"
	"github.com/porpoise/porpoise/master/timer"
	"github.com/porpoise/porpoise/master/watch"
	"github.com/porpoise/porpoise/master/wheel"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/sql"
)

// Store is what the loops of a master use of the store.
type Store interface {
	engine.Store
	intake.Store
	backfill.Store
	schedule.Store
	failover.Store
	slot.History
	supervise.Store
	notify.Store
	timer.Store
	artifact.Store
	Holds
	Sweeper
	Pinger
	// Lanes is how many commits the store writes at once.
	Lanes() int
}

// Config is what a Master needs; fields without a remark are required.
type Config struct {
	Self    rpc.Process
	Cluster string
	// Generation of the cluster: what workers have from an earlier one they drop.
	Generation int64
	// Address is where workers and apiservers dial this master.
	Address string
	Version string
	// Slots is the cluster's number of command slots; Weight this master's share, 1 if zero.
	Slots, Weight int
	// TTL is the lease of the membership; zero is 5 s.
	TTL time.Duration
	// Takeover says that the caller holds the node's data folder: an earlier incarnation is dead.
	Takeover bool
	// Limit bounds the instances in memory; zero is the engine's own limit.
	Limit int
	// KillGrace is the time between TERM and KILL; zero is the engine's own.
	KillGrace time.Duration
	// Patience is how long this master stays registered while its database is out of reach; zero is 10 s.
	Patience time.Duration
	// SuperviseEvery is how often this master looks for what is stuck while it is the supervisor; zero
	// is supervise.DefaultEvery.
	SuperviseEvery time.Duration

	// Retention bounds the instances that are kept.
	Retention Retention
	// FiresKept is how long the fires of schedules have rows of their own; zero is DefaultFiresKept. PlanAhead is how far
	// ahead they have them; zero is the planner's own.
	FiresKept, PlanAhead time.Duration
	// FiresEach bounds the fires of one schedule that have rows of their own: the newest have. Zero is no bound.
	FiresEach int

	Store    Store
	Registry registry.Registry
	// Joins gives certificates to new nodes; nil refuses them.
	Joins *rpc.JoinServer
	// Keys opens the secrets of tasks; nil is none, and tasks that name one fail.
	Keys engine.Keys
	// Figures says how this master is doing, for apiservers, each time in a message of its own; nil says nothing. What it
	// did for schedules is added.
	Figures func() *rpc.MasterFigures
	// Secrets opens what listeners sign with; nil tells nothing to those that have a secret.
	Secrets notify.Opener
	// Egress says which addresses listeners and timers may call.
	Egress egress.Rule
	Logger hclog.Logger
	// Now is the clock on the wall, with a monotonic reading; nil is time.Now. The loops go by one that follows no leap of it
	// before the database confirms that. Token names attempts; nil is the engine's own.
	Now   func() time.Time
	Token func() string
}

// DefaultTTL lets a hung master be replaced within seconds; a wrong takeover costs only work.
const DefaultTTL = 5 * time.Second

// Master is one running scheduler. It serves rpc.MasterServer from the moment it is made;
// before Run it has no instances.
type Master struct {
	rpc.UnimplementedMasterServer
	Config
	log      hclog.Logger
	engine   *engine.Engine
	intake   *intake.Intake
	filler   *backfill.Filler
	planner  *schedule.Planner
	firer    *schedule.Firer
	failover *failover.Failover
	super    *supervise.Supervisor
	notifier *notify.Notifier
	timers   *timer.Ringer
	moments  *wheel.Wheel[sql.TimerKey] // of timers
	links    *link.Links
	depot    *artifact.Depot
	watchers *watch.Watchers
	alarms   *wheel.Wheel[engine.Alarm]
	slots    *slot.Table
	barrier  *slot.Loop
	placer   *dispatch.Dispatcher

	masters, workers trust // of SeeMasters and SeeWorkers alone
	standing         *standing
	reach            *reach
	strays           *strays
	owned            owned
	hold             hold
}

// New wires the loops of a master.
func New(c Config) *Master {
	if c.TTL == 0 {
		c.TTL = DefaultTTL
	}
	if c.FiresKept == 0 {
		c.FiresKept = DefaultFiresKept
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	wall, clock := c.Now, newClock(c.Now, c.Logger.Named("clock"))
	c.Now = clock.now
	placer := dispatch.New()
	m := &Master{
		Config: c, log: c.Logger.Named("master"), placer: placer,
		masters: trust{wait: 2 * c.TTL}, workers: trust{wait: 2 * c.TTL},
		standing: &standing{}, reach: newReach(),
		strays: &strays{tracker: failover.NewStrays()},
	}
	m.alarms = wheel.New(c.Now, m.fire)
	m.depot = artifact.New(c.Store)
	m.watchers = watch.New(hints{m}, m.log)
	counts := &schedule.Figures{}
	if c.Figures != nil {
		m.watchers.Figures = func() *rpc.MasterFigures {
			return m.figures(c.Figures(), counts)
		}
	}
	m.links = link.New(link.Config{
		Self: c.Self, Cluster: c.Cluster, Generation: c.Generation, Asks: placer, Now: c.Now, Logger: m.log,
		Stray: func(worker rpc.Process, owner string) { m.strays.saw(worker, owner, m.Now()) },
	})
	m.engine = engine.New(engine.Config{
		Owner: c.Self.String(), Store: c.Store, Dispatcher: dispatcher{placer}, Links: m.links, Keys: c.Keys,
		Alarms: m.alarms, Publish: m.watchers.Publish, Hint: m.hint, Logger: m.log, Limit: c.Limit, KillGrace: c.KillGrace,
		Now: c.Now, Token: c.Token, Committers: c.Store.Lanes(), Sure: func(now time.Time) bool { return m.judges(now) && !m.hold.held() },
		Woken: func() { m.intake.Hint() },
		LostWorker: func(w engine.LostWorker) {
			m.failover.WorkerLost(w.Node, w.Incarnation, w.Cause, w.SilentSince, w.Instances, w.Attempts)
		},
	})
	m.links.Attempts, m.links.Unsure = m.engine, m.Unsure
	placer.Deliver = func(g dispatch.Grant) { m.engine.Assign(g.Item.Instance, g.Item.Task, g.Worker, g.Item.Instant) }
	placer.Notify = func(n dispatch.Notice) { m.links.Notify(n.Worker, n.Group, n.Count) }
	m.slots = slot.NewTable(c.Slots)
	m.barrier = slot.New(slot.Config{
		Self: slot.Master{Node: c.Self.Node, Incarnation: c.Self.Incarnation, Weight: max(1, c.Weight)}, Slots: c.Slots, TTL: c.TTL,
		Registry: c.Registry, History: c.Store, Table: m.slots, Logger: m.log, Now: c.Now,
	})
	m.intake = intake.New(intake.Config{
		Owner: c.Self.String(), Store: c.Store, Slots: heldSlots{m.slots, &m.hold}, Instances: m.engine, Logger: m.log, Now: c.Now,
		Sure: m.standing.sure,
	})
	m.filler = backfill.New(backfill.Config{
		Store: c.Store, Slots: heldSlots{m.slots, &m.hold}, Logger: m.log,
		Started: func(ids []int64) { m.hint(&rpc.Hint{Commands: ids}) },
		Stopped: func(ids []int64) { m.hint(&rpc.Hint{Controls: ids}) },
	})
	schedules := schedule.Config{
		Master: c.Self.String(), Figures: counts, Store: c.Store, Slots: heldSlots{m.slots, &m.hold}, Logger: m.log, Now: wall,
		Horizon: c.PlanAhead,
		Confirmed: func() {
			if clock.confirmed() {
				m.alarms.Look()
				m.moments.Look()
			}
		},
		Started: func(ids []int64) { m.hint(&rpc.Hint{Commands: ids}) },
		Stopped: func(ids []int64) { m.hint(&rpc.Hint{Controls: ids}) },
	}
	m.planner, m.firer = schedule.NewPlanner(schedules), schedule.NewFirer(schedules)
	m.failover = failover.New(failover.Config{
		Self: c.Self, Store: c.Store, Instances: instances{m.engine}, Logger: m.log, Now: c.Now,
		Sure: m.judges, Confirm: m.confirm,
	})
	m.super = supervise.New(supervise.Config{
		Self: c.Self.String(), Store: c.Store, Locks: c.Registry, Instances: m.engine, Logger: m.log, Every: c.SuperviseEvery, Now: c.Now, Held: m.hold.held,
	})
	m.notifier = notify.New(notify.Config{
		Store: c.Store, Sender: &webhook.Sender{Rule: c.Egress, Now: c.Now}, Secrets: c.Secrets, Keys: c.Keys, Logger: m.log, Now: c.Now,
	})
	m.moments = wheel.New(c.Now, func(key sql.TimerKey) { m.timers.Came(key) })
	m.timers = timer.New(timer.Config{
		Owner: c.Self.String(), Store: c.Store, Slots: heldSlots{m.slots, &m.hold}, Moments: m.moments, Egress: c.Egress, Logger: m.log, Now: c.Now,
	})
	return m
}

// Work implements rpc.MasterServer for workers.
func (m *Master) Work(stream rpc.Master_WorkServer) error { return m.links.Work(stream) }

// KeepArtifacts implements rpc.MasterServer for workers.
func (m *Master) KeepArtifacts(stream rpc.Master_KeepArtifactsServer) error {
	return guard.Do(m.log, "keep artifacts", func() error { return m.depot.Keep(stream) })
}

// ReadArtifacts implements rpc.MasterServer for workers.
func (m *Master) ReadArtifacts(query *rpc.ArtifactQuery, stream rpc.Master_ReadArtifactsServer) error {
	return guard.Do(m.log, "read artifacts", func() error { return m.depot.Read(query, stream) })
}

// Watch implements rpc.MasterServer for apiservers.
func (m *Master) Watch(stream rpc.Master_WatchServer) error { return m.watchers.Watch(stream) }

// Join implements rpc.MasterServer for new nodes.
func (m *Master) Join(ctx context.Context, request *rpc.JoinRequest) (*rpc.JoinResponse, error) {
	if m.Joins == nil {
		return m.UnimplementedMasterServer.Join(ctx, request)
	}
	return m.Joins.Join(ctx, request)
}

// The adapters below join parts that do not know each other.

type hints struct{ m *Master }

func (h hints) Command()                { h.m.intake.Hint() }
func (h hints) Finished(workflow int64) { h.m.finished(workflow) }
func (h hints) Control(instance int64)  { h.m.engine.Nudge(instance); h.m.intake.Hint() }

// hint tells the loops of this master, and through the apiservers the other masters, of rows that it wrote.
func (m *Master) hint(h *rpc.Hint) {
	for _, instance := range h.GetControls() {
		m.engine.Nudge(instance)
	}
	for _, workflow := range h.GetFinished() {
		m.finished(workflow)
	}
	if len(h.GetCommands())+len(h.GetControls()) > 0 {
		m.intake.Hint()
	}
	m.watchers.Hint(h)
}

// finished tells the loops that wait for runs of a workflow that one has ended.
func (m *Master) finished(workflow int64) {
	m.engine.Finished(workflow)
	m.filler.Finished(workflow)
	m.firer.Finished(workflow)
}

type instances struct{ *engine.Engine }

func (i instances) NewTally() failover.Tally { return &engine.Tally{} }

func (i instances) Adopt(claimed []sql.Claimed, t failover.Tally) {
	tally, _ := t.(*engine.Tally) // nil where nobody counts
	i.Engine.Adopt(claimed, tally)
}

type dispatcher struct{ *dispatch.Dispatcher }

func (d dispatcher) Offer(w engine.Work) (rpc.Process, bool) {
	grant, ok := d.Dispatcher.Offer(itemOf(&w))
	return grant.Worker, ok
}

func (d dispatcher) Withdraw(w engine.Work) { d.Dispatcher.Withdraw(itemOf(&w)) }

func itemOf(w *engine.Work) dispatch.Item {
	return dispatch.Item{
		Key: dispatch.Key{Instance: w.Instance, Task: w.Task}, Group: w.Group, Labels: w.Labels, Instant: w.Instant,
		InstancePriority: w.InstancePriority, TaskPriority: w.TaskPriority, ReadyAt: w.ReadyAt, AvoidWorker: w.AvoidWorker,
	}
}
