// Package master is one of the schedulers of a cluster: it takes the commands of its slots,
// drives their instances, gives ready tasks to workers that ask, and takes over from masters
// that died. It owns the wiring of its loops, each a package of its own below it, and
// the master's membership. It never runs a task, and nothing it holds in memory is missed
// when it dies: cmd builds it, workers and apiservers dial it.
package master

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/master/dispatch"
	"github.com/porpoise/porpoise/master/engine"
	"github.com/porpoise/porpoise/master/failover"
	"github.com/porpoise/porpoise/master/intake"
	"github.com/porpoise/porpoise/master/link"
	"github.com/porpoise/porpoise/master/slot"
	"github.com/porpoise/porpoise/master/watch"
	"github.com/porpoise/porpoise/master/wheel"
	"github.com/porpoise/porpoise/registry"
)

// Store is what the loops of a master use of the store.
type Store interface {
	engine.Store
	intake.Store
	failover.Store
	Sweeper
}

// Config is what a Master needs; fields without a remark are required.
type Config struct {
	Self    rpc.Process
	Cluster string
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

	Store    Store
	Registry registry.Registry
	// Joins gives certificates to new nodes; nil refuses them.
	Joins  *rpc.JoinServer
	Logger hclog.Logger
}

// defaultTTL lets a hung master be replaced within seconds; a wrong takeover costs only work.
const defaultTTL = 5 * time.Second

// Master is one running scheduler. It serves rpc.MasterServer from the moment it is made;
// before Run it has no instances.
type Master struct {
	rpc.UnimplementedMasterServer
	Config
	log      hclog.Logger
	engine   *engine.Engine
	intake   *intake.Intake
	failover *failover.Failover
	links    *link.Links
	watchers *watch.Watchers
	alarms   *wheel.Wheel[engine.Alarm]
	slots    *slot.Table
	placer   *dispatch.Dispatcher
}

// New wires the loops of a master.
func New(c Config) *Master {
	if c.TTL == 0 {
		c.TTL = defaultTTL
	}
	placer := dispatch.New()
	m := &Master{Config: c, log: c.Logger.Named("master"), placer: placer}
	m.alarms = wheel.New(func(alarm engine.Alarm) { m.engine.Fire(alarm) })
	m.watchers = watch.New(hints{m})
	m.links = link.New(link.Config{
		Self: c.Self, Cluster: c.Cluster, Asks: placer, Logger: m.log,
	})
	m.engine = engine.New(engine.Config{
		Owner: c.Self.String(), Store: c.Store, Dispatcher: dispatcher{placer}, Links: m.links,
		Alarms: m.alarms, Publish: m.watchers.Publish, Logger: m.log, Limit: c.Limit, KillGrace: c.KillGrace,
	})
	m.links.Attempts = m.engine
	placer.Deliver = func(g dispatch.Grant) { m.engine.Assign(g.Item.Instance, g.Item.Task, g.Worker) }
	placer.Notify = func(n dispatch.Notice) { m.links.Notify(n.Worker, n.Group, n.Count) }
	m.slots = slot.NewTable(c.Self.Node, c.Slots)
	m.intake = intake.New(intake.Config{
		Owner: c.Self.String(), Store: c.Store, Slots: m.slots, Instances: m.engine, Logger: m.log,
	})
	m.failover = failover.New(failover.Config{
		Self: c.Self, Store: c.Store, Instances: m.engine, Logger: m.log,
	})
	return m
}

// Run schedules until ctx ends, then leaves the registry so that others go on at once.
func (m *Master) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return m.engine.Run(ctx) })
	group.Go(func() error { return m.alarms.Run(ctx) })
	group.Go(func() error { return m.intake.Run(ctx) })
	group.Go(func() error { return m.failover.Run(ctx) })
	group.Go(func() error { return m.member(ctx) })
	group.Go(func() error { return m.watchMasters(ctx) })
	group.Go(func() error { return m.watchWorkers(ctx) })
	group.Go(func() error { return m.periodic(ctx) })
	return group.Wait()
}

// rejoinWait is the pause before a membership that failed is asked for again.
const rejoinWait = 500 * time.Millisecond

// member keeps this master registered. Without a membership it goes on with what it has: others
// may take it over, and the epochs in the store then tell.
func (m *Master) member(ctx context.Context) error {
	self := registry.Member{
		Role: registry.Master, Node: m.Self.Node, Incarnation: m.Self.Incarnation, Address: m.Address,
		Version: m.Version, Weight: max(1, m.Weight), StartedAt: time.Now().UnixMilli(), Takeover: m.Takeover,
	}
	for ctx.Err() == nil {
		session, err := m.Registry.Join(ctx, self, m.TTL)
		if err != nil {
			if ctx.Err() == nil {
				m.log.Warn("not registered, trying again", "error", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(rejoinWait):
			}
			continue
		}
		m.log.Info("registered", "node", m.Self.Node, "incarnation", m.Self.Incarnation, "address", m.Address)
		select {
		case <-ctx.Done():
		case <-session.Lost():
			m.log.Warn("membership lost", "error", session.Err())
		}
		leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWait)
		if err := session.Leave(leave); err != nil {
			m.log.Debug("lease not revoked, it will run out", "error", err)
		}
		cancel()
	}
	return nil
}

// leaveWait bounds the farewell to the registry.
const leaveWait = 2 * time.Second

// watchMasters shares the slots among the registered masters and tells failover who lives.
func (m *Master) watchMasters(ctx context.Context) error {
	views, err := m.Registry.Watch(ctx, registry.Master)
	if err != nil {
		return fmt.Errorf("watch masters: %w", err)
	}
	trust := trust{wait: 2 * m.TTL}
	for view := range views {
		masters := make([]slot.Master, len(view.Members))
		owners := make(map[string]bool, len(view.Members))
		for i, member := range view.Members {
			masters[i] = slot.Master{Node: member.Node, Incarnation: member.Incarnation, Weight: member.Weight}
			owners[rpc.Process{Node: member.Node, Incarnation: member.Incarnation}.String()] = true
		}
		m.slots.Set(masters)
		if trust.absences(view, time.Now()) {
			m.failover.Members(owners)
		}
	}
	return nil
}

// watchWorkers tells the engine which workers are registered.
func (m *Master) watchWorkers(ctx context.Context) error {
	views, err := m.Registry.Watch(ctx, registry.Worker)
	if err != nil {
		return fmt.Errorf("watch workers: %w", err)
	}
	trust := trust{wait: 2 * m.TTL}
	for view := range views {
		present := make(map[string]bool, len(view.Members))
		for _, member := range view.Members {
			present[member.Node] = true
		}
		if trust.absences(view, time.Now()) {
			m.engine.Present(present)
		}
	}
	return nil
}

// trust says whether a member that a view does not list may be called gone. After the registry
// was wiped or set back, everybody first needs two leases of time to come back.
type trust struct {
	wait  time.Duration
	until time.Time
}

func (t *trust) absences(view registry.View, now time.Time) bool {
	if view.Wiped {
		t.until = now.Add(t.wait)
	}
	return !now.Before(t.until)
}

// Work implements rpc.MasterServer for workers.
func (m *Master) Work(stream rpc.Master_WorkServer) error { return m.links.Work(stream) }

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

func (h hints) Command()               { h.m.intake.Hint() }
func (h hints) Control(instance int64) { h.m.engine.Nudge(instance); h.m.intake.Hint() }

type dispatcher struct{ *dispatch.Dispatcher }

func (d dispatcher) Offer(w engine.Work) (rpc.Process, bool) {
	grant, ok := d.Dispatcher.Offer(dispatch.Item{
		Key: dispatch.Key{Instance: w.Instance, Task: w.Task}, Group: w.Group,
		InstancePriority: w.InstancePriority, TaskPriority: w.TaskPriority, ReadyAt: w.ReadyAt,
	})
	return grant.Worker, ok
}

func (d dispatcher) Withdraw(group string, instance int64, task int) {
	d.Dispatcher.Withdraw(group, dispatch.Key{Instance: instance, Task: task})
}
