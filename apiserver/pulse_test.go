package apiserver

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/sql"
)

// fixedBalancer knows the layout of fixedCluster.
type fixedBalancer struct{}

func (fixedBalancer) Rebalance(_ context.Context, _ string, epoch int64, _ dag.Millis) error {
	if epoch != 3 {
		return registry.ErrConflict
	}
	return nil
}

// theDemo has one process, which is killed once.
type theDemo struct{ killed string }

func (d *theDemo) Nodes() []string { return []string{"m1"} }

func (d *theDemo) Kill(node string) error {
	if node != "m1" {
		return sql.ErrNotFound
	}
	d.killed = node
	return nil
}

func TestOnlyADemoHasARouteThatKills(t *testing.T) {
	t.Parallel()
	const path, body = "/api/v1/cluster/demo/kill", `{"node":"m1"}`
	plain := newBench(t)
	plain.signInAs(adminName, plain.pass)
	plain.must(404, "POST", path, body)
	demo := &theDemo{}
	b := newBench(t, func(c *Config) { c.Demo = demo })
	b.seed("alpha")
	viewer := b.person("vera", "alpha", roleViewer, false)
	if w := b.do(asked{method: "POST", path: path, body: body, token: viewer}); w.Code != 403 || demo.killed != "" {
		t.Errorf("a viewer killed %q: %d", demo.killed, w.Code)
	}
	b.signInAs(adminName, b.pass)
	b.must(404, "POST", path, `{"node":"m9"}`)
	b.must(204, "POST", path, body)
	if demo.killed != "m1" {
		t.Errorf("killed %q", demo.killed)
	}
	if p := decode[Pulse](t, b.must(200, "GET", "/api/v1/cluster/pulse", "")); len(p.Demo) != 1 {
		t.Errorf("the pulse has the demo %v", p.Demo)
	}
}

func TestSettingsAreForAdmins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	viewer := b.person("vera", "alpha", roleViewer, false)
	if w := b.do(asked{method: "GET", path: "/api/v1/cluster/settings", token: viewer}); w.Code != 403 {
		t.Errorf("a viewer reads settings: %d", w.Code)
	}
}

func TestWhatRunsInOtherProjectsIsOnlyCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("beta")
	b.assign(b.seed("alpha"))
	viewer := b.person("vera", "beta", roleViewer, false)
	w := b.do(asked{method: "GET", path: "/api/v1/cluster/tasks", token: viewer})
	if got := decode[RunningTasks](t, w); len(got.Items) != 0 || got.Hidden != 1 {
		t.Errorf("running tasks of another project are %+v", got)
	}
	hidden := 0
	for slot := range 4 {
		w := b.do(asked{method: "GET", path: "/api/v1/cluster/slots/" + string(rune('0'+slot)), token: viewer})
		got := decode[SlotWork](t, w)
		hidden += got.Hidden
		for _, in := range got.Instances {
			t.Errorf("slot %d shows instance %d of project %s", slot, in.ID, in.Project)
		}
	}
	if hidden == 0 {
		t.Error("no slot says that there is more")
	}
	if w := b.do(asked{method: "GET", path: "/api/v1/cluster/slots/4", token: viewer}); w.Code != 404 {
		t.Errorf("a slot beyond the last = %d", w.Code)
	}
}

func TestTheStreamTellsThePulseOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	srv := b.open(t)
	l := b.listen(t, srv, "cluster", "")
	if _, kind, data := l.next(); kind != "pulse" || !strings.HasPrefix(data, `{"topic":"cluster","data":{"at":`) {
		t.Errorf("first message %s %.80s", kind, data)
	}
}

// counted is a master's figures for a meter.
func counted(offered, given, waiting int64) map[string]*rpc.MasterFigures {
	return map[string]*rpc.MasterFigures{"m1": {Queues: []*rpc.QueueFigures{{Group: "g", Waiting: int32(waiting), Offered: offered, Given: given}}}}
}

func TestQueuesAreJudgedByWhatComesAndGoes(t *testing.T) {
	t.Parallel()
	begin := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		name           string
		after          time.Duration
		waiting, in    [2]int64 // before and now; offered
		out            [2]int64
		oldest         time.Duration // ago
		verdict        string
		inRate, outPer float64
	}{
		{"nothing waits", 5 * time.Second, [2]int64{9, 0}, [2]int64{0, 1}, [2]int64{0, 10}, 0, "empty", 0.2, 2},
		{"more come than go", 5 * time.Second, [2]int64{10, 20}, [2]int64{0, 20}, [2]int64{0, 10}, time.Second, "growing", 4, 2},
		{"more go than come", 5 * time.Second, [2]int64{20, 10}, [2]int64{0, 5}, [2]int64{0, 15}, time.Second, "draining", 1, 3},
		{"as many come as go", 10 * time.Second, [2]int64{20, 20}, [2]int64{0, 10}, [2]int64{0, 10}, time.Minute, "steady", 1, 1},
		{"none goes", 10 * time.Second, [2]int64{3, 3}, [2]int64{0, 0}, [2]int64{0, 0}, time.Minute, "stuck", 0, 0},
		{"none goes yet", 10 * time.Second, [2]int64{3, 3}, [2]int64{0, 0}, [2]int64{0, 0}, time.Second, "steady", 0, 0},
	} {
		m, now, nodes := &meter{}, begin.Add(c.after), []Node{{Name: "m1", Incarnation: "a"}}
		m.sample(begin, nodes, counted(c.in[0], c.out[0], c.waiting[0]), sql.Pulse{})
		q := Queue{Kind: "group", Name: "g", Waiting: int(c.waiting[1]), Oldest: Time(dag.MillisOf(now.Add(-c.oldest)))}
		first := q
		if m.judge(&first, begin); q.Waiting > 0 && first.Verdict != "measuring" {
			t.Errorf("%s: at first it is %s", c.name, first.Verdict)
		}
		m.sample(now, nodes, counted(c.in[1], c.out[1], c.waiting[1]), sql.Pulse{})
		m.judge(&q, now)
		if q.Verdict != c.verdict || *q.In != c.inRate || *q.Out != c.outPer {
			t.Errorf("%s: %s, in %v, out %v; want %s, %v, %v", c.name, q.Verdict, *q.In, *q.Out, c.verdict, c.inRate, c.outPer)
		}
	}
}

func TestRatesSurviveAMasterThatBeginsAnew(t *testing.T) {
	t.Parallel()
	m, at := &meter{}, time.Unix(1_000_000, 0)
	figures := func(commits int64) map[string]*rpc.MasterFigures {
		return map[string]*rpc.MasterFigures{"m1": {Commits: commits}}
	}
	m.sample(at, []Node{{Name: "m1", Incarnation: "a"}}, figures(1000), sql.Pulse{})
	again := Node{Name: "m1", Incarnation: "b"}
	m.sample(at.Add(4*time.Second), []Node{again}, figures(8), sql.Pulse{})
	if r := m.rate(masterKey(again, "commits")); r != nil {
		t.Errorf("a master that has just begun has the rate %v", *r)
	}
}
