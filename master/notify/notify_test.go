package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/internal/webhook"
	"github.com/porpoise/porpoise/master/notify"
	"github.com/porpoise/porpoise/sql"
	"github.com/porpoise/porpoise/sql/sqltest"
)

const owner = "m1:a"

// bench is a database with a project, a clock that stands still, and a receiver that notes what it is told.
type bench struct {
	*sql.Store
	t        *testing.T
	key      rpc.ClusterKey
	project  sql.Project
	workflow sql.Workflow
	plan     *dag.Plan
	server   *httptest.Server

	mu   sync.Mutex // guards what follows
	at   time.Time
	told []call
	// answer, where it is set, decides the status of a call; 0 breaks the connection.
	answer func(c call) int
}

// call is what the receiver was told.
type call struct {
	webhook.Event
	path   string
	header http.Header
	body   []byte
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, key: rpc.NewClusterKey(), at: time.UnixMilli(1_700_000_000_000).UTC()}
	store, err := sql.Open(t.Context(), sql.Config{DSN: "sqlite:" + sqltest.SQLite(t), Relaxed: true, Now: b.now})
	b.must(err)
	t.Cleanup(func() { _ = store.Close() })
	b.Store = store
	b.must(store.Migrate(t.Context()))
	b.project, err = store.CreateProject(t.Context(), sql.Project{Name: "Sales"})
	b.must(err)
	b.workflow, _, _, err = store.SaveVersion(t.Context(), sql.SaveVersion{ProjectID: b.project.ID, Name: "Daily", Text: "name: Daily\n", Format: "yaml", By: "ann", Publish: true})
	b.must(err)
	b.plan = &dag.Plan{Definition: &dag.Definition{Name: "Daily", Tasks: []dag.Task{{Name: "extract", Type: "noop"}}}}
	b.server = httptest.NewServer(http.HandlerFunc(b.receive))
	t.Cleanup(b.server.Close)
	return b
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at
}

// pass lets time go by.
func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = b.at.Add(d)
}

func (b *bench) receive(w http.ResponseWriter, r *http.Request) {
	c := call{path: r.URL.Path, header: r.Header}
	c.body, _ = io.ReadAll(r.Body)
	if err := json.Unmarshal(c.body, &c.Event); err != nil {
		b.t.Errorf("body %q: %v", c.body, err)
	}
	b.mu.Lock()
	b.told = append(b.told, c)
	answer := b.answer
	b.mu.Unlock()
	status := http.StatusNoContent
	if answer != nil {
		status = answer(c)
	}
	if status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
}

// heard takes what the receiver was told since the last time.
func (b *bench) heard() []call {
	b.mu.Lock()
	defer b.mu.Unlock()
	told := b.told
	b.told = nil
	return told
}

func ids(calls []call) []string {
	out := []string{}
	for _, c := range calls {
		out = append(out, c.ID)
	}
	return out
}

func (b *bench) notifier(change ...func(*notify.Config)) *notify.Notifier {
	c := notify.Config{Store: b.Store, Sender: &webhook.Sender{Now: b.now}, Secrets: b.key, Logger: hclog.NewNullLogger(), Now: b.now}
	for _, f := range change {
		f(&c)
	}
	return notify.New(c)
}

// turn lets a notifier do all that is due now.
func (b *bench) turn(n *notify.Notifier) {
	b.t.Helper()
	for range 50 {
		b.must(n.Look(b.t.Context()))
		n.Wait()
		if lanes, err := b.DueLanes(b.t.Context(), dag.MillisOf(b.now()), "", 1); err != nil || len(lanes) == 0 {
			b.must(err)
			return
		}
	}
}

func (b *bench) listener(name string, filter listen.Filter) sql.Listener {
	b.t.Helper()
	sealed, err := b.key.Seal([]byte("shared secret"), sql.ListenerSecret(b.project.ID))
	b.must(err)
	l, _, err := b.PutListener(b.t.Context(), sql.Listener{ProjectID: b.project.ID, Name: name, URL: b.server.URL + "/" + name, Secret: sealed, Filter: filter, Enabled: true})
	b.must(err)
	return l
}

// running is an instance that a master drives.
type running struct {
	*dag.Instance
	epoch int64
}

func (b *bench) wish() sql.Start {
	return sql.Start{WorkflowID: b.workflow.ID, ProjectID: b.project.ID, Version: 1, Priority: dag.PriorityMedium, OnFailure: dag.OnFailureContinue, Scope: dag.ScopeOnly, By: "ann"}
}

// run starts an instance and takes it.
func (b *bench) run(change ...func(*sql.Start)) *running {
	b.t.Helper()
	st := b.wish()
	for _, c := range change {
		c(&st)
	}
	id, _, err := b.Start(b.t.Context(), st)
	b.must(err)
	got, err := b.Claim(b.t.Context(), []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id, Kind: sql.CommandStart}, Owner: owner}})
	b.must(err)
	return &running{&dag.Instance{ID: id, State: dag.InstanceSubmitted, Tasks: make([]dag.TaskInstance, 1)}, got[0].Instance.OwnerEpoch}
}

// events commits events of an instance.
func (b *bench) events(in *running, events ...dag.Event) {
	b.t.Helper()
	effects := &dag.Effects{Changed: true, Tasks: []int{0}}
	for _, e := range events {
		in.Seq++
		e.Seq, e.At, e.Round = in.Seq, dag.MillisOf(b.now()), 1
		effects.Events = append(effects.Events, e)
	}
	in.State, in.Round = dag.InstanceRunning, 1
	b.must(b.Commit(b.t.Context(), []sql.Transition{{Instance: in.Instance, Plan: b.plan, Epoch: in.epoch, Effects: effects}})[0])
}

func task(state dag.TaskState, reason dag.Reason) dag.Event {
	return dag.Event{Code: dag.EventTask, Task: 0, Attempt: 1, State: string(state), Reason: reason}
}

func instance(state dag.InstanceState) dag.Event {
	return dag.Event{Code: dag.EventInstance, Task: -1, State: string(state)}
}

func TestAReplyTellsWhatBecomesOfItsStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n := b.notifier()
	in := b.run(func(st *sql.Start) {
		st.Reply = &sql.Reply{URL: b.server.URL + "/reply", CorrelationID: "order 7", Receiver: b.server.URL, Filter: listen.Filter{Events: listen.ReplyKinds()}}
	})
	b.run() // which nobody asks about
	b.turn(n)
	b.events(in, instance(dag.InstanceRunning), task(dag.TaskReady, ""), task(dag.TaskRunning, ""))
	b.turn(n)
	b.events(in, task(dag.TaskFailed, dag.ReasonTimeout), instance(dag.InstanceFailed))
	b.turn(n)
	var told []string
	for _, c := range b.heard() {
		told = append(told, fmt.Sprintf("%s %s %s %s", c.Event.Event, c.State, c.Reason, c.Task))
		if c.CorrelationID != "order 7" || c.path != "/reply" || c.Project != "Sales" || c.Workflow != "Daily" || c.InstanceID != fmt.Sprint(in.ID) ||
			c.header.Get(webhook.EventHeader) != c.ID || c.header.Get(webhook.SignatureHeader) != "" {
			t.Errorf("call %s: %s", c.path, c.body)
		}
	}
	want := []string{"submitted submitted  ", "started running  ", "task_ended failed timeout extract", "ended failed  "}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

func TestAListenerHearsWhatItsFilterPicks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n := b.notifier()
	l := b.listener("ops", listen.Filter{Events: []listen.Kind{listen.TaskTimeout}, Tasks: []string{"extract"}})
	in := b.run()
	b.events(in, instance(dag.InstanceRunning), task(dag.TaskRunning, ""), dag.Event{Code: dag.EventTaskTimeout, Task: 0, Attempt: 1, Warning: true}, task(dag.TaskFailed, dag.ReasonTimeout))
	b.turn(n)
	if calls := b.heard(); len(calls) != 1 || calls[0].Event.Event != listen.TaskTimeout || !calls[0].Warning {
		t.Errorf("told %+v", calls)
	}
	if d, err := b.Delivery(t.Context(), l.ID, in.ID); err != nil || d.State != sql.DeliveryIdle || d.Seq != in.Seq {
		t.Errorf("delivery %+v, %v", d, err)
	}
	l.Enabled = false
	_, _, err := b.PutListener(t.Context(), l)
	b.must(err)
	b.events(in, dag.Event{Code: dag.EventTaskTimeout, Task: 0, Attempt: 2})
	b.turn(n)
	if calls := b.heard(); len(calls) != 0 {
		t.Errorf("a listener that is not enabled was told %+v", calls)
	}
}

func TestAnAlertIsToldOnceAndOfNoInstance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n := b.notifier()
	b.listener("ops", listen.Filter{Events: []listen.Kind{listen.ScheduleBroken}, Schedules: []string{"NIGHTLY"}})
	b.listener("deaf", listen.Filter{Events: []listen.Kind{listen.Ended}})
	sch, _, err := b.SaveSchedule(t.Context(), sql.Schedule{WorkflowID: b.workflow.ID, Name: "nightly", Enabled: true, ChangedBy: "ann"}, -1)
	b.must(err)
	b.must(b.BreakSchedule(t.Context(), sch, "its timezone is gone", owner))
	b.turn(n)
	b.turn(n)
	calls := b.heard()
	if len(calls) != 1 || calls[0].path != "/ops" {
		t.Fatalf("told %+v, want one call", calls)
	}
	e := calls[0].Event
	if e.Event != listen.ScheduleBroken || e.Schedule != "nightly" || e.Workflow != "Daily" || e.Project != "Sales" || e.InstanceID != "" || e.Message != "its timezone is gone" || !e.Warning {
		t.Errorf("told %+v", e)
	}
}

func TestAFailedCallIsRepeatedInOrderAndGivenUpInTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n := b.notifier()
	l := b.listener("ops", listen.Filter{})
	in := b.run()
	b.events(in, instance(dag.InstanceRunning), task(dag.TaskReady, ""))
	var pauses []time.Duration
	b.answer = func(call) int { return http.StatusServiceUnavailable }
	b.turn(n)
	first := b.heard()
	for tries := 1; ; tries++ {
		if tries > 100 {
			t.Fatal("it is never given up")
		}
		d, err := b.Delivery(t.Context(), l.ID, in.ID)
		b.must(err)
		if d.State == sql.DeliveryDead {
			break
		}
		if d.Status != http.StatusServiceUnavailable || d.Error == "" || d.Attempts != tries {
			t.Fatalf("after %d tries: %+v", tries, d)
		}
		pause := d.NextAt.Sub(dag.MillisOf(b.now()))
		pauses = append(pauses, pause)
		b.pass(pause - time.Millisecond)
		b.turn(n)
		if calls := b.heard(); len(calls) != 0 {
			t.Fatalf("called %q before its time", ids(calls))
		}
		b.pass(time.Millisecond)
		b.turn(n)
		if calls := b.heard(); !slices.Equal(ids(calls), ids(first)) {
			t.Fatalf("try %d called %q, want %q again", tries, ids(calls), ids(first))
		}
	}
	if len(pauses) != 15 || pauses[0] != time.Second || pauses[1] != 2*time.Second || pauses[14] != 15*time.Minute {
		t.Errorf("pauses %v", pauses)
	}
	b.pass(24 * time.Hour)
	b.events(in, task(dag.TaskRunning, ""))
	b.answer = nil
	b.turn(n)
	if calls := b.heard(); len(calls) != 0 {
		t.Errorf("given up, and yet told %q", ids(calls))
	}
	b.must(b.Redeliver(t.Context(), l.ID, in.ID, false))
	b.turn(n)
	if got, want := ids(b.heard()), []string{webhook.EventID(in.ID, 0), webhook.EventID(in.ID, 1), webhook.EventID(in.ID, 2), webhook.EventID(in.ID, 3)}; !slices.Equal(got, want) {
		t.Errorf("redelivered %q, want %q", got, want)
	}
}

// dying is a store and a sender whose process dies at a step: from then on nothing that it does has an effect.
type dying struct {
	notify.Store
	sender notify.Sender
	at     int
	step   int
}

var errDead = errors.New("the process is dead")

func (d *dying) dies() bool {
	d.step++
	return d.step >= d.at
}

func (d *dying) ClaimDeliveries(ctx context.Context, lane string, now, until dag.Millis, limit int) ([]sql.Delivery, error) {
	if d.dies() {
		return nil, errDead
	}
	got, err := d.Store.ClaimDeliveries(ctx, lane, now, until, limit)
	if d.dies() {
		return nil, errDead
	}
	return got, err
}

func (d *dying) SaveDelivery(ctx context.Context, row sql.Delivery) error {
	if d.dies() {
		return errDead
	}
	err := d.Store.SaveDelivery(ctx, row)
	if d.dies() {
		return errDead
	}
	return err
}

func (d *dying) Send(ctx context.Context, m webhook.Message) (int, error) {
	if d.dies() {
		return 0, errDead
	}
	status, err := d.sender.Send(ctx, m)
	if d.dies() {
		return 0, errDead
	}
	return status, err
}

func TestNothingIsLostWhereverTheProcessDies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.listener("ops", listen.Filter{Events: []listen.Kind{listen.Submitted, listen.Started, listen.TaskEnded, listen.Ended}})
	for at, done := 1, false; !done; at++ {
		in := b.run()
		b.events(in, instance(dag.InstanceRunning), task(dag.TaskReady, ""), task(dag.TaskSuccess, ""), instance(dag.InstanceSuccess))
		first := &dying{Store: b.Store, sender: &webhook.Sender{Now: b.now}, at: at}
		b.turn(b.notifier(func(c *notify.Config) { c.Store, c.Sender = first, first }))
		done = first.step < at
		told := ids(b.heard())
		b.pass(time.Minute) // the claim of the dead ends
		b.turn(b.notifier())
		told = append(told, ids(b.heard())...)
		if again := len(told) - len(slices.Compact(slices.Clone(told))); again > 1 {
			t.Errorf("death at step %d: %d events were told again: %q", at, again, told)
		}
		want := []string{webhook.EventID(in.ID, 0), webhook.EventID(in.ID, 1), webhook.EventID(in.ID, 3), webhook.EventID(in.ID, 4)}
		if got := slices.Compact(told); !slices.Equal(got, want) {
			t.Errorf("death at step %d: told %q, want %q", at, got, want)
		}
	}
}

func TestASlowReceiverDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.listener("slow", listen.Filter{Events: []listen.Kind{listen.Submitted}})
	b.listener("quick", listen.Filter{Events: []listen.Kind{listen.Submitted}})
	free, open := make(chan struct{}), 0
	quick := make(chan struct{}, 100)
	most := 0
	b.answer = func(c call) int {
		if c.path == "/quick" {
			quick <- struct{}{}
			return http.StatusNoContent
		}
		b.mu.Lock()
		open++
		most = max(most, open)
		b.mu.Unlock()
		<-free
		b.mu.Lock()
		open--
		b.mu.Unlock()
		return http.StatusNoContent
	}
	for range 20 {
		b.run()
	}
	n := b.notifier()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	for range 20 {
		select {
		case <-quick:
		case <-time.After(30 * time.Second):
			t.Fatal("the quick one waits for the slow one")
		}
	}
	close(free)
	stop()
	b.must(<-ended)
	if most == 0 || most > 4 {
		t.Errorf("%d calls to one listener at once, want 1 to 4", most)
	}
}

// counted counts the questions of a notifier to its store.
type counted struct {
	notify.Store
	looks, others int
}

func (c *counted) DueLanes(ctx context.Context, now dag.Millis, after string, limit int) ([]string, error) {
	c.looks++
	return c.Store.DueLanes(ctx, now, after, limit)
}

func (c *counted) ClaimDeliveries(ctx context.Context, lane string, now, until dag.Millis, limit int) ([]sql.Delivery, error) {
	c.others++
	return c.Store.ClaimDeliveries(ctx, lane, now, until, limit)
}

func TestIdleListenersCostOneQuestion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// Replies are bounded by nothing but starts: each is a listener of its own.
	var starts errgroup.Group
	starts.SetLimit(16) // more at once would wait too long for a slow disk
	for i := range 1000 {
		starts.Go(func() error {
			st := b.wish()
			st.Reply = &sql.Reply{URL: b.server.URL, Receiver: fmt.Sprintf("https://host%d.example.org", i), Filter: listen.Filter{Events: []listen.Kind{listen.Ended}}}
			_, _, err := b.Start(t.Context(), st)
			return err
		})
	}
	b.must(starts.Wait())
	b.turn(b.notifier()) // nobody wants to hear that they were submitted
	if calls := b.heard(); len(calls) != 0 {
		t.Fatalf("told %d", len(calls))
	}
	c := &counted{Store: b.Store}
	n := b.notifier(func(cfg *notify.Config) { cfg.Store = c })
	for range 10 {
		b.pass(time.Second)
		b.must(n.Look(t.Context()))
		n.Wait()
	}
	if c.looks != 10 || c.others != 0 {
		t.Errorf("10 looks of 1000 idle replies asked %d and %d times, want 10 and 0", c.looks, c.others)
	}
}

func TestADeadReceiverIsAskedSeldomWhateverWaitsForIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.listener("ops", listen.Filter{Events: []listen.Kind{listen.Submitted}})
	for range 50 {
		b.run()
	}
	b.answer = func(call) int { return 0 }
	n := b.notifier()
	for range 60 {
		b.must(n.Look(t.Context()))
		n.Wait()
		b.pass(time.Second)
	}
	// 4 at first, and then one after 1, 2, 4, 8, 16 and 32 seconds.
	if calls := b.heard(); len(calls) > 4+6 {
		t.Errorf("%d calls in a minute", len(calls))
	}
	b.answer = nil
	b.pass(time.Minute)
	b.turn(n)
	if calls := b.heard(); len(calls) < 1 {
		t.Error("it is back, and hears nothing")
	}
	for range 20 {
		b.pass(time.Minute)
		b.turn(n)
	}
	if lanes, err := b.DueLanes(t.Context(), dag.Millis(1)<<50, "", 1); err != nil || len(lanes) != 0 {
		t.Errorf("still due: %q, %v", lanes, err)
	}
}

func TestTwoMastersTellEachEventOnceAndInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.listener("ops", listen.Filter{})
	var all []*running
	for range 10 {
		all = append(all, b.run())
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for range 2 {
		n := b.notifier()
		go func() { ended <- n.Run(ctx) }()
	}
	const each = 20
	told := make(chan struct{}, 10*(each+1))
	b.mu.Lock()
	early := len(b.told)
	b.answer = func(call) int { told <- struct{}{}; return http.StatusOK }
	b.mu.Unlock()
	for range each {
		for _, in := range all {
			b.events(in, task(dag.TaskRunning, ""))
		}
	}
	for range 10*(each+1) - early {
		select {
		case <-told:
		case <-time.After(30 * time.Second):
			t.Fatalf("%d events were told, want %d", len(b.heard()), 10*(each+1))
		}
	}
	stop()
	b.must(errors.Join(<-ended, <-ended))
	next := map[string]int64{}
	for _, c := range b.heard() {
		if c.Seq != next[c.InstanceID] {
			t.Errorf("instance %s: told %d, want %d", c.InstanceID, c.Seq, next[c.InstanceID])
		}
		next[c.InstanceID] = c.Seq + 1
	}
	for id, n := range next {
		if n != each+1 {
			t.Errorf("instance %s: told up to %d", id, n-1)
		}
	}
}
