package carriertest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
)

// Takes holds that whatever passes Check is bought: a shipment is accepted on Check's word, and refusing
// it afterwards helps nobody. What else must be true of a purchase is asked of sold; nil asks nothing.
func Takes(t *testing.T, b Bench, draw func(*rapid.T) carrier.Shipment, sold func(*rapid.T, carrier.Purchase)) {
	t.Helper()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := draw(rt)
		if len(b.Carrier.Check(s)) > 0 {
			rt.Skip("refused in time")
		}
		n++
		p := carrier.Purchase{CarrierKey: "k" + strconv.Itoa(n), Reference: "TAKEN" + strconv.Itoa(n), Shipment: s}
		r := b.buy(t.Context(), p)
		require.Equal(rt, carrier.Bought, r.Outcome, "%s: %s", r.Code, r.Message)
		if sold != nil {
			sold(rt, p)
		}
	})
}

// TakesAndFinds is [Takes], of a carrier whose look-up then tells what was bought: the service, and a weight
// that is not below the parcel's, nor above it by more than the carrier's step.
func TakesAndFinds(t *testing.T, b Bench, draw func(*rapid.T) carrier.Shipment) {
	t.Helper()
	Takes(t, b, draw, func(rt *rapid.T, p carrier.Purchase) {
		found, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: p.Reference})
		require.NoError(rt, err)
		require.Len(rt, found, 1)
		require.Equal(rt, p.Shipment.Service, found[0].Service)
		off := found[0].WeightG - p.Shipment.WeightG
		require.GreaterOrEqual(rt, off, int64(0))
		require.LessOrEqual(rt, off, found[0].WeightStepG)
	})
}

// Edges are the edges of what a carrier takes within the United States.
type Edges struct {
	Services []string
	WeightG  int64 // the heaviest
	SideMM   int64 // a long one
	Lines    []int // lengths, in characters, at which some part of an address ends
}

// Draw draws mostly good shipments, from the edges of what is good.
func (e Edges) Draw(t *rapid.T) carrier.Shipment {
	from, to := e.address(t), e.address(t)
	side := rapid.SampledFrom([]int64{1, 25, 254, 255, e.SideMM})
	return carrier.Shipment{
		Service:    rapid.SampledFrom(e.Services).Draw(t, "service"),
		WeightG:    rapid.SampledFrom([]int64{1, 28, 453, 999, 1000, 1001, e.WeightG}).Draw(t, "weight"),
		Dimensions: &carrier.Dimensions{Length: side.Draw(t, "length"), Width: side.Draw(t, "width"), Height: side.Draw(t, "height")},
		ShipFrom:   from,
		ShipTo:     to,
		Format:     rapid.SampledFrom([]carrier.Format{carrier.PDF, carrier.PNG, carrier.ZPL}).Draw(t, "format"),
	}
}

func (e Edges) address(t *rapid.T) carrier.Address {
	lines := []string{"x", "Ada Jones", " 12 Elm Street ", "Zoë & Söhne <\"\\/>", "\u00a0y", "a  b"}
	for _, long := range e.Lines {
		lines = append(lines, " "+strings.Repeat("ÿ", long)+" ", strings.Repeat("v", long)+" w")
	}
	line := rapid.SampledFrom(lines)
	optional := rapid.OneOf(rapid.Just(""), rapid.Just("  "), line)
	return carrier.Address{
		Name:       line.Draw(t, "name"),
		Company:    optional.Draw(t, "company"),
		Street1:    line.Draw(t, "street1"),
		Street2:    optional.Draw(t, "street2"),
		City:       line.Draw(t, "city"),
		State:      rapid.SampledFrom([]string{"NV", " PR "}).Draw(t, "state"),
		PostalCode: rapid.SampledFrom([]string{"89501", " 89501 ", "89501-1234"}).Draw(t, "postal_code"),
		Country:    "US",
		Phone:      rapid.SampledFrom([]string{"7755550100", "+1 (775) 555-0100"}).Draw(t, "phone"),
		Email:      rapid.SampledFrom([]string{"a@b.example", " dock@example.org "}).Draw(t, "email"),
	}
}
