package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
)

const (
	// fleetGroup is the worker group that only the simulated workers serve.
	fleetGroup = "fleet"
	handSlots  = 4
	handLeave  = 1024 // for tasks that take no slot, as a worker gives
	tickEvery  = time.Second
	fleetRest  = 10 * time.Second
	// joiners join at once; a token of the API lets so many in.
	joiners, joinUses = 8, 100
	// fleetMemory and fleetRestCPU bound the master of a thousand workers.
	fleetMemory  = 512 << 20
	fleetRestCPU = 0.5
	// fewHands have the same work for comparison; a task may cost fleetBar times of what it does with them. It costs more, since of a
	// thousand each gets one at a time, in a message of its own, where few get several in one.
	fewHands = 8
	fleetBar = 2.0
)

// thousand measures one master with a thousand workers: at rest, and at work.
func (m *measure) thousand(ctx context.Context) error {
	return m.cluster(ctx, site.Options{Masters: 1, Workers: 1}, func(s *site.Site) error {
		tasks := crowd.Chain(nodeTasks, "noop", "")
		for i := range tasks {
			tasks[i].Group = fleetGroup
		}
		if err := place(s, "fleet").Save(ctx, tasks, nil); err != nil {
			return err
		}
		few, err := muster(ctx, s, "few", fewHands)
		if err != nil {
			return err
		}
		_, fewCost, err := m.handed(ctx, s)
		if err = errors.Join(err, few.dismiss()); err != nil {
			return err
		}
		progress("%d simulated workers join", m.fleet)
		f, err := muster(ctx, s, "hand", m.fleet)
		if err != nil {
			return err
		}
		master := s.Part("master-1")
		before, err := master.Cost()
		if err != nil {
			return errors.Join(err, f.dismiss())
		}
		if err := crowd.Pause(ctx, fleetRest); err != nil {
			return errors.Join(err, f.dismiss())
		}
		after, err := master.Cost()
		if err != nil {
			return errors.Join(err, f.dismiss())
		}
		share := figures.Per(after.CPU-before.CPU, fleetRest)
		rate, cost, err := m.handed(ctx, s)
		if err != nil {
			return errors.Join(err, f.dismiss())
		}
		end, err := master.Cost()
		if err != nil {
			return errors.Join(err, f.dismiss())
		}
		m.add(figures.Row{
			What: fmt.Sprintf("a master with %d simulated workers at rest, each of which ticks every second: share of a core", m.fleet), Ours: fmt.Sprintf("%.1f %%", 100*share),
			Bar: fmt.Sprintf("<= %.0f %%", 100*fleetRestCPU), Missed: share > fleetRestCPU, Value: share,
		}, figures.Row{
			What:  fmt.Sprintf("noop tasks per second of %d workflows of %d tasks on these, the processor time of each (product and database server), and workers that had some", nodeWorkflows, nodeTasks),
			Limit: fmt.Sprintf("%.3f ms (of each with %d such workers)", fewCost, fewHands), Ours: fmt.Sprintf("%.0f/s, %.3f ms, %d", rate, cost, f.busy()), N: m.runs,
			Ratio: cost / fewCost, Bar: fmt.Sprintf("ratio <= %.1f", fleetBar), Missed: cost > fleetBar*fewCost, Value: rate,
		}, figures.Row{
			What: "resident memory of that master after it", Ours: fmt.Sprintf("%d MiB", end.RSS>>20), Bar: fmt.Sprintf("<= %d MiB", fleetMemory>>20), Missed: end.RSS > fleetMemory, Value: float64(end.RSS >> 20),
		})
		return f.dismiss()
	})
}

// handed runs the workflows on the simulated workers, and returns the tasks a second and the milliseconds of processor time of one.
func (m *measure) handed(ctx context.Context, s *site.Site) (rate, cost float64, err error) {
	var rates, costs []float64
	c := crowd.Crowd{Site: s, Project: project, Workflow: "fleet", Callers: nodeCallers}
	for range m.runs {
		of, err := c.Run(ctx, 0, nodeWorkflows)
		if err != nil {
			return 0, 0, err
		}
		product, server, _ := of.Each()
		rates, costs = append(rates, of.Rate()*nodeTasks), append(costs, (product+server)/nodeTasks)
	}
	return figures.Median(rates), figures.Median(costs), nil
}

// fleet is the simulated workers.
type fleet struct {
	hands  []*hand
	stop   context.CancelFunc
	serves errgroup.Group
}

// muster lets n workers of such names join the site's first master. They have certificates and streams as any worker has.
func muster(ctx context.Context, s *site.Site, name string, n int) (*fleet, error) {
	nodes, err := s.Client.Masters(ctx)
	if err != nil || len(nodes) == 0 {
		return nil, fmt.Errorf("find the master: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &fleet{hands: make([]*hand, n), stop: cancel}
	var tokens []string
	for range (n + joinUses - 1) / joinUses {
		token, err := s.Client.CreateJoinToken(ctx, client.NewJoinToken{Role: string(registry.Worker), Uses: joinUses})
		if err != nil {
			cancel()
			return nil, err
		}
		tokens = append(tokens, token.Token)
	}
	joining, within := errgroup.WithContext(ctx)
	joining.SetLimit(joiners)
	for i := range f.hands {
		joining.Go(func() error {
			node := fmt.Sprintf("%s-%d", name, i)
			certificate, err := rpc.Join(within, nodes[0].Address, tokens[i/joinUses], node, registry.Worker)
			if err != nil {
				return err
			}
			f.hands[i] = &hand{node: node}
			return f.hands[i].dial(ctx, nodes[0].Address, certificate)
		})
	}
	if err := joining.Wait(); err != nil {
		return nil, errors.Join(err, f.dismiss())
	}
	for _, h := range f.hands {
		f.serves.Go(func() error { return h.serve(ctx) })
		f.serves.Go(func() error { return h.tick(ctx) })
	}
	return f, nil
}

// dismiss ends all of them; one that had lost its stream before is an error.
func (f *fleet) dismiss() error {
	f.stop()
	err := f.serves.Wait()
	for _, h := range f.hands {
		if h != nil && h.conn != nil {
			_ = h.conn.Close()
		}
	}
	return err
}

// busy is how many of them had a task.
func (f *fleet) busy() (n int) {
	for _, h := range f.hands {
		if h.ran.Load() > 0 {
			n++
		}
	}
	return n
}

// hand is one simulated worker: every attempt succeeds at once.
type hand struct {
	node string
	conn *grpc.ClientConn
	ran  atomic.Int64

	mu     sync.Mutex // guards sending
	stream rpc.Master_WorkClient
}

func (h *hand) dial(ctx context.Context, address string, certificate *rpc.Certificate) (err error) {
	if h.conn, err = rpc.Dial(ctx, address, certificate.Credentials(registry.Master)); err != nil {
		return err
	}
	if h.stream, err = rpc.NewMasterClient(h.conn).Work(ctx); err != nil {
		return fmt.Errorf("%s: %w", h.node, err)
	}
	return h.send(&rpc.WorkerMessage{
		Hello: &rpc.Hello{Worker: h.node, Incarnation: "1", Groups: []string{fleetGroup}, Slots: handSlots, TaskTypes: []string{"noop"}}, Ask: handSlots, Instants: handLeave,
	})
}

func (h *hand) send(m *rpc.WorkerMessage) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stream.Send(m)
}

// serve answers until ctx ends.
func (h *hand) serve(ctx context.Context) error {
	for {
		m, err := h.stream.Recv()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", h.node, err)
		}
		answer := &rpc.WorkerMessage{}
		for _, d := range m.GetDispatches() {
			now := time.Now().UnixMilli()
			answer.Reports = append(answer.Reports, &rpc.Report{OutboxId: h.ran.Add(1), Attempt: d.GetAttempt(), State: "success", StartedAt: now, FinishedAt: now})
			answer.Instants++ // a noop takes no slot
		}
		if answer.Instants == 0 {
			continue
		}
		if err := h.send(answer); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s: %w", h.node, err)
		}
	}
}

// tick renews the link each second until ctx ends.
func (h *hand) tick(ctx context.Context) error {
	for id := int64(1); crowd.Pause(ctx, tickEvery) == nil; id++ {
		if err := h.send(&rpc.WorkerMessage{Tick: &rpc.Tick{Id: id, FreeSlots: handSlots}}); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s: %w", h.node, err)
		}
	}
	return nil
}
