package apiserver

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts what the API does. Each Server has its own registry, so that two in
// one process (tests, standalone) do not fight for names.
type metrics struct {
	own      *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  prometheus.Gauge
	audited  *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{
		own: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "porpoise_api_requests_total", Help: "Requests by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "porpoise_api_request_seconds", Help: "Time to answer, by route; streams are left out.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "porpoise_api_streams", Help: "Event streams that are open."}),
		audited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "porpoise_api_audit_rows_total", Help: "Audit rows by fate: written, or dropped (refusals only) because too many came.",
		}, []string{"fate"}),
	}
	m.own.MustRegister(m.requests, m.seconds, m.streams, m.audited)
	return m
}

// with adds what the rest of the process counts.
func (m *metrics) with(others prometheus.Gatherer) prometheus.Gatherer {
	return prometheus.Gatherers{m.own, others}
}

func (m *metrics) observe(sp *spec, status int, took time.Duration) {
	m.requests.WithLabelValues(sp.id, strconv.Itoa(status)).Inc()
	if !sp.stream {
		m.seconds.WithLabelValues(sp.id).Observe(took.Seconds())
	}
}
