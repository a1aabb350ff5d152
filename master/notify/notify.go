// Package notify tells listeners, and whoever asked for a reply at a start, of the events of instances.
//
// It owns the loop that looks for deliveries that are due and the calls themselves: in the order of
// each instance's history, at least once, a bounded number at a time for each receiver, so that a slow
// one delays nobody else. What is told stands in the table of events, and how far somebody was told in the
// table of deliveries: nothing in memory is missed after a crash. Every master runs one; it never changes an instance.
package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/internal/webhook"
	"github.com/porpoise/porpoise/sql"
)

const (
	// lookEvery is how late an event may be told because nobody looked. A look that finds nothing reads one entry
	// of an index.
	lookEvery = 250 * time.Millisecond
	// maxLanes bounds the lanes that one master serves at a time, laneWidth the deliveries of each, and with it the
	// calls to one receiver.
	maxLanes  = 128
	laneWidth = 4
	// window is how many lanes one read returns, maxWindows how many reads one look makes.
	window     = 256
	maxWindows = 16
	// maxTurn bounds the calls about one instance before another one of its lane has its turn.
	maxTurn = 100
	// maxRounds bounds how often a lane takes more work before it makes room for another one.
	maxRounds = 50
	// pageSize bounds the events of one instance in memory.
	pageSize = 100
	// callTimeout bounds one use of the store.
	callTimeout = 10 * time.Second
)

// Store keeps deliveries and what they tell; see sql.Store.
type Store interface {
	DueLanes(ctx context.Context, now dag.Millis, after string, limit int) ([]string, error)
	ClaimDeliveries(ctx context.Context, lane string, now, until dag.Millis, limit int) ([]sql.Delivery, error)
	SaveDelivery(ctx context.Context, d sql.Delivery) error
	ListenerByID(ctx context.Context, id int64) (sql.Listener, error)
	Instance(ctx context.Context, id int64) (sql.InstanceRow, error)
	Alert(ctx context.Context, id int64) (sql.Alert, error)
	ScheduleByID(ctx context.Context, id int64) (sql.Schedule, error)
	Events(ctx context.Context, instanceID, afterSeq int64, limit int) ([]sql.EventRow, error)
	SecretsNamed(ctx context.Context, projectID int64, names []string) (map[string]sql.Secret, error)
}

// Sender calls a receiver once: webhook.Sender is one.
type Sender interface {
	Send(ctx context.Context, m webhook.Message) (status int, err error)
}

// Opener opens what was sealed about something: the cluster's key is one.
type Opener interface {
	Open(sealed, about []byte) ([]byte, error)
}

// Keys opens what was sealed by the key of that id; about must be what it was sealed for.
type Keys interface {
	Open(id string, sealed, about []byte) ([]byte, error)
}

// Config is what a Notifier needs. Secrets opens what listeners have of their own, Keys the secrets of a
// project that they name; nil is none, and a listener that needs it is told nothing.
type Config struct {
	Store   Store
	Sender  Sender
	Secrets Opener
	Keys    Keys
	Logger  hclog.Logger
	Now     func() time.Time
}

// Notifier delivers events. Run, or Look and Wait of one goroutine, drive it.
type Notifier struct {
	Config
	log   hclog.Logger
	after string // where the next look begins; of Look alone

	calls sync.WaitGroup
	mu    sync.Mutex // guards what follows
	lanes lanes
}

// New returns a Notifier.
func New(c Config) *Notifier {
	return &Notifier{Config: c, log: c.Logger.Named("notify"), lanes: lanes{busy: map[string]struct{}{}, resting: map[string]rest{}}}
}

// Run looks for what is due until ctx ends, and returns when all calls under way have.
func (n *Notifier) Run(ctx context.Context) error {
	defer n.Wait()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := n.Look(ctx); err != nil && ctx.Err() == nil {
			n.log.Debug("the store did not tell what is to be delivered", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Look begins all that is due and that there is room for, and does not wait for it.
func (n *Notifier) Look(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	begun := n.after
	for range maxWindows {
		due, err := n.Store.DueLanes(within, n.now(), n.after, window)
		if err != nil {
			return err
		}
		for _, lane := range due {
			n.begin(ctx, lane)
			n.after = lane
		}
		if len(due) == window {
			continue
		}
		if n.after = ""; begun == "" {
			return nil // all lanes were seen
		}
		begun = ""
	}
	return nil
}

// Wait returns when no call is under way.
func (n *Notifier) Wait() { n.calls.Wait() }

func (n *Notifier) now() dag.Millis { return dag.MillisOf(n.Now()) }

// begin serves a lane, unless it is served or rests.
func (n *Notifier) begin(ctx context.Context, lane string) {
	n.mu.Lock()
	width := n.lanes.begin(lane, n.now())
	n.mu.Unlock()
	if width == 0 {
		return
	}
	n.calls.Go(func() {
		failed := true
		// A panic is a failure of this lane: it rests, and the others go on.
		_ = guard.Do(n.log, "lane", func() error {
			failed = n.serve(ctx, lane, width)
			return nil
		})
		n.mu.Lock()
		defer n.mu.Unlock()
		n.lanes.end(lane, failed, n.now())
	})
}

// serve delivers what is due in a lane, some at a time, until nothing is, another lane is to have its turn, or the
// receiver fails; it says whether that is so.
func (n *Notifier) serve(ctx context.Context, lane string, width int) (failed bool) {
	for range maxRounds {
		claimed, err := n.claim(ctx, lane, width)
		if err != nil {
			n.log.Debug("deliveries not claimed", "lane", lane, "error", err)
		}
		if n.together(ctx, claimed) {
			return true
		}
		if len(claimed) < width || ctx.Err() != nil {
			return false
		}
	}
	return false
}

func (n *Notifier) claim(ctx context.Context, lane string, width int) ([]sql.Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	now := n.now()
	return n.Store.ClaimDeliveries(ctx, lane, now, now.Add(leaseTime), width)
}

// together makes the claimed deliveries at a time, and says whether the receiver failed in any.
func (n *Notifier) together(ctx context.Context, claimed []sql.Delivery) (failed bool) {
	var group sync.WaitGroup
	fails := make([]bool, len(claimed))
	for i, d := range claimed {
		group.Go(func() {
			fails[i] = true
			_ = guard.Do(n.log, "delivery", func() error {
				err := n.deliver(ctx, d)
				fails[i] = errors.Is(err, errReceiver)
				if err != nil {
					n.log.Debug("not delivered", "listener", d.ListenerID, "instance", d.InstanceID, "error", err)
				}
				return nil
			})
		})
	}
	group.Wait()
	for _, f := range fails {
		failed = failed || f
	}
	return failed
}

// errReceiver says that a receiver did not take an event. The delivery says why.
var errReceiver = errors.New("not taken")

// deliver tells a listener of what is new in an instance. The delivery is saved after each call: who
// dies in between leaves one event to be told again.
func (n *Notifier) deliver(ctx context.Context, d sql.Delivery) error {
	about, err := n.read(ctx, &d)
	if err != nil {
		return err
	}
	for calls := 0; ; {
		page, err := n.page(ctx, &d, about)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			d.State, d.NextAt = sql.DeliveryIdle, n.now()
			return n.save(ctx, d)
		}
		for i := range page {
			fact := about.fact(&page[i])
			if !about.listener.Enabled || !about.listener.Filter.Wants(&fact) {
				d.Seq = fact.Seq
				continue
			}
			if calls == maxTurn {
				d.NextAt = n.now()
				return n.save(ctx, d)
			}
			calls++
			if d, err = n.tell(ctx, d, about, &fact); err != nil {
				return err
			}
		}
	}
}

// tell calls the receiver, and returns the delivery as it is saved then.
func (n *Notifier) tell(ctx context.Context, d sql.Delivery, about *about, fact *listen.Fact) (sql.Delivery, error) {
	if now := n.now(); d.NextAt.Sub(now) < 2*webhook.Timeout {
		d.NextAt = now.Add(leaseTime) // much was passed over: another master must not take it during the call
		if err := n.save(ctx, d); err != nil {
			return d, err
		}
	}
	event := about.event
	if about.alert.ID != 0 {
		event.Alert(d.InstanceID, fact)
	} else {
		event.Tell(d.InstanceID, fact)
	}
	if err := failpoint.Hit("notify.send.before"); err != nil {
		return d, err
	}
	status, err := n.Sender.Send(ctx, event.To(about.listener.URL, about.secret))
	if err := failpoint.Hit("notify.send.after"); err != nil {
		return d, err
	}
	if err != nil && ctx.Err() != nil {
		d.NextAt = n.now() // this master stops, which is no failure of the receiver: another one goes on
		return d, errors.Join(ctx.Err(), n.save(ctx, d))
	}
	if err != nil {
		d = failed(d, status, err, n.now())
		if d.State == sql.DeliveryDead {
			n.log.Warn("delivery given up", "listener", d.ListenerID, "instance", d.InstanceID, "event", event.ID, "attempts", d.Attempts, "error", d.Error)
		}
		return d, errors.Join(errReceiver, n.save(ctx, d))
	}
	d = took(d, fact.Seq, status, n.now())
	return d, n.save(ctx, d)
}

// save also saves while the master stops: what was told is not told again for nothing.
func (n *Notifier) save(ctx context.Context, d sql.Delivery) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	return n.Store.SaveDelivery(ctx, d)
}

// about is what the events of one delivery have in common.
type about struct {
	listener sql.Listener
	instance sql.InstanceRow
	alert    sql.Alert // where it is about none
	schedule string    // that started it, where the filter asks for that
	secret   []byte
	event    webhook.Event
}

func (a *about) fact(row *sql.EventRow) listen.Fact {
	if a.alert.Kind == listen.TimerFailing || a.alert.Kind == listen.TimerBroken {
		return listen.Fact{Event: row.Event, Kind: a.alert.Kind, Timer: a.alert.Subject}
	}
	if a.alert.ID != 0 {
		return listen.Fact{Event: row.Event, Kind: a.alert.Kind, Workflow: a.alert.Workflow, Schedule: a.alert.Subject}
	}
	return listen.Fact{Event: row.Event, Kind: listen.KindOf(&row.Event), Workflow: a.instance.Workflow, Schedule: a.schedule, TaskName: row.TaskName}
}

// read reads who is told of what. A listener that was deleted is one that is not enabled.
func (n *Notifier) read(ctx context.Context, d *sql.Delivery) (*about, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var a about
	var err error
	if a.listener, err = n.Store.ListenerByID(ctx, d.ListenerID); err != nil && !errors.Is(err, sql.ErrNotFound) {
		return nil, err
	}
	if a.instance, err = n.Store.Instance(ctx, d.InstanceID); errors.Is(err, sql.ErrNotFound) {
		if a.alert, err = n.Store.Alert(ctx, d.InstanceID); err == nil {
			a.instance.Project = a.alert.Project
		}
	}
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return nil, err
	}
	if id, ok := sql.ScheduleOf(a.instance.TriggerKey); ok && len(a.listener.Filter.Schedules) > 0 {
		sch, err := n.Store.ScheduleByID(ctx, id)
		if err != nil && !errors.Is(err, sql.ErrNotFound) {
			return nil, err
		}
		a.schedule = sch.Name
	}
	if len(a.listener.Secret) > 0 {
		if a.secret, err = n.open(ctx, &a.listener); err != nil {
			return nil, errors.Join(err, n.save(ctx, failed(*d, 0, err, n.now()))) // unsigned is worse than not at all
		}
	}
	a.event = webhook.Event{
		Listener: a.listener.Name, CorrelationID: a.listener.CorrelationID, Project: a.instance.Project, ScheduleTime: webhook.Moment(a.instance.ScheduleTime),
	}
	return &a, nil
}

func (n *Notifier) open(ctx context.Context, l *sql.Listener) ([]byte, error) {
	if name, ok := dag.NamedSecret(string(l.Secret)); ok {
		return n.named(ctx, l.ProjectID, name)
	}
	if n.Secrets == nil {
		return nil, errors.New("this master has no key to read the secret with")
	}
	secret, err := n.Secrets.Open(l.Secret, sql.ListenerSecret(l.ProjectID))
	if err != nil {
		return nil, fmt.Errorf("the secret is not readable: %w", err)
	}
	return secret, nil
}

// named is the value that a project's secret has now.
func (n *Notifier) named(ctx context.Context, projectID int64, name string) ([]byte, error) {
	rows, err := n.Store.SecretsNamed(ctx, projectID, []string{name})
	if err != nil {
		return nil, err
	}
	row, ok := rows[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("there is no secret %q any more", name)
	case n.Keys == nil:
		return nil, errors.New("this master has no key to read the project's secrets with")
	}
	value, err := n.Keys.Open(row.KeyID, row.Sealed, row.About())
	if err != nil {
		return nil, fmt.Errorf("the secret %q is not readable: %w", name, err)
	}
	return value, nil
}

// page reads the next events of the instance. The first of all is not in its history.
func (n *Notifier) page(ctx context.Context, d *sql.Delivery, a *about) ([]sql.EventRow, error) {
	if a.alert.ID != 0 {
		if d.Seq >= 0 {
			return nil, nil
		}
		e := dag.Event{Code: dag.EventCode(a.alert.Kind), Task: -1, At: a.alert.CreatedAt, Message: a.alert.Message, By: a.alert.By, Warning: true}
		return []sql.EventRow{{InstanceID: d.InstanceID, Event: e}}, nil
	}
	if d.Seq < 0 {
		return []sql.EventRow{{InstanceID: d.InstanceID, Event: listen.SubmittedEvent(a.instance.CreatedAt, a.instance.CreatedBy)}}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return n.Store.Events(ctx, d.InstanceID, d.Seq, pageSize)
}
