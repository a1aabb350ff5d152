package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/prototext"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/heartbeat"
	"github.com/porpoise/porpoise/worker/journal"
	"github.com/porpoise/porpoise/worker/lease"
	"github.com/porpoise/porpoise/worker/runner"
	"github.com/porpoise/porpoise/worker/task"
)

// bench is a Core with everything around it in the test's hands.
type bench struct {
	t       testing.TB
	core    *Core
	now     time.Time
	boot    time.Duration
	renewed time.Time
	free    float64
	orders  []*runner.Order
	calls   []string // the marks of those that were started
	disk    memory
	trace   strings.Builder
}

// memory is a disk that never fails.
type memory struct{ records []journal.Record }

func (m *memory) Append(records ...journal.Record) error {
	m.records = append(m.records, records...)
	return nil
}

func (m *memory) Rewrite(records []journal.Record) error {
	m.records = records
	return nil
}

func (m *memory) Size() int64 { return int64(len(m.records)) }

func (b *bench) Send(o *runner.Order) {
	b.orders = append(b.orders, o)
	fmt.Fprintln(&b.trace, "runner", prototext.MarshalOptions{}.Format(o))
}

// Start and Cancel are those of calls that are under way until the test says otherwise.
func (b *bench) Start(mark string, _ *rpc.AttemptID, _ *rpc.Dispatch, _ task.Call) {
	b.calls = append(b.calls, mark)
}
func (b *bench) Cancel(string) {}

func (b *bench) LastRenewed() time.Time { return b.renewed }

func (b *bench) Hold(context.Context, time.Duration) (time.Time, error) { return b.now, nil }

// wire is a stream to a master.
type wire struct {
	bench *bench
	node  string
	sent  []*rpc.WorkerMessage
	reset bool
}

func (w *wire) Peer() Peer { return Peer{Node: w.node} }
func (w *wire) Reset()     { w.reset = true }
func (w *wire) Send(m *rpc.WorkerMessage) {
	w.sent = append(w.sent, m)
	fmt.Fprintln(&w.bench.trace, w.node, prototext.MarshalOptions{}.Format(m))
}

// tick takes the last tick that was sent.
func (w *wire) tick() *rpc.Tick {
	for _, m := range slices.Backward(w.sent) {
		if m.Tick != nil {
			return m.Tick
		}
	}
	return nil
}

// reply answers a tick as a healthy owner of everything would.
func reply(t *rpc.Tick) *rpc.MasterMessage {
	r := &rpc.TickReply{Id: t.Id}
	for _, a := range t.Running {
		r.Verdicts = append(r.Verdicts, &rpc.Verdict{Attempt: a.Attempt, Verdict: "ok"})
	}
	return &rpc.MasterMessage{Tick: r}
}

func newBench(t testing.TB, change func(*Config)) *bench {
	t.Helper()
	b := &bench{t: t, now: noon, boot: time.Hour, free: 1}
	cfg := Config{
		Node: "w1", Incarnation: "1", Slots: 100, Leases: true, Membership: b, Now: func() time.Time { return b.now },
		Boot: func() time.Duration { return b.boot }, Load: func() float64 { return 0 }, FreeDisk: func() float64 { return b.free },
	}
	if change != nil {
		change(&cfg)
	}
	core, err := NewCore(cfg, Parts{Calls: b, Disk: func(func(byte, []byte) error) (Disk, error) { return &b.disk, nil }})
	if err != nil {
		t.Fatal(err)
	}
	b.core = core
	core.News(b, &runner.News{Attached: &runner.Attached{}})
	core.Flush()
	return b
}

func (b *bench) pass(d time.Duration) { b.now, b.boot = b.now.Add(d), b.boot+d }

// link opens a stream to a master that answers at once.
func (b *bench) link(node string) *wire {
	w := &wire{bench: b, node: node}
	b.core.Open(w)
	b.core.Flush()
	b.core.Message(w, &rpc.MasterMessage{Welcome: &rpc.Welcome{Master: node}})
	b.core.Flush()
	return w
}

// run dispatches an attempt from a master and lets the runner start it.
func (b *bench) run(w *wire, instance int64) string {
	d := &rpc.Dispatch{
		Attempt: &rpc.AttemptID{InstanceId: instance, Number: 1, Token: fmt.Sprint("t", instance)}, OwnerEpoch: 1,
		Type: "shell", Spec: []byte(`{"script":"true"}`), TaskName: "a", Workflow: "w", Project: "p",
	}
	b.core.Message(w, &rpc.MasterMessage{Dispatches: []*rpc.Dispatch{d}})
	b.core.Flush()
	mark := markOf(d.Attempt)
	b.core.News(b, &runner.News{Started: []*runner.Started{{Mark: mark, Attempt: toRunner(d.Attempt, 1), StartedAt: b.now.UnixMilli()}}})
	b.core.Flush()
	return mark
}

func (b *bench) tick(ws ...*wire) {
	b.core.Tick()
	b.core.Flush()
	for _, w := range ws {
		b.core.Message(w, reply(w.tick()))
	}
	b.core.Flush()
}

// leases is the deadline of each mark as the runner was told; "" is that of all.
func (b *bench) leases() map[string]time.Duration {
	told := map[string]time.Duration{}
	for _, o := range b.orders {
		for _, l := range o.Leases {
			for _, mark := range append(slices.Clone(l.Marks), "")[:max(1, len(l.Marks))] {
				told[mark] = max(told[mark], time.Duration(l.Until))
			}
		}
	}
	return told
}

// T10, requirement F19: a deadline counts from when the tick was sent that its own master has
// answered. Not from the answer, nor from another master's, nor from one that is in doubt about itself.
func TestADeadlineCountsFromTheTickThatTheOwnerAnswered(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	m1, m2 := b.link("m1"), b.link("m2")
	mark := b.run(m1, 1)
	if got := time.Duration(b.orders[len(b.orders)-1].Starts[0].Until); got != b.boot+lease.Length {
		t.Errorf("first deadline in %v, want %v", got-b.boot, lease.Length)
	}
	b.pass(time.Second)
	b.core.Tick()
	b.core.Flush()
	sent := b.boot
	b.pass(800 * time.Millisecond)
	b.core.Message(m1, reply(m1.tick()))
	b.pass(200 * time.Millisecond)
	b.tick(m2)
	if got := b.leases(); got[mark] != sent+lease.Length || got[""] != 0 {
		t.Errorf("deadlines = %v, want that of the tick sent %v ago", got, b.boot-sent)
	}
	for range 4 { // m2 answers on, m1 is in doubt or silent
		b.pass(time.Second)
		b.tick(m2)
		unsure := reply(m1.tick())
		unsure.Tick.Unsure = true
		b.core.Message(m1, unsure)
	}
	b.pass(time.Second)
	b.tick(m2)
	if got := b.leases(); got[mark] != sent+lease.Length {
		t.Errorf("deadline moved by %v without a word of the owner", got[mark]-sent-lease.Length)
	}
	b.renewed = b.now
	b.tick(m2)
	if got := b.leases(); got[""] != b.boot+lease.Length {
		t.Errorf("a renewal of the membership gave %v", got[""]-b.boot)
	}
}

// Requirement F07: a process that is killed again and again before its first second is over keeps what it adopts.
func TestAnAdoptedAttemptIsAskedAboutAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	id := &rpc.AttemptID{InstanceId: 1, Number: 1, Token: "t1"}
	mark := markOf(id)
	b.core.News(b, &runner.News{Attached: &runner.Attached{Running: []*runner.Started{{Mark: mark, Attempt: toRunner(id, 1), StartedAt: 5}}}})
	b.core.Flush()
	m1 := b.link("m1")
	tick := m1.tick()
	if tick == nil || len(tick.Running) != 1 {
		t.Fatalf("the first tick = %v, want one at once that names the attempt", tick)
	}
	b.core.Message(m1, reply(tick))
	b.core.Flush()
	if got := b.leases()[mark]; got != b.boot+lease.Length {
		t.Errorf("deadline in %v after the first answer, want %v", got-b.boot, lease.Length)
	}
}

// Requirement F13: what was renewed before the machine slept counts as from before.
func TestASleepOfTheMachineIsNoEvidence(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	m1 := b.link("m1")
	b.run(m1, 1)
	b.renewed = b.now
	b.tick(m1)
	b.now, b.boot = b.now.Add(10*time.Millisecond), b.boot+time.Minute // asleep
	b.renewed = b.now.Add(-5 * time.Millisecond)
	b.tick()
	if got := b.leases()[""]; got == 0 || got > b.boot-50*time.Second {
		t.Errorf("deadline %v from now, want long past", got-b.boot)
	}
}

func TestAnAttemptThatWasLongOnItsWayIsNotStarted(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	m1 := b.link("m1")
	b.pass(lease.Length)
	d := &rpc.Dispatch{Attempt: &rpc.AttemptID{InstanceId: 1, Number: 1, Token: "t1"}, OwnerEpoch: 1, Type: "noop", Spec: []byte("{}")}
	b.core.Message(m1, &rpc.MasterMessage{Dispatches: []*rpc.Dispatch{d}})
	b.core.Flush()
	last := m1.sent[len(m1.sent)-1]
	if len(last.Reports) != 1 || last.Reports[0].State != "returned" || len(b.orders) != 0 {
		t.Errorf("sent %v, orders %v, want it returned", last, b.orders)
	}
}

// Requirement H1, F19: an attempt of which no master has spoken for the timeout is asked about
// everywhere, and the answer to its report decides.
func TestAnAttemptWithoutAVerdictIsAskedAbout(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	m1, m2 := b.link("m1"), b.link("m2")
	mark := b.run(m1, 1)
	ack := func(w *wire, verdict string) {
		for _, m := range w.sent {
			for _, r := range m.Reports {
				b.core.Message(w, &rpc.MasterMessage{Acks: []*rpc.Ack{{OutboxId: r.OutboxId, Verdict: verdict}}})
			}
		}
	}
	ack(m1, "ok")
	for range 17 { // m1 answers without a verdict
		b.pass(time.Second)
		b.core.Tick()
		b.core.Flush()
		b.core.Message(m1, &rpc.MasterMessage{Tick: &rpc.TickReply{Id: m1.tick().Id}})
		b.core.Message(m2, &rpc.MasterMessage{Tick: &rpc.TickReply{Id: m2.tick().Id}})
	}
	again := 0
	for _, w := range []*wire{m1, m2} {
		for _, m := range w.sent[1:] {
			again += len(m.Reports)
		}
	}
	if again < 2 {
		t.Errorf("%d reports of an attempt that nobody spoke of, want it told again", again)
	}
	ack(m1, "stale")
	ack(m2, "stale")
	b.core.Flush()
	var stopped []string
	for _, o := range b.orders {
		for _, s := range o.Stops {
			stopped = append(stopped, s.Mark)
		}
	}
	if !slices.Equal(stopped, []string{mark}) {
		t.Errorf("stopped = %v, want the attempt that nobody wants, once", stopped)
	}
}

// T17, requirement H2: a worker without any attempt ticks each second, whatever the period of the beats.
func TestAnIdleWorkerTicksEachSecond(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) {
		c.Heartbeat = heartbeat.Settings{Period: 100 * time.Millisecond, Timeout: 15 * time.Second}
	})
	m1 := b.link("m1")
	for range 50 {
		b.pass(100 * time.Millisecond)
		b.core.Tick()
		b.core.Flush()
		if m := m1.sent[len(m1.sent)-1]; m.Tick != nil {
			b.core.Message(m1, reply(m.Tick))
		}
	}
	ticks := 0
	for _, m := range m1.sent {
		if m.Tick != nil {
			ticks++
		}
	}
	if ticks < 5 || ticks > 6 {
		t.Errorf("%d ticks in five seconds, want one each", ticks)
	}
}

// T14: the wall clock may jump by a day: nothing that counts time looks at it.
func TestAJumpOfTheWallClockChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	m1 := b.link("m1")
	mark := b.run(m1, 1)
	for _, jump := range []time.Duration{24 * time.Hour, -48 * time.Hour} {
		b.now = b.now.Add(jump)
		b.pass(time.Second)
		b.tick(m1)
	}
	f := b.core.Figures()
	if got := b.leases()[mark]; got != b.boot+lease.Length || f.Heartbeat.OldestMs > 1000 || f.Heartbeat.Lapsed != 0 || m1.reset {
		t.Errorf("deadline in %v, figures %v, link reset %v", got-b.boot, f, m1.reset)
	}
}

func TestACallThatIsSoonOverIsToldOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		lasts bool
		told  []string
	}{{"a call that is soon over", false, []string{"success"}}, {"one that takes a while", true, []string{"running", "success"}}} {
		b := newBench(t, nil)
		w := b.link("m1")
		b.core.Message(w, &rpc.MasterMessage{Dispatches: []*rpc.Dispatch{{
			Attempt: &rpc.AttemptID{InstanceId: 1, Number: 1, Token: "t1"}, OwnerEpoch: 1, Type: "http", Spec: []byte(`{"url":"http://a"}`), TaskName: "a",
		}}})
		b.core.Flush()
		if len(b.calls) != 1 {
			t.Fatalf("%s: %d calls began", c.what, len(b.calls))
		}
		if c.lasts {
			b.core.CallLasts(b.calls[0])
			b.core.Flush()
		}
		b.core.CallDone(b.calls[0], task.Result{}, 0, nil)
		b.core.Flush()
		var told []string
		for _, m := range w.sent {
			for _, r := range m.Reports {
				told = append(told, r.State)
			}
		}
		if !slices.Equal(told, c.told) {
			t.Errorf("%s: told as %v, want %v", c.what, told, c.told)
		}
	}
}

// Requirement F63: under 5 % of free disk no work is asked for, over 10 % again.
func TestANearlyFullDiskTakesNoWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	m1 := b.link("m1")
	asked := func() (n int32) {
		for _, m := range m1.sent {
			n += m.Ask - m.Recall
		}
		return n
	}
	for _, step := range []struct {
		free float64
		want int32
	}{{0.5, 100}, {0.04, 0}, {0.08, 0}, {0.11, 100}, {0.06, 100}} {
		b.free = step.free
		b.pass(3 * time.Second)
		b.tick(m1)
		if recall := m1.sent[len(m1.sent)-1].Recall; recall > 0 {
			b.core.Message(m1, &rpc.MasterMessage{Unused: recall})
			b.core.Flush()
		}
		if got := asked(); got != step.want {
			t.Errorf("with %.2f free %d are asked for, want %d", step.free, got, step.want)
		}
	}
}

// Requirement W23: a drain gives back what it does not wait for, as no failure, and ends by Resume.
func TestADrainByRequestGivesBackAndEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	m1 := b.link("m1")
	mark := b.run(m1, 1)
	b.core.Drain("kernel update", 5*time.Second)
	b.core.Flush()
	if got := m1.sent[len(m1.sent)-1]; got.Draining != "kernel update" || got.Recall == 0 {
		t.Errorf("sent %v, want the reason and a recall", got)
	}
	stops := func() (n int) {
		for _, o := range b.orders {
			for _, s := range o.Stops {
				if s.Mark == mark && s.GiveBack {
					n++
				}
			}
		}
		return n
	}
	b.pass(4 * time.Second)
	b.tick(m1)
	if stops() != 0 {
		t.Error("given back too soon")
	}
	b.pass(time.Second)
	b.tick(m1)
	b.pass(time.Second)
	b.tick(m1)
	if stops() != 1 {
		t.Errorf("given back %d times, want once", stops())
	}
	b.core.Resume()
	b.core.Message(m1, &rpc.MasterMessage{Unused: 100})
	b.core.Flush()
	if got := b.core.Figures(); got.Draining != "" || got.FreeSlots == 0 {
		t.Errorf("figures after the end = %v", got)
	}
}

// Equal calls have equal effects in equal order: the simulator replays by that.
func TestEqualStepsHaveEqualEffects(t *testing.T) {
	t.Parallel()
	trace := func() string {
		b := newBench(t, nil)
		m1, m2 := b.link("m1"), b.link("m2")
		for i := range int64(40) {
			b.run([]*wire{m1, m2}[i%2], i+1)
		}
		for range 8 {
			b.pass(time.Second)
			b.tick(m1, m2)
		}
		b.core.Closed(m2)
		b.link("m2")
		b.core.RunnerGone(b)
		b.core.News(b, &runner.News{Attached: &runner.Attached{}})
		b.core.Flush()
		b.core.Leave()
		b.core.Flush()
		return strings.ReplaceAll(b.trace.String(), "  ", " ") // prototext varies its spaces on purpose
	}
	if first, second := trace(), trace(); first != second {
		t.Errorf("two runs differ:\n%s\n---\n%s", first, second)
	}
}

// A master calls an attempt lost that the worker's new process does not name. What is over, and only
// waits to be told, is not lost.
func TestAHelloNamesWhatIsOverAndNotAcked(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(*Config) {})
	m1 := b.link("m1")
	mark := b.run(m1, 1)
	b.core.News(b, &runner.News{Exits: []*runner.Exit{{
		Mark: mark, Attempt: &runner.Attempt{InstanceId: 1, Number: 1, Token: "t1", OwnerEpoch: 1}, State: "success", FinishedAt: b.now.UnixMilli(),
	}}})
	b.core.Flush()
	named := func() (n int) {
		w := b.link("m2")
		for _, m := range w.sent {
			n += len(m.GetHello().GetRunning())
		}
		return n
	}
	if n := named(); n != 1 {
		t.Errorf("a hello names %d attempts while a success waits, want 1", n)
	}
	var ids []int64
	for _, m := range m1.sent {
		for _, r := range m.Reports {
			ids = append(ids, r.OutboxId)
		}
	}
	b.core.Message(m1, &rpc.MasterMessage{Acks: []*rpc.Ack{{OutboxId: ids[len(ids)-1], Verdict: "ok"}}})
	b.core.Flush()
	if n := named(); n != 0 {
		t.Errorf("a hello names %d attempts after the ack, want none", n)
	}
}

// Requirement F67: a worker that leaves takes its asks back and gives back what one of them had brought about
// already. A dispatch that reached nobody would be called lost by its master.
func TestALeavingWorkerWaitsForWhatItAskedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.KeepTasks = true })
	m1 := b.link("m1")
	b.core.Leave()
	b.core.Flush()
	if got := m1.sent[len(m1.sent)-1]; got.Recall != 100 || b.core.Left() {
		t.Fatalf("sent %v, left %v; want all 100 asks recalled first", got, b.core.Left())
	}
	b.core.Message(m1, &rpc.MasterMessage{Unused: 99})
	b.core.Flush()
	// What an earlier owner had sent uses no ask of its new one.
	b.core.Message(m1, &rpc.MasterMessage{Dispatches: []*rpc.Dispatch{{Attempt: &rpc.AttemptID{InstanceId: 2, Number: 1, Token: "u"}, Again: true}}})
	b.core.Flush()
	for _, m := range m1.sent {
		for _, r := range m.Reports {
			b.core.Message(m1, &rpc.MasterMessage{Acks: []*rpc.Ack{{OutboxId: r.OutboxId, Verdict: "ok"}}})
		}
	}
	b.core.Flush()
	if b.core.Left() {
		t.Fatal("left although one ask has become a dispatch")
	}
	late := &rpc.AttemptID{InstanceId: 1, Number: 1, Token: "t"}
	b.core.Message(m1, &rpc.MasterMessage{Dispatches: []*rpc.Dispatch{{Attempt: late, OwnerEpoch: 1, Type: "shell", Spec: []byte(`{"script":"true"}`)}}})
	b.core.Flush()
	reports := m1.sent[len(m1.sent)-1].Reports
	if len(reports) != 1 || reports[0].State != "returned" || b.core.Left() {
		t.Fatalf("reports = %v, left %v; want the attempt given back first", reports, b.core.Left())
	}
	b.core.Message(m1, &rpc.MasterMessage{Acks: []*rpc.Ack{{OutboxId: reports[0].OutboxId, Verdict: "ok"}}})
	b.core.Flush()
	if !b.core.Left() {
		t.Error("not left although everything is answered")
	}
}

// A task that was handed to the runner is the runner's when it has said so, not before.
func TestALeavingWorkerWaitsForTheRunnersWord(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.KeepTasks = true })
	m1 := b.link("m1")
	d := &rpc.Dispatch{Attempt: &rpc.AttemptID{InstanceId: 1, Number: 1, Token: "t"}, OwnerEpoch: 1, Type: "shell", Spec: []byte(`{"script":"true"}`)}
	b.core.Message(m1, &rpc.MasterMessage{Dispatches: []*rpc.Dispatch{d}})
	b.core.Leave()
	b.core.Flush()
	b.core.Message(m1, &rpc.MasterMessage{Unused: 99})
	b.core.Flush()
	if b.core.Left() {
		t.Fatal("left before the runner has the task")
	}
	b.core.News(b, &runner.News{Started: []*runner.Started{{Mark: markOf(d.Attempt), Attempt: toRunner(d.Attempt, 1), StartedAt: b.now.UnixMilli()}}})
	b.core.Flush()
	for id := range b.core.outbox.items {
		b.core.Message(m1, &rpc.MasterMessage{Acks: []*rpc.Ack{{OutboxId: id, Verdict: "ok"}}})
	}
	b.core.Flush()
	if !b.core.Left() || b.core.Keeps() != 1 {
		t.Errorf("left %v with %d attempts kept, want the one", b.core.Left(), b.core.Keeps())
	}
}
