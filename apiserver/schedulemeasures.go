package apiserver

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/internal/rpc"
)

// scheduleMeasures are what each master has sent of the fires of schedules.
type scheduleMeasures struct{ fires, late, planned, ahead *prometheus.Desc }

func newScheduleMeasures() scheduleMeasures {
	node := []string{"node"}
	return scheduleMeasures{
		fires:   prometheus.NewDesc("porpoise_schedule_fires_total", "Fires of schedules by the outcome that a master set.", []string{"node", "outcome"}, nil),
		late:    prometheus.NewDesc("porpoise_schedule_late_seconds", "How much later than due fires of schedules started their instances.", node, nil),
		planned: prometheus.NewDesc("porpoise_schedule_planned_total", "Fires of schedules that a master wrote ahead.", node, nil),
		ahead:   prometheus.NewDesc("porpoise_schedule_planned_ahead_seconds", "How far every schedule of a master's slots is planned ahead, at least; below 0 it is behind.", node, nil),
	}
}

func (m *scheduleMeasures) describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.fires, m.late, m.planned, m.ahead} {
		to <- d
	}
}

// show tells of one master; one of an older version has sent nothing.
func (m *scheduleMeasures) show(to chan<- prometheus.Metric, node string, f *rpc.ScheduleFigures) {
	if f == nil {
		return
	}
	for _, o := range []struct {
		state schedule.State
		n     int64
	}{{schedule.Fired, f.GetFired()}, {schedule.Skipped, f.GetSkipped()}, {schedule.Missed, f.GetMissed()}, {schedule.Duplicate, f.GetDuplicate()}} {
		to <- prometheus.MustNewConstMetric(m.fires, prometheus.CounterValue, float64(o.n), node, string(o.state))
	}
	to <- lateHistogram(m.late, f.GetFired(), f.GetLateMs(), f.GetLate(), node)
	to <- prometheus.MustNewConstMetric(m.planned, prometheus.CounterValue, float64(f.GetPlanned()), node)
	to <- prometheus.MustNewConstMetric(m.ahead, prometheus.GaugeValue, float64(f.GetAheadMs())/1000, node)
}

// lateHistogram is how late things were that a master has counted by rpc.LateBounds.
func lateHistogram(desc *prometheus.Desc, count, sumMs int64, late []int64, node string) prometheus.Metric {
	buckets, sum := map[float64]uint64{}, uint64(0)
	for i, bound := range rpc.LateBounds() {
		if i < len(late) {
			sum += uint64(late[i])
		}
		buckets[bound.Seconds()] = sum
	}
	return prometheus.MustNewConstHistogram(desc, uint64(count), float64(sumMs)/1000, buckets, node)
}
