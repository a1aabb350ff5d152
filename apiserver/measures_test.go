package apiserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
)

// fixedMasters have turned away so much.
type fixedMasters struct{}

func (fixedMasters) Figures() map[string]*rpc.MasterFigures {
	return map[string]*rpc.MasterFigures{"m1": {
		RefusedConnections: 7, RefusedMessages: 2,
		Schedules: &rpc.ScheduleFigures{Fired: 5, Duplicate: 1, Late: []int64{2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, LateMs: 7_200_020, Planned: 9, AheadMs: -1500},
		Timers:    &rpc.TimerFigures{Called: 9, Late: []int64{4, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, LateMs: 4_500},
	}, "m0": {}}
}

func (fixedMasters) Heard(string) (time.Time, bool) { return time.UnixMilli(1000), true }

// silentWorkers have no stream here.
type silentWorkers struct{ fixedWorkers }

func (silentWorkers) Figures(string) (*rpc.WorkerFigures, bool) { return nil, false }
func (silentWorkers) Heard(string) (time.Time, bool)            { return time.Time{}, false }

// crowd are more workers than are shown.
type crowd struct{ fixedCluster }

func (crowd) Workers() []Node {
	all := make([]Node, maxMeasured+5)
	for i := range all {
		all[i] = Node{Name: fmt.Sprint("w", i), Slots: 4}
	}
	return all
}

// shows wants lines in what /metrics says.
func shows(t *testing.T, b *bench, lines ...string) (text string) {
	t.Helper()
	text = b.must(200, "GET", "/metrics", "").Body.String()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	return text
}

func TestMetricsShowWhatAnAlertOnWorkersAndMastersNeeds(t *testing.T) {
	t.Parallel()
	refusals := &rpc.Refusals{}
	refusals.Count(rpc.Refusal{Kind: rpc.RefusedCaller})
	b := newBench(t, func(c *Config) { c.Masters, c.Node, c.Refusals = fixedMasters{}, "a1", refusals })
	text := shows(
		t, b,
		`porpoise_worker_connected{worker="w1"} 1`, `porpoise_worker_slots{worker="w1"} 4`, `porpoise_worker_free_slots{worker="w1"} 2`,
		`porpoise_worker_takes_no_work{worker="w1"} 0`, `porpoise_worker_outbox_reports{worker="w1"} 1`, `porpoise_worker_drift_seconds{worker="w1"} 0.003`,
		`porpoise_worker_free_disk_ratio{worker="w1"} 0.75`, `porpoise_worker_heartbeat_utilisation_ratio{worker="w1"} 0.002`,
		`porpoise_worker_heartbeat_attempts{queue="main",worker="w1"} 1`, `porpoise_worker_heartbeat_attempts{queue="backup",worker="w1"} 1`,
		`porpoise_worker_heartbeat_attempts{queue="in_flight",worker="w1"} 0`, `porpoise_worker_heartbeat_oldest_seconds{worker="w1"} 4.2`,
		`porpoise_worker_heartbeat_near_deadline{worker="w1"} 0`, `porpoise_worker_heartbeat_overruns_total{worker="w1"} 0`,
		`porpoise_worker_heartbeat_lapsed_total{worker="w1"} 0`, `porpoise_worker_runner_refused_total{worker="w1"} 0`,
		`porpoise_schedule_fires_total{node="m1",outcome="fired"} 5`, `porpoise_schedule_fires_total{node="m1",outcome="duplicate"} 1`,
		`porpoise_schedule_fires_total{node="m1",outcome="missed"} 0`, `porpoise_schedule_late_seconds_bucket{node="m1",le="0.01"} 3`,
		`porpoise_schedule_late_seconds_bucket{node="m1",le="3600"} 4`, `porpoise_schedule_late_seconds_bucket{node="m1",le="+Inf"} 5`,
		`porpoise_schedule_late_seconds_sum{node="m1"} 7200.02`, `porpoise_schedule_planned_total{node="m1"} 9`, `porpoise_schedule_planned_ahead_seconds{node="m1"} -1.5`,
		`porpoise_timer_late_seconds_bucket{node="m1",le="0.01"} 6`, `porpoise_timer_late_seconds_bucket{node="m1",le="3600"} 6`,
		`porpoise_timer_late_seconds_count{node="m1"} 7`, `porpoise_timer_late_seconds_sum{node="m1"} 4.5`,
		`porpoise_rpc_refused_total{kind="connection",node="m1",role="master"} 7`, `porpoise_rpc_refused_total{kind="message",node="m1",role="master"} 2`,
		`porpoise_rpc_refused_total{kind="caller",node="a1",role="apiserver"} 1`, `porpoise_measured_left_out 0`,
	)
	if strings.Contains(text, "nan") {
		t.Error("a number is none")
	}
}

func TestMetricsOfAWorkerWithoutAStreamSayOnlyThat(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Workers = silentWorkers{} })
	if text := shows(t, b, `porpoise_worker_connected{worker="w1"} 0`, `porpoise_worker_slots{worker="w1"} 4`); strings.Contains(text, "porpoise_worker_outbox") {
		t.Error("figures are shown that nobody has sent")
	}
}

func TestMetricsOfManyWorkersAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Cluster = crowd{} })
	text := shows(t, b, `porpoise_measured_left_out 5`)
	if n := strings.Count(text, "\nporpoise_worker_slots{"); n != maxMeasured {
		t.Errorf("%d workers are shown, want %d", n, maxMeasured)
	}
}
