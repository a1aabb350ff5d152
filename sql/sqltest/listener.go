package sqltest

import (
	"errors"
	"slices"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/sql"
)

// far is later than every moment of the suite.
const far = dag.Millis(1 << 50)

func (b *bench) listener(name string, change ...func(*sql.Listener)) sql.Listener {
	b.t.Helper()
	l := sql.Listener{ProjectID: b.project.ID, Name: name, URL: "https://example.org/" + name, Enabled: true, CreatedBy: "ann"}
	for _, c := range change {
		c(&l)
	}
	out, _, err := b.PutListener(b.ctx, l)
	b.must(err)
	return out
}

// due lists the lanes in which something is to be delivered.
func (b *bench) due(now dag.Millis) []string {
	b.t.Helper()
	lanes, err := b.DueLanes(b.ctx, now, "", 100)
	b.must(err)
	return lanes
}

// seize claims all that is due in the only lane that has any.
func (b *bench) seize(until dag.Millis) []sql.Delivery {
	b.t.Helper()
	lanes := b.due(far)
	if len(lanes) != 1 {
		b.t.Fatalf("lanes: %q, want one", lanes)
	}
	got, err := b.ClaimDeliveries(b.ctx, lanes[0], far, until, 100)
	b.must(err)
	return got
}

func listenersComeAndGo(t *testing.T, b *bench) {
	made, isNew, err := b.PutListener(b.ctx, sql.Listener{
		ProjectID: b.project.ID, Name: "Ops", URL: "https://example.org/a", Secret: []byte("sealed"), Enabled: true, CreatedBy: "ann",
		Filter: listen.Filter{Events: []listen.Kind{listen.Ended}, When: "state == 'failed'"},
	})
	b.must(err)
	if !isNew || made.Name != "Ops" || string(made.Secret) != "sealed" || made.Filter.When == "" || made.CreatedBy != "ann" {
		t.Errorf("made %v: %+v", isNew, made)
	}
	changed, isNew, err := b.PutListener(b.ctx, sql.Listener{ProjectID: b.project.ID, Name: "ops", URL: "https://example.org/b", CreatedBy: "bob"})
	b.must(err)
	if isNew || changed.ID != made.ID || changed.URL != "https://example.org/b" || changed.Enabled || string(changed.Secret) != "sealed" || changed.CreatedBy != "ann" {
		t.Errorf("changed %v: %+v", isNew, changed)
	}
	b.listener("alerts")
	list, _, err := b.Listeners(b.ctx, b.project.ID, sql.Page{})
	b.must(err)
	if len(list) != 2 || list[0].Name != "alerts" || list[1].Name != "ops" {
		t.Errorf("listed %+v", list)
	}
	b.must(b.DeleteListener(b.ctx, b.project.ID, "OPS"))
	if _, err := b.Listener(b.ctx, b.project.ID, "ops"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a deleted listener: %v", err)
	}
	if err := b.DeleteListener(b.ctx, b.project.ID, "ops"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}

func listenersAreBounded(t *testing.T, b *bench) {
	for i := range sql.MaxListeners {
		b.listener(string(rune('a'+i%26)) + string(rune('a'+i/26)))
	}
	if _, _, err := b.PutListener(b.ctx, sql.Listener{ProjectID: b.project.ID, Name: "one more"}); !errors.Is(err, sql.ErrFull) {
		t.Errorf("one over the bound: %v", err)
	}
	b.listener("aa")
}

func listenersHearOfInstances(t *testing.T, b *bench) {
	b.begin() // before there is any listener: nobody hears of it
	l := b.listener("ops")
	b.listener("off", func(l *sql.Listener) { l.Enabled = false })
	o := b.take("m1:a")
	got := b.seize(far)
	if len(got) != 1 || got[0].ListenerID != l.ID || got[0].InstanceID != o.ID || got[0].Seq != -1 || got[0].Workflow != "Daily" {
		t.Fatalf("claimed %+v", got)
	}
	d := got[0]
	if again := b.due(far - 1); len(again) != 0 {
		t.Errorf("what is claimed is due in %q", again)
	}
	d.State, d.Seq = sql.DeliveryIdle, 0
	b.must(b.SaveDelivery(b.ctx, d))
	if lanes := b.due(far); len(lanes) != 0 {
		t.Errorf("idle, and due in %q", lanes)
	}
	b.must(b.commit(b.step(o, 0, dag.TaskReady)))
	got = b.seize(far)
	if len(got) != 1 || got[0].Seq != 0 {
		t.Fatalf("claimed %+v, want what the commit woke", got)
	}
	if events, err := b.Events(b.ctx, o.ID, got[0].Seq, 10); err != nil || len(events) != 1 || events[0].Seq != 1 {
		t.Errorf("events %+v, %v", events, err)
	}
	// An event that comes while a master has the delivery is not forgotten with its idle.
	b.must(b.commit(b.step(o, 0, dag.TaskDispatched)))
	d = got[0]
	d.State, d.Seq, d.NextAt = sql.DeliveryIdle, 1, 5
	b.must(b.SaveDelivery(b.ctx, d))
	if lanes := b.due(5); len(lanes) != 1 {
		t.Errorf("an event came meanwhile, and %q are due", lanes)
	}
	b.must(b.DeleteListener(b.ctx, b.project.ID, "ops"))
	b.begin()
	if list, _, err := b.Deliveries(b.ctx, l.ID, "", sql.Page{}); err != nil || len(list) != 1 {
		t.Errorf("deliveries to a deleted listener: %+v, %v", list, err)
	}
}

func aDeliveryHasOneMaster(t *testing.T, b *bench) {
	b.listener("ops")
	id := b.begin()
	first := b.seize(100)[0]
	if other, err := b.ClaimDeliveries(b.ctx, first.Lane, 99, 200, 10); err != nil || len(other) != 0 {
		t.Errorf("claimed twice: %+v, %v", other, err)
	}
	// The first master dies, or sleeps: from the moment of its claim on, another one may take it.
	second, err := b.ClaimDeliveries(b.ctx, first.Lane, 100, 200, 10)
	b.must(err)
	if len(second) != 1 || second[0].InstanceID != id {
		t.Fatalf("claimed %+v", second)
	}
	first.Seq = 7
	if err := b.SaveDelivery(b.ctx, first); !errors.Is(err, sql.ErrStale) {
		t.Errorf("saved by who lost it: %v", err)
	}
	dead := second[0]
	dead.State, dead.Attempts, dead.Status, dead.Error, dead.Since = sql.DeliveryDead, 16, 503, "the answer has status 503", 50
	b.must(b.SaveDelivery(b.ctx, dead))
	listed, _, err := b.Deliveries(b.ctx, dead.ListenerID, sql.DeliveryDead, sql.Page{})
	b.must(err)
	if len(listed) != 1 || listed[0].Status != 503 || listed[0].Attempts != 16 || listed[0].Error == "" {
		t.Errorf("dead: %+v", listed)
	}
	if l, err := b.Listener(b.ctx, b.project.ID, "ops"); err != nil || l.Dead != 1 {
		t.Errorf("%d dead, %v", l.Dead, err)
	}
	b.must(b.Redeliver(b.ctx, dead.ListenerID, id, true))
	if err := b.Redeliver(b.ctx, dead.ListenerID, id, false); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("what is not dead is delivered again: %v", err)
	}
	if err := b.SaveDelivery(b.ctx, dead); !errors.Is(err, sql.ErrStale) {
		t.Errorf("saved over a redelivery: %v", err)
	}
	if again := b.seize(far); len(again) != 1 || again[0].Seq != dead.Seq+1 || again[0].Attempts != 0 {
		t.Errorf("redelivered with skip: %+v", again)
	}
}

func aReplyBelongsToItsInstance(t *testing.T, b *bench) {
	id := b.begin(func(st *sql.Start) {
		st.Reply = &sql.Reply{URL: "https://example.org/r", Secret: []byte("sealed"), CorrelationID: "order 7", Receiver: "https://example.org", Filter: listen.Filter{Events: listen.ReplyKinds()}}
	})
	b.begin()
	got := b.seize(far)
	if len(got) != 1 || got[0].ListenerID != id || got[0].InstanceID != id {
		t.Fatalf("claimed %+v", got)
	}
	l, err := b.ListenerByID(b.ctx, id)
	b.must(err)
	if l.URL != "https://example.org/r" || string(l.Secret) != "sealed" || l.CorrelationID != "order 7" || !slices.Equal(l.Filter.Events, listen.ReplyKinds()) {
		t.Errorf("reply %+v", l)
	}
	if list, _, err := b.Listeners(b.ctx, b.project.ID, sql.Page{}); err != nil || len(list) != 0 {
		t.Errorf("a reply is listed as a listener: %+v, %v", list, err)
	}
}

func lanesAreFoundOneByOne(t *testing.T, b *bench) {
	for _, name := range []string{"a", "b", "c"} {
		b.listener(name)
	}
	for range 3 {
		b.begin()
	}
	lanes := b.due(far)
	if len(lanes) != 3 {
		t.Fatalf("lanes %q, want 3", lanes)
	}
	if rest, err := b.DueLanes(b.ctx, far, lanes[0], 1); err != nil || len(rest) != 1 || rest[0] != lanes[1] {
		t.Errorf("behind the first: %q, %v", rest, err)
	}
	if _, err := b.ClaimDeliveries(b.ctx, lanes[1], far, far+1, 10); err != nil {
		t.Fatal(err)
	}
	if rest := b.due(far); !slices.Equal(rest, []string{lanes[0], lanes[2]}) {
		t.Errorf("lanes %q, want those that are not claimed", rest)
	}
}

func oldDeliveriesAreSwept(t *testing.T, b *bench) {
	l := b.listener("ops")
	reply := func(st *sql.Start) {
		st.Reply = &sql.Reply{URL: "https://example.org/r", Receiver: "https://example.org"}
	}
	over, open := b.begin(reply), b.begin(reply)
	quiet := func(state sql.DeliveryState, at dag.Millis) {
		t.Helper()
		for _, lane := range b.due(far) {
			got, err := b.ClaimDeliveries(b.ctx, lane, far, 1, 100)
			b.must(err)
			for _, d := range got {
				d.State, d.NextAt = state, at
				b.must(b.SaveDelivery(b.ctx, d))
			}
		}
	}
	claimed := b.claim("m1:a")
	quiet(sql.DeliveryIdle, 1)
	for _, c := range claimed {
		if c.Instance.ID == over {
			in := &dag.Instance{ID: over, State: dag.InstanceSuccess, Round: 1, Seq: 1, Tasks: make([]dag.TaskInstance, 2)}
			b.must(b.commit(sql.Transition{Instance: in, Plan: b.plan, Epoch: c.Instance.OwnerEpoch, Release: true}))
		}
	}
	if n, err := b.Sweep(b.ctx); err != nil || n != 2 {
		t.Errorf("swept %d, %v, want the two of the instance that is over", n, err)
	}
	if _, err := b.ListenerByID(b.ctx, over); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("the reply of the one that is over: %v", err)
	}
	if _, err := b.ListenerByID(b.ctx, open); err != nil {
		t.Errorf("the reply of the other one: %v", err)
	}
	if left, _, err := b.Deliveries(b.ctx, l.ID, "", sql.Page{}); err != nil || len(left) != 1 || left[0].InstanceID != open {
		t.Errorf("left %+v, %v", left, err)
	}
	if n, err := b.Sweep(b.ctx); err != nil || n != 0 {
		t.Errorf("swept %d again, %v", n, err)
	}
}
