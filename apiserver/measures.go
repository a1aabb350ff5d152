package apiserver

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
)

// maxMeasured bounds the workers, and the masters, that /metrics shows: each has some twenty series.
const maxMeasured = 1000

// Masters says how masters are doing, by node, from memory: they send it every few seconds.
type Masters interface {
	Figures() map[string]*rpc.MasterFigures
	// Heard says when a master has last said anything; false where it has no stream here.
	Heard(master string) (time.Time, bool)
}

// measures show at each scrape what workers and masters have sent of themselves. They have no HTTP of
// their own: one scrape of any apiserver sees them all.
type measures struct {
	s *Server
	// leftOut counts those beyond maxMeasured; refused is of gRPC servers.
	leftOut, refused *prometheus.Desc
	workers          []workerMeasure
	schedules        scheduleMeasures
	timerLate        *prometheus.Desc
}

// workerMeasure is one number of each worker. Where it has label values, it is a series each.
type workerMeasure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(n Node, f *rpc.WorkerFigures) []float64
	// queues are the values of the second label; nil is none.
	queues []string
	// always says that it needs no figures.
	always bool
}

func one(of func(f *rpc.WorkerFigures) float64) func(Node, *rpc.WorkerFigures) []float64 {
	return func(_ Node, f *rpc.WorkerFigures) []float64 { return []float64{of(f)} }
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func newMeasures(s *Server) *measures {
	gauge := func(name, help string, of func(f *rpc.WorkerFigures) float64) workerMeasure {
		return workerMeasure{desc: prometheus.NewDesc("porpoise_worker_"+name, help, []string{"worker"}, nil), kind: prometheus.GaugeValue, of: one(of)}
	}
	counter := func(name, help string, of func(f *rpc.WorkerFigures) int64) workerMeasure {
		m := gauge(name, help, func(f *rpc.WorkerFigures) float64 { return float64(of(f)) })
		m.kind = prometheus.CounterValue
		return m
	}
	return &measures{
		s:         s,
		schedules: newScheduleMeasures(), timerLate: newTimerLate(),
		leftOut: prometheus.NewDesc("porpoise_measured_left_out", "Workers and masters beyond the first thousand of each, which are not shown.", nil, nil),
		refused: prometheus.NewDesc("porpoise_rpc_refused_total", "Connections, callers and messages that a gRPC server has turned away.", []string{"role", "node", "kind"}, nil),
		workers: []workerMeasure{
			{
				desc: prometheus.NewDesc("porpoise_worker_connected", "1 where the worker has a stream to this apiserver, so that its figures are known.", []string{"worker"}, nil),
				kind: prometheus.GaugeValue, always: true, of: func(_ Node, f *rpc.WorkerFigures) []float64 { return []float64{truth(f != nil)} },
			},
			{
				desc: prometheus.NewDesc("porpoise_worker_slots", "Attempts that the worker runs at once.", []string{"worker"}, nil),
				kind: prometheus.GaugeValue, always: true, of: func(n Node, _ *rpc.WorkerFigures) []float64 { return []float64{float64(n.Slots)} },
			},
			gauge("free_slots", "0 also where it takes no work.", func(f *rpc.WorkerFigures) float64 { return float64(f.GetFreeSlots()) }),
			gauge("takes_no_work", "1 where it drains, or its disk is full.", func(f *rpc.WorkerFigures) float64 { return truth(f.GetDraining() != "") }),
			gauge("outbox_reports", "Reports that no master has acknowledged.", func(f *rpc.WorkerFigures) float64 { return float64(f.GetOutbox()) }),
			gauge("drift_seconds", "How late its last tick was.", func(f *rpc.WorkerFigures) float64 { return float64(f.GetDriftMs()) / 1000 }),
			gauge("free_disk_ratio", "Of its data folder's disk.", func(f *rpc.WorkerFigures) float64 { return f.GetFreeDisk() }),
			gauge("heartbeat_utilisation_ratio", "Of the beats that a cycle allows.", func(f *rpc.WorkerFigures) float64 { return f.GetHeartbeat().GetUtilisation() }),
			{
				desc: prometheus.NewDesc("porpoise_worker_heartbeat_attempts", "Attempts by where their beat is in this cycle.", []string{"worker", "queue"}, nil),
				kind: prometheus.GaugeValue, queues: []string{"main", "backup", "in_flight"},
				of: func(_ Node, f *rpc.WorkerFigures) []float64 {
					h := f.GetHeartbeat()
					return []float64{float64(h.GetMain()), float64(h.GetBackup()), float64(h.GetInFlight())}
				},
			},
			gauge("heartbeat_oldest_seconds", "The longest silence of an attempt now.", func(f *rpc.WorkerFigures) float64 { return float64(f.GetHeartbeat().GetOldestMs()) / 1000 }),
			gauge("heartbeat_near_deadline", "Attempts with less than a cycle left.", func(f *rpc.WorkerFigures) float64 { return float64(f.GetHeartbeat().GetNearDeadline()) }),
			counter("heartbeat_overruns_total", "Cycles that ended before all had beaten.", func(f *rpc.WorkerFigures) int64 { return f.GetHeartbeat().GetOverruns() }),
			counter("heartbeat_lapsed_total", "Attempts that were silent for the timeout.", func(f *rpc.WorkerFigures) int64 { return f.GetHeartbeat().GetLapsed() }),
			counter("runner_refused_total", "Connections to its runner that were turned away.", func(f *rpc.WorkerFigures) int64 { return f.GetRunnerRefused() }),
		},
	}
}

// Describe implements prometheus.Collector.
func (m *measures) Describe(to chan<- *prometheus.Desc) {
	to <- m.leftOut
	to <- m.refused
	m.schedules.describe(to)
	to <- m.timerLate
	for _, w := range m.workers {
		to <- w.desc
	}
}

// Collect implements prometheus.Collector.
func (m *measures) Collect(to chan<- prometheus.Metric) {
	workers := m.s.cfg.Cluster.Workers()
	leftOut := max(0, len(workers)-maxMeasured)
	for _, n := range workers[:len(workers)-leftOut] {
		m.worker(to, n)
	}
	if m.s.cfg.Masters != nil {
		shown := 0
		for node, f := range m.s.cfg.Masters.Figures() {
			if shown++; shown > maxMeasured {
				leftOut++
				continue
			}
			m.refusals(to, registry.Master, node, f.Refused)
			m.schedules.show(to, node, f.GetSchedules())
			showTimerLate(to, m.timerLate, node, f.GetTimers())
		}
	}
	if m.s.cfg.Refusals != nil {
		m.refusals(to, registry.APIServer, m.s.cfg.Node, m.s.cfg.Refusals.Of)
	}
	to <- prometheus.MustNewConstMetric(m.leftOut, prometheus.GaugeValue, float64(leftOut))
}

func (m *measures) worker(to chan<- prometheus.Metric, n Node) {
	var f *rpc.WorkerFigures
	if m.s.cfg.Workers != nil {
		if got, ok := m.s.cfg.Workers.Figures(n.Name); ok {
			f = got
		}
	}
	for _, w := range m.workers {
		if f == nil && !w.always {
			continue
		}
		for i, value := range w.of(n, f) {
			labels := []string{n.Name}
			if w.queues != nil {
				labels = append(labels, w.queues[i])
			}
			to <- prometheus.MustNewConstMetric(w.desc, w.kind, value, labels...)
		}
	}
}

func (m *measures) refusals(to chan<- prometheus.Metric, role registry.Role, node string, of func(rpc.Kind) int64) {
	for _, kind := range rpc.Kinds() {
		to <- prometheus.MustNewConstMetric(m.refused, prometheus.CounterValue, float64(of(kind)), string(role), node, kind.String())
	}
}
