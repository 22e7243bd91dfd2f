//go:build faultinject

package crash

import (
	"context"
	"fmt"
	"sync"
	"time"

	"waybill/carrier"
)

// The carrier's promises. A late purchase takes effect just within them.
const (
	lag        = 2 * time.Second
	processing = 6 * time.Second
)

// quiet is the quiet period that follows from them.
const quiet = lag + processing

// classes are the three kinds of carrier. The one with look-ups alone also buys in two steps.
var classes = map[carrier.Class]carrier.Capabilities{
	carrier.Keyed:    {Key: &carrier.Key{}},
	carrier.ByLookup: {Lookup: &carrier.Lookup{Lag: lag, Processing: processing}},
	carrier.Blind:    {},
}

const account = "SIM-1"

// reply is what the carrier does with one purchase call.
type reply struct {
	// charge: the label is sold, after a delay of late, whatever the answer says.
	charge bool
	late   time.Duration

	// answer is what the caller hears; the zero value is the truth.
	answer carrier.Result
}

// charge is one line of the carrier's ledger.
type charge struct {
	label carrier.Label
	at    time.Time
}

// witness is the carrier, and its ledger is the evidence against us. It outlives all processes.
type witness struct {
	caps carrier.Capabilities
	now  func() time.Time

	mu     sync.Mutex
	script []reply
	calls  int
	sold   map[string][]charge // by reference
	byKey  map[string]carrier.Label
	voids  map[string]int // calls, by the carrier's id of the label

	// prepared is what a two-step carrier has made, by its id: the reference. Nothing keeps it from
	// being sold twice but us.
	prepared map[string]string
}

func newWitness(class carrier.Class, now func() time.Time, script []reply) *witness {
	return &witness{
		caps: classes[class], now: now, script: script,
		sold: map[string][]charge{}, byKey: map[string]carrier.Label{}, voids: map[string]int{}, prepared: map[string]string{},
	}
}

// twoStep tells whether the carrier sells only what it has made before, and gives documents apart.
func (w *witness) twoStep() bool { return w.caps.Key == nil && w.caps.Lookup != nil }

func (w *witness) prepare(p carrier.Purchase) carrier.Preparation {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := fmt.Sprintf("shp_%d", len(w.prepared)+1)
	w.prepared[id] = p.Reference
	return carrier.Preparation{RemoteID: id}
}

// buy follows the script; after it every call is bought.
func (w *witness) buy(p carrier.Purchase) carrier.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	if w.twoStep() && w.prepared[p.RemoteID] != p.Reference {
		return carrier.Result{Outcome: carrier.Rejected, Code: "not_prepared"}
	}
	do := reply{charge: true}
	if len(w.script) > 0 {
		do, w.script = w.script[0], w.script[1:]
	}
	var label carrier.Label
	if do.charge {
		label = w.charge(p, do.late)
	}
	if do.answer.Outcome != "" {
		return do.answer
	}
	return carrier.Result{Outcome: carrier.Bought, Label: &label}
}

// charge sells a label; once for a key that is honoured, and otherwise as often as it is asked to.
func (w *witness) charge(p carrier.Purchase, late time.Duration) carrier.Label {
	if label, known := w.byKey[p.CarrierKey]; known && w.caps.Key != nil {
		return label
	}
	n := len(w.sold[p.Reference]) + 1
	label := carrier.Label{
		ID: fmt.Sprintf("L-%s-%d", p.Reference, n), TrackingNo: fmt.Sprintf("TRK%s%d", p.Reference[len(p.Reference)-9:], n),
		Reference: p.Reference, Service: p.Shipment.Service, WeightG: p.Shipment.WeightG,
		Cost: carrier.Money{Cents: 612, Currency: "USD"},
	}
	if !w.twoStep() {
		label.Document = document(p.Shipment.Format)
	}
	w.byKey[p.CarrierKey] = label
	w.sold[p.Reference] = append(w.sold[p.Reference], charge{label: label, at: w.now().Add(late)})
	return label
}

func document(f carrier.Format) carrier.Document {
	return carrier.Document{Format: f, Content: []byte("%PDF-1.7")}
}

// find shows what has taken effect and is in the index by now.
func (w *witness) find(reference string) ([]carrier.Label, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.caps.Lookup == nil {
		return nil, carrier.ErrNoLookup
	}
	var found []carrier.Label
	for _, c := range w.sold[reference] {
		if !w.now().Before(c.at.Add(w.caps.Lookup.Lag)) {
			found = append(found, c.label)
		}
	}
	return found, nil
}

// ledger is everything that was sold or is about to be, by reference.
func (w *witness) ledger() (sold map[string][]carrier.Label, calls int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sold = map[string][]carrier.Label{}
	for reference, charges := range w.sold {
		for _, c := range charges {
			sold[reference] = append(sold[reference], c.label)
		}
	}
	return sold, w.calls
}

func (w *witness) void(carrierLabelID string) carrier.VoidResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.voids[carrierLabelID]++
	if w.voids[carrierLabelID] == 1 {
		return carrier.VoidResult{State: carrier.VoidUnknown, Code: "timeout"}
	}
	return carrier.VoidResult{State: carrier.Voided}
}

// voided is how many of the labels are void.
func (w *witness) voided() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.voids)
}

// line is the carrier as one process reaches it: the dead reach nobody.
type line struct {
	*witness

	proc *process
}

func (l line) Name() string                                { return "sim" }
func (l line) Account() string                             { return account }
func (l line) Capabilities() carrier.Capabilities          { return l.caps }
func (l line) Check(carrier.Shipment) []carrier.FieldError { return nil }

// Void voids the label at the first call, whose answer is lost.
func (l line) Void(_ context.Context, carrierLabelID string) carrier.VoidResult {
	if l.proc.grave() {
		return carrier.VoidResult{State: carrier.VoidUnknown}
	}
	return l.void(carrierLabelID)
}

func (l line) Buy(_ context.Context, p carrier.Purchase) carrier.Result {
	if l.proc.grave() {
		return carrier.Result{Outcome: carrier.Unknown}
	}
	return l.buy(p)
}

func (l line) Find(_ context.Context, q carrier.Query) ([]carrier.Label, error) {
	if l.proc.grave() {
		return nil, errGrave
	}
	return l.find(q.Reference)
}

// twoStepLine is the line to a two-step carrier.
type twoStepLine struct{ line }

func (l twoStepLine) Prepare(_ context.Context, p carrier.Purchase) carrier.Preparation {
	if l.proc.grave() {
		return carrier.Preparation{}
	}
	return l.prepare(p)
}

func (l twoStepLine) Document(_ context.Context, r carrier.DocumentRequest) (carrier.Document, error) {
	if l.proc.grave() {
		return carrier.Document{}, errGrave
	}
	return document(r.Format), nil
}

// lineOf is how a process reaches the carrier.
func (w *witness) lineOf(p *process) carrier.Carrier {
	l := line{witness: w, proc: p}
	if w.twoStep() {
		return twoStepLine{l}
	}
	return l
}
