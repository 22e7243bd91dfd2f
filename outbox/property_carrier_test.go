package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"pgregory.net/rapid"

	"waybill/carrier"
)

// whim is what the carrier of the properties does with one call.
type whim string

const (
	sells        whim = "sells"
	sellsMutely  whim = "sells, and the answer is lost"
	sellsLate    whim = "sells later, and answers nothing"
	losesOrder   whim = "never sees the order"
	sellsDear    whim = "sells above the price limit"
	sellsGarbage whim = "sells, and names no label"
	refuses      whim = "refuses for good"
	isBusy       whim = "is busy"
	asksToWait   whim = "asks to be left alone"
)

var whims = []whim{sells, sellsMutely, sellsLate, losesOrder, sellsDear, sellsGarbage, refuses, isBusy, asksToWait}

// charge is one line of the ledger.
type charge struct {
	label carrier.Label
	at    time.Time
}

// remembered is what the carrier knows under a key.
type remembered struct {
	order    carrier.Purchase
	firstUse time.Time
	sold     *charge // also if it is yet to come
}

// ledgerCarrier keeps exactly the promises of its capabilities and nothing beyond them. Its ledger is
// the witness: it only ever grows, and it shows a charge that comes late only once it has come.
type ledgerCarrier struct {
	caps carrier.Capabilities
	now  func() time.Time

	// processing is how late a charge may come.
	processing time.Duration

	mu       sync.Mutex
	mood     []whim // of the next calls; after that it sells
	findFail bool   // of the next look-ups
	keys     map[string]*remembered
	charges  map[string][]*charge // by reference; those with a time to come are under way
	calls    map[string][]carrier.Outcome
	breaches []string
}

func newLedgerCarrier(caps carrier.Capabilities, now func() time.Time) *ledgerCarrier {
	c := &ledgerCarrier{
		caps: caps, now: now, processing: time.Minute,
		keys: map[string]*remembered{}, charges: map[string][]*charge{}, calls: map[string][]carrier.Outcome{},
	}
	if caps.Lookup != nil {
		c.processing = caps.Lookup.Processing
	}
	return c
}

func (c *ledgerCarrier) Name() string                                { return "sim" }
func (c *ledgerCarrier) Account() string                             { return "SIM-1" }
func (c *ledgerCarrier) Capabilities() carrier.Capabilities          { return c.caps }
func (c *ledgerCarrier) Check(carrier.Shipment) []carrier.FieldError { return nil }

func (c *ledgerCarrier) Void(context.Context, string) carrier.VoidResult {
	return carrier.VoidResult{State: carrier.VoidRefused}
}

// will sets the mood of the next calls.
func (c *ledgerCarrier) will(mood ...whim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mood = mood
}

func (c *ledgerCarrier) Buy(_ context.Context, p carrier.Purchase) carrier.Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	do := sells
	if len(c.mood) > 0 {
		do, c.mood = c.mood[0], c.mood[1:]
	}
	c.watch(p)
	res := c.carryOut(p, do)
	c.calls[p.Reference] = append(c.calls[p.Reference], res.Outcome)
	return res
}

// watch notes what must never be asked of the carrier.
func (c *ledgerCarrier) watch(p carrier.Purchase) {
	if c.caps.Key == nil && c.caps.Lookup == nil {
		for _, earlier := range c.calls[p.Reference] {
			if earlier != carrier.NotBought {
				c.breaches = append(c.breaches, fmt.Sprintf("%s: a blind carrier is called again after %s", p.Reference, earlier))
			}
		}
	}
	if known := c.keys[p.CarrierKey]; known != nil && known.order != p {
		c.breaches = append(c.breaches, fmt.Sprintf("%s: another order under the same key", p.Reference))
	}
}

func (c *ledgerCarrier) carryOut(p carrier.Purchase, do whim) carrier.Result {
	switch do {
	case sells:
		label := c.sell(p, 0).label
		return carrier.Result{Outcome: carrier.Bought, Label: &label}
	case sellsMutely:
		c.sell(p, 0)
		return carrier.Result{Outcome: carrier.Unknown, Code: "timeout"}
	case sellsLate:
		c.sell(p, c.processing-time.Second)
		return carrier.Result{Outcome: carrier.Unknown, Code: "timeout"}
	case losesOrder:
		return carrier.Result{Outcome: carrier.Unknown, Code: "reset"}
	case sellsDear:
		label := c.sell(p, 0).label
		return carrier.Result{Outcome: carrier.Unknown, Code: carrier.CodeOverPrice, Label: &label}
	case sellsGarbage:
		c.sell(p, 0)
		return carrier.Result{Outcome: carrier.Bought}
	case refuses:
		return carrier.Result{Outcome: carrier.Rejected, Code: "bad_address", Message: "No such street."}
	case isBusy:
		return carrier.Result{Outcome: carrier.NotBought, Code: "busy"}
	case asksToWait:
		return carrier.Result{Outcome: carrier.NotBought, Code: "busy", RetryAfter: 17 * time.Second}
	default:
		panic("no such whim: " + do)
	}
}

// sell charges, now or later: once for a key, as long as it is remembered.
func (c *ledgerCarrier) sell(p carrier.Purchase, after time.Duration) *charge {
	at := c.now().Add(after)
	known := c.keys[p.CarrierKey]
	if c.caps.Key != nil && known != nil && c.now().Sub(known.firstUse) < c.caps.Key.Window {
		if at.Before(known.sold.at) {
			known.sold.at = at
		}
		return known.sold
	}
	n := len(c.charges[p.Reference]) + 1
	sold := &charge{at: at, label: carrier.Label{
		ID: fmt.Sprintf("L-%s-%d", p.Reference, n), TrackingNo: fmt.Sprintf("T-%s-%d", p.Reference, n),
		Reference: p.Reference, Service: p.Shipment.Service, WeightG: p.Shipment.WeightG,
		Cost:     carrier.Money{Cents: 500 + p.Shipment.WeightG%100 + int64(n), Currency: "USD"},
		Document: carrier.Document{Format: p.Shipment.Format, Content: []byte("%PDF-")},
	}}
	c.charges[p.Reference] = append(c.charges[p.Reference], sold)
	c.keys[p.CarrierKey] = &remembered{order: p, firstUse: c.now(), sold: sold}
	return sold
}

func (c *ledgerCarrier) Find(_ context.Context, q carrier.Query) ([]carrier.Label, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.caps.Lookup == nil:
		return nil, carrier.ErrNoLookup
	case c.findFail:
		return nil, errors.New("gateway timeout")
	}
	var found []carrier.Label
	for _, sold := range c.charges[q.Reference] {
		if !sold.at.Add(c.caps.Lookup.Lag).After(c.now()) {
			found = append(found, sold.label)
		}
	}
	return found, nil
}

// ledger is what was charged under a reference, and whether more is under way.
func (c *ledgerCarrier) ledger(reference string) (charged []carrier.Label, underWay bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sold := range c.charges[reference] {
		if sold.at.After(c.now()) {
			underWay = true
		} else {
			charged = append(charged, sold.label)
		}
	}
	return charged, underWay
}

// forgive is a person's word that nothing of a reference is open any more: it may be called again.
func (c *ledgerCarrier) forgive(reference string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, reference)
}

// drawMood draws what the next calls will meet; to sell is as likely as all else together.
func drawMood(t *rapid.T, calls int) []whim {
	return rapid.SliceOfN(rapid.OneOf(rapid.Just(sells), rapid.SampledFrom(whims)), calls, calls).Draw(t, "carrier")
}
