package service

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// RegisterProcess adds what every service shows: its process, its runtime, and its database pools,
// by name.
func RegisterProcess(reg prometheus.Registerer, pools map[string]*pgxpool.Pool) {
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	for name, pool := range pools {
		labels := prometheus.Labels{"pool": name}
		reg.MustRegister(
			gauge("waybill_db_connections_max", "Connections the pool may open.", labels,
				func() float64 { return float64(pool.Stat().MaxConns()) }),
			gauge("waybill_db_connections_open", "Connections that are open.", labels,
				func() float64 { return float64(pool.Stat().TotalConns()) }),
			gauge("waybill_db_connections_in_use", "Connections that run something.", labels,
				func() float64 { return float64(pool.Stat().AcquiredConns()) }),
			counter("waybill_db_waits_total", "Times somebody waited for a connection.", labels,
				func() float64 { return float64(pool.Stat().EmptyAcquireCount()) }),
			counter("waybill_db_wait_seconds_total", "Time spent waiting for connections.", labels,
				func() float64 { return pool.Stat().EmptyAcquireWaitTime().Seconds() }),
		)
	}
}

func gauge(name, help string, labels prometheus.Labels, value func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, value)
}

func counter(name, help string, labels prometheus.Labels, value func() float64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, value)
}
