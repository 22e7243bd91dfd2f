package outbox

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"waybill/carrier"
)

// reply is what the fake carrier does with one purchase call.
type reply struct {
	// charge: the label is bought, whatever the answer says.
	charge bool

	// answer is what the caller hears; the zero value is the truth.
	answer carrier.Result
}

// fakeCarrier keeps what it sold, honours what its capabilities promise, and fails the test if one
// reference is ever charged twice.
type fakeCarrier struct {
	t       *testing.T
	caps    carrier.Capabilities
	account string

	mu      sync.Mutex
	script  []reply
	calls   []carrier.Purchase
	finds   int
	sold    map[string][]carrier.Label // by reference
	byKey   map[string]carrier.Label
	onCall  func()
	findErr error

	voids       []string // the labels that were to be voided, call by call
	voidAnswers []carrier.VoidResult

	// hidden keeps labels from look-ups, as a lagging index does.
	hidden bool
}

func newFakeCarrier(t *testing.T, caps carrier.Capabilities) *fakeCarrier {
	t.Helper()
	return &fakeCarrier{t: t, caps: caps, account: "SIM-1", sold: map[string][]carrier.Label{}, byKey: map[string]carrier.Label{}}
}

// will makes the next calls end as given; after that every call is bought.
func (f *fakeCarrier) will(replies ...reply) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = append(f.script, replies...)
}

func (f *fakeCarrier) Name() string                                { return "sim" }
func (f *fakeCarrier) Account() string                             { return f.account }
func (f *fakeCarrier) Capabilities() carrier.Capabilities          { return f.caps }
func (f *fakeCarrier) Check(carrier.Shipment) []carrier.FieldError { return nil }

// Void ends as the next of voidAnswers says; after those every label is voided.
func (f *fakeCarrier) Void(_ context.Context, carrierLabelID string) carrier.VoidResult {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.voids = append(f.voids, carrierLabelID)
	if len(f.voidAnswers) == 0 {
		return carrier.VoidResult{State: carrier.Voided}
	}
	answer := f.voidAnswers[0]
	f.voidAnswers = f.voidAnswers[1:]
	return answer
}

func (f *fakeCarrier) Buy(_ context.Context, p carrier.Purchase) carrier.Result {
	f.mu.Lock()
	onCall := f.onCall
	f.mu.Unlock()
	if onCall != nil {
		onCall()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, p)
	do := reply{charge: true}
	if len(f.script) > 0 {
		do, f.script = f.script[0], f.script[1:]
	}
	var label carrier.Label
	if do.charge {
		label = f.charge(p)
	}
	if do.answer.Outcome != "" {
		return do.answer
	}
	return carrier.Result{Outcome: carrier.Bought, Label: &label}
}

// charge sells a label, once for a key that is honoured.
func (f *fakeCarrier) charge(p carrier.Purchase) carrier.Label {
	if label, known := f.byKey[p.CarrierKey]; known && f.caps.Key != nil {
		return label
	}
	if len(f.sold[p.Reference]) > 0 {
		f.t.Errorf("reference %s is charged twice", p.Reference)
	}
	n := len(f.byKey) + 1
	label := carrier.Label{
		ID: fmt.Sprintf("L-%s-%d", p.Reference, n), TrackingNo: fmt.Sprintf("GRD%09d", n), Reference: p.Reference,
		Service: p.Shipment.Service, WeightG: p.Shipment.WeightG, Cost: carrier.Money{Cents: 600, Currency: "USD"},
		Document: carrier.Document{Format: p.Shipment.Format, Content: []byte("%PDF for " + p.Reference)},
	}
	f.byKey[p.CarrierKey] = label
	f.sold[p.Reference] = append(f.sold[p.Reference], label)
	return label
}

func (f *fakeCarrier) Find(_ context.Context, q carrier.Query) ([]carrier.Label, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.finds++
	if f.caps.Lookup == nil {
		return nil, carrier.ErrNoLookup
	}
	if f.findErr != nil || f.hidden {
		return nil, f.findErr
	}
	return f.sold[q.Reference], nil
}

// charges is how many labels were sold in all.
func (f *fakeCarrier) charges() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, labels := range f.sold {
		n += len(labels)
	}
	return n
}

func (f *fakeCarrier) callCount() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}
