// Package carriertest is the suite that every carrier adapter passes. It knows the promises of
// [carrier.Carrier] and no carrier by name: a [Bench] brings the adapter, a carrier that can be
// made to fail, and that carrier's own account of what it charged.
//
// It is for tests only.
package carriertest

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// Fault is one way for the carrier to fail a purchase.
type Fault string

// The faults a bench must be able to cause. Before and after are said of the charge.
const (
	Refuse            Fault = "refuse"
	RateLimited       Fault = "rate_limited"
	ErrorBeforeCharge Fault = "error_before_charge"
	ErrorAfterCharge  Fault = "error_after_charge"
	ResetBeforeCharge Fault = "reset_before_charge"
	ResetAfterCharge  Fault = "reset_after_charge"
	HangBeforeCharge  Fault = "hang_before_charge"
	HangAfterCharge   Fault = "hang_after_charge"
	Malformed         Fault = "malformed"
	Truncated         Fault = "truncated"
	WrongReference    Fault = "wrong_reference"
	NoTracking        Fault = "no_tracking"
	OverPrice         Fault = "over_price"
)

// Charge is one line of the carrier's account.
type Charge struct {
	TrackingNo string
	Cost       carrier.Money
}

// Bench is one adapter in front of one carrier. Each test has a bench of its own.
type Bench struct {
	// Carrier is the adapter under test. Unreachable is another of the same configuration, whose
	// address nobody listens at.
	Carrier     carrier.Carrier
	Unreachable carrier.Carrier

	// Shipment is one the carrier takes, with a price limit above its price and below what the
	// fault over_price makes of it.
	Shipment carrier.Shipment

	// Fail makes the next purchase, and only that, go wrong.
	Fail func(Fault)

	// Intercept sends the next purchase, and only that, to the handler instead of to the carrier.
	Intercept func(http.Handler)

	// Charges is what the carrier says it charged under the reference, whatever the adapter says.
	Charges func(reference string) []Charge

	// Hanging receives a value when a purchase has begun to hang.
	Hanging <-chan struct{}

	// Unsaid are the faults that cannot be seen, because the carrier's answer says nothing of the
	// kind: a label that answers one of them is bought.
	Unsaid []Fault

	// Unique is true of a carrier that keeps a reference for one shipment: once a label was sold for
	// it, whoever prepares it again is told so.
	Unique bool

	// KeyHeader is the header that the key goes out in; empty stands for Idempotency-Key.
	KeyHeader string
}

// buy buys as the outbox does: of a two-step carrier, what was prepared before.
func (b Bench) buy(ctx context.Context, p carrier.Purchase) carrier.Result {
	if preparer, ok := b.Carrier.(carrier.Preparer); ok && p.RemoteID == "" {
		made := preparer.Prepare(ctx, p)
		switch {
		case made.Sold:
			return carrier.Result{Outcome: carrier.Unknown}
		case made.RemoteID == "":
			return made.Refusal
		}
		p.RemoteID = made.RemoteID
	}
	return b.Carrier.Buy(ctx, p)
}

// prepared is the order as it is bought.
func (b Bench) prepared(t *testing.T, p carrier.Purchase) carrier.Purchase {
	t.Helper()
	preparer, ok := b.Carrier.(carrier.Preparer)
	if !ok {
		return p
	}
	made := preparer.Prepare(t.Context(), p)
	require.NotEmpty(t, made.RemoteID, "%s: %s", made.Refusal.Code, made.Refusal.Message)
	p.RemoteID = made.RemoteID
	return p
}

// Run tests the adapter. The setup is called once a test, and cleans up after itself.
func Run(t *testing.T, setup func(t *testing.T) Bench) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Bench){
		"BuysOnceAndEchoesTheOrder":          buys,
		"EveryAttemptSendsTheSameBytes":      sameBytes,
		"KeyHeaderOnlyIfTheCarrierHonoursIt": keyHeader,
		"SameKeyBuysOnce":                    sameKey,
		"RateLimitSaysWhenToComeBack":        rateLimit,
		"DyingConnectionIsNotTriedAgain":     dyingConnection,
		"RedirectTakesNothingElsewhere":      redirect,
		"UnreachableIsNotBought":             unreachable,
		"EndedBeforeTheCallIsNotBought":      endedBefore,
		"FindsAllLabelsOfAReference":         findsAll,
		"FindsWhatALostAnswerBought":         findsLost,
		"EndedLookupIsAnError":               endedLookup,
		"VoidsAndVoidsAgain":                 voids,
		"VoidOfNothingIsRefused":             voidsNothing,
		"WhatIsPreparedIsNotBought":          prepares,
		"DocumentIsFetchedApart":             fetchesDocument,
		"ProbeBuysNothing":                   probes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, setup(t))
		})
	}
	t.Run("Faults", func(t *testing.T) {
		t.Parallel()
		faults(t, setup)
	})
	t.Run("NothingElseIsBought", func(t *testing.T) {
		t.Parallel()
		otherAnswers(t, setup)
	})
}

// purchase is the order of this shipment under the number n.
func (b Bench) purchase(n string) carrier.Purchase {
	return carrier.Purchase{
		CarrierKey: "carrier:fulfilment:label:" + n + ":1:v1",
		Reference:  "CARRIERTEST" + n,
		Shipment:   b.Shipment,
	}
}
