package main

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
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

// registerProcess adds what every service shows: its process, its runtime, its database pool.
func registerProcess(reg prometheus.Registerer, pool *pgxpool.Pool) {
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		poolGauge("waybill_db_connections_max", "Connections the pool may open.", func() float64 {
			return float64(pool.Stat().MaxConns())
		}),
		poolGauge("waybill_db_connections_open", "Connections that are open.", func() float64 {
			return float64(pool.Stat().TotalConns())
		}),
		poolGauge("waybill_db_connections_in_use", "Connections that run something.", func() float64 {
			return float64(pool.Stat().AcquiredConns())
		}),
		poolCounter("waybill_db_waits_total", "Times somebody waited for a connection.", func() float64 {
			return float64(pool.Stat().EmptyAcquireCount())
		}),
		poolCounter("waybill_db_wait_seconds_total", "Time spent waiting for connections.", func() float64 {
			return pool.Stat().EmptyAcquireWaitTime().Seconds()
		}),
	)
}

func poolGauge(name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

func poolCounter(name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value)
}
