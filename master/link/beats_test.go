package link

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/rpc"
)

// engine answers nothing until the test does, and wants every attempt.
type engine struct{ answers []func(verdict, owner string) }

func (*engine) Hello(rpc.Process, []*rpc.Running) {}
func (*engine) Heard(string)                      {}
func (*engine) Bye(rpc.Process)                   {}
func (*engine) Check(*rpc.Running) string         { return "ok" }
func (e *engine) Report(_ context.Context, _ *rpc.Report, answer func(verdict, owner string)) {
	e.answers = append(e.answers, answer)
}

type noAsks struct{}

func (noAsks) Join(rpc.Process, []string, map[string]string) {}
func (noAsks) Leave(rpc.Process)                             {}
func (noAsks) Ask(rpc.Process, int)                          {}
func (noAsks) AskInstant(rpc.Process, int)                   {}
func (noAsks) Recall(rpc.Process, int) int                   { return 0 }

// newTestLinks serves workers whose messages the test makes.
func newTestLinks(now *time.Time) (*Links, *engine) {
	e := &engine{}
	return New(Config{
		Attempts: e, Asks: noAsks{}, Logger: hclog.NewNullLogger(), Now: func() time.Time { return *now },
	}), e
}

func (l *Links) openTest(node string) *Link {
	return l.Open(&rpc.Hello{Worker: node, Incarnation: "1"}, func(error) {})
}

// beat names n attempts and counts the verdicts by their words.
func beat(l *Links, open *Link, n int) map[string]int {
	tick := &rpc.Tick{Id: 1}
	for i := range n {
		tick.Running = append(tick.Running, &rpc.Running{Attempt: &rpc.AttemptID{InstanceId: int64(i)}})
	}
	l.Hear(context.Background(), open, &rpc.WorkerMessage{Tick: tick})
	words := map[string]int{}
	for _, v := range open.Take().GetTick().GetVerdicts() {
		words[v.Verdict]++
	}
	return words
}

// Requirement H17: a worker that runs wild is put off, and nobody else with it.
func TestOneWorkersBeatsNeverPutOffAnothers(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	l, _ := newTestLinks(&now)
	wild, calm := l.openTest("wild"), l.openTest("calm")
	put := 0
	for range 100 {
		put += beat(l, wild, 1000)[VerdictThrottled]
		if got := beat(l, calm, 5); got["ok"] != 5 {
			t.Fatalf("beats of the calm one = %v", got)
		}
		now = now.Add(10 * time.Millisecond)
	}
	if put < 90_000 {
		t.Errorf("%d of 100000 beats in a second were put off", put)
	}
	now = now.Add(10 * time.Second)
	if got := beat(l, wild, 200); got["ok"] != 200 {
		t.Errorf("beats after a pause = %v", got)
	}
}

// Reports change rows; beats wait while too many of those do.
func TestBeatsArePutOffWhileTooManyReportsWait(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	l, e := newTestLinks(&now)
	busy, calm := l.openTest("busy"), l.openTest("calm")
	for range 2 { // sent again they count once
		m := &rpc.WorkerMessage{}
		for id := range int64(crowded*maxInbox + 1) {
			m.Reports = append(m.Reports, &rpc.Report{OutboxId: id + 1})
		}
		l.Hear(context.Background(), busy, m)
	}
	if got := beat(l, calm, 3); got[VerdictThrottled] != 3 {
		t.Errorf("beats with a full inbox = %v", got)
	}
	e.answers[0]("ok", "")
	if got := beat(l, calm, 3); got["ok"] != 3 {
		t.Errorf("beats with room in the inbox = %v", got)
	}
	e.answers[0]("ok", "")
	l.Close(busy)
	for _, answer := range e.answers {
		answer("ok", "")
	}
	if n := l.waiting.Load(); n != 0 {
		t.Errorf("%d reports wait after all were answered or their link was closed", n)
	}
}

func TestAMasterInDoubtGivesNoEvidence(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	l, _ := newTestLinks(&now)
	open := l.openTest("w1")
	for _, unsure := range []bool{true, false} {
		l.Unsure = func() bool { return unsure }
		l.Hear(context.Background(), open, &rpc.WorkerMessage{Tick: &rpc.Tick{Id: 7}})
		if got := open.Take().GetTick(); got.GetUnsure() != unsure || got.GetId() != 7 {
			t.Errorf("reply = %v", got)
		}
	}
}

// Attack A1d: what is heard under the name of an older incarnation goes nowhere.
func TestAnOlderLinkOfAWorkerIsEnded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	l, _ := newTestLinks(&now)
	var ended []string
	for _, name := range []string{"first", "second"} {
		l.Open(&rpc.Hello{Worker: "w1", Incarnation: name}, func(err error) { ended = append(ended, fmt.Sprint(name, errors.Is(err, errReplaced))) })
	}
	if fmt.Sprint(ended) != "[firsttrue]" {
		t.Errorf("ended = %v", ended)
	}
}
