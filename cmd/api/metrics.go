package main

import (
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are those of requests; what happens to intents is counted where it happens, in outbox.
type metrics struct {
	requests *prometheus.CounterVec
	accept   prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waybill_requests_total",
			Help: "HTTP requests answered, by status code and route; 499 is a client that hung up.",
		}, []string{"code", "route"}),
		accept: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "waybill_accept_seconds",
			Help: "From a valid request to its committed intent, or to what its key stands for.",
			// Fine around a group commit, coarse up to the patience of a client.
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10},
		}),
	}
	reg.MustRegister(m.requests, m.accept)
	return m
}
