package outbox

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the signs an operator reads; see docs/operating.md for what each one means.
type Metrics struct {
	reg prometheus.Registerer

	batchSize        *prometheus.HistogramVec
	replays          prometheus.Counter
	parcelConflicts  prometheus.Counter
	lateRepeats      prometheus.Counter
	callerMismatches prometheus.Counter
	takeovers        prometheus.Counter
	lostLeases       prometheus.Counter
	sweptKeys        prometheus.Counter
	rungJobs         prometheus.Counter
	intentToLabel    prometheus.Histogram
	carrierCalls     *prometheus.HistogramVec
	intents          *prometheus.GaugeVec
	leftToPerson     prometheus.Gauge
	oldestPending    prometheus.Gauge
	undocumented     prometheus.Gauge
	voids            *prometheus.GaugeVec
}

// NewMetrics registers the outbox's metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		reg: reg,
		batchSize: histogramVec("waybill_batch_size", "Items in one group commit, by step.",
			prometheus.ExponentialBuckets(1, 2, 9), "step"),
		replays: counter("waybill_replays_total",
			"Answers given again from a saved answer."),
		parcelConflicts: counter("waybill_parcel_conflicts_total",
			"Submissions that name a parcel which has an intent under another key: a caller makes a new key on each retry?"),
		lateRepeats: counter("waybill_late_repeats_total",
			"Repeats after the key was purged: callers retry longer than keys are kept."),
		callerMismatches: counter("waybill_replay_caller_mismatch_total",
			"Keys that led to another caller's intent. Must stay 0."),
		takeovers: counter("waybill_takeovers_total",
			"Claims over an expired lease: an attempt died, or outlasted its lease."),
		lostLeases: counter("waybill_lost_leases_total",
			"Attempts that came back to find their lease gone: the lease is shorter than the slowest call."),
		sweptKeys: counter("waybill_swept_keys_total", "Expired idempotency keys deleted."),
		rungJobs: counter("waybill_rung_jobs_total",
			"Jobs inserted or revived for intents that had none alive."),
		intentToLabel: histogram("waybill_intent_to_label_seconds",
			"From accepting an intent to its label."),
		carrierCalls: histogramVec("waybill_carrier_call_seconds",
			"Time of one carrier call, by carrier and outcome.",
			latencyBuckets, "carrier", "outcome"),
		intents: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "waybill_intents",
			Help: "Label intents that are not final, by state.",
		}, []string{"state"}),
		leftToPerson: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "waybill_intents_left_to_person",
			Help: "Label intents in doubt that no look-up will settle: a person has to decide.",
		}),
		oldestPending: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "waybill_oldest_pending_seconds",
			Help: "Age of the oldest pending intent.",
		}),
		undocumented: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "waybill_labels_without_document",
			Help: "Labels of the last seven days that were not cancelled and have no document to print.",
		}),
		voids: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "waybill_voids",
			Help: "Labels that are to be void and are not yet: requested, or in_doubt because the carrier has not said for days what became of it.",
		}, []string{"state"}),
	}
	reg.MustRegister(m.batchSize, m.replays, m.parcelConflicts, m.lateRepeats, m.callerMismatches,
		m.takeovers, m.lostLeases, m.sweptKeys, m.rungJobs, m.intentToLabel, m.carrierCalls,
		m.intents, m.leftToPerson, m.oldestPending, m.undocumented, m.voids)
	return m
}

// latencyBuckets reach from a local answer to a carrier's timeout.
var latencyBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func histogram(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: latencyBuckets})
}

func histogramVec(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// watchAdmission shows how many submissions are under way, and how many may be.
func (m *Metrics) watchAdmission(a *admission) {
	m.reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "waybill_accepts_under_way",
			Help: "Submissions that wait for their commit.",
		}, func() float64 { n, _ := a.occupancy(); return float64(n) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "waybill_accepts_room",
			Help: "Submissions that may wait for their commit; one caller alone may have half as many.",
		}, func() float64 { _, room := a.occupancy(); return float64(room) }),
	)
}

// watchQueues shows how many items wait for each group commit.
func (m *Metrics) watchQueues(depths map[string]func() int) {
	for step, depth := range depths {
		m.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "waybill_queue_depth",
			Help:        "Items waiting for a group commit, by step.",
			ConstLabels: prometheus.Labels{"step": step},
		}, func() float64 { return float64(depth()) }))
	}
}
