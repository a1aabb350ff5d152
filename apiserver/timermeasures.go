package apiserver

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/porpoise/porpoise/dag/timer"
	"github.com/porpoise/porpoise/internal/rpc"
)

const (
	// timerOverdue is how late a firing is overdue: a master reads what is due soon twice in it.
	timerOverdue = time.Second
	// measureWait bounds the reading of the figures for one scrape.
	measureWait = 2 * time.Second
)

// timerMeasures show at each scrape how the timers of the cluster stand. They come from the database: every apiserver
// shows the same. While it is away they are absent.
type timerMeasures struct {
	s                       *Server
	enabled, overdue, tasks *prometheus.Desc
}

func newTimerMeasures(s *Server) *timerMeasures {
	return &timerMeasures{
		s:       s,
		enabled: prometheus.NewDesc("porpoise_timers_enabled", "Timers that are enabled.", nil, nil),
		overdue: prometheus.NewDesc("porpoise_timer_tasks_overdue", "Firings that nobody has called though their moment was over a second ago, up to 10,000.", nil, nil),
		tasks:   prometheus.NewDesc("porpoise_timer_tasks_total", "Firings of timers at their end, by state.", []string{"state"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *timerMeasures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.enabled, m.overdue, m.tasks} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *timerMeasures) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), measureWait)
	defer cancel()
	load, err := m.s.store.TimerLoad(ctx, m.s.at().Add(-timerOverdue))
	if err != nil {
		m.s.log.Debug("figures of timers not read", "error", err)
		return
	}
	to <- prometheus.MustNewConstMetric(m.enabled, prometheus.GaugeValue, float64(load.Enabled))
	to <- prometheus.MustNewConstMetric(m.overdue, prometheus.GaugeValue, float64(load.Overdue))
	for _, state := range []timer.State{timer.Success, timer.Failed, timer.Skipped} {
		to <- prometheus.MustNewConstMetric(m.tasks, prometheus.CounterValue, float64(load.Tasks[state]), string(state))
	}
}

// newTimerLate is how late masters call, which each of them counts.
func newTimerLate() *prometheus.Desc {
	return prometheus.NewDesc("porpoise_timer_late_seconds", "How late the first try of each firing was called.", []string{"node"}, nil)
}

// showTimerLate tells of one master; one of an older version has sent nothing.
func showTimerLate(to chan<- prometheus.Metric, desc *prometheus.Desc, node string, f *rpc.TimerFigures) {
	if f == nil {
		return
	}
	first := int64(0)
	for _, n := range f.GetLate() {
		first += n
	}
	to <- lateHistogram(desc, first, f.GetLateMs(), f.GetLate(), node)
}
