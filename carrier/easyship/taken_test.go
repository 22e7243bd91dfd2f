package easyship_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/carrier/sim/simserver"
)

// TestWhatPassesCheckIsTaken: a shipment is accepted on Check's word, and refusing it afterwards helps
// nobody.
func TestWhatPassesCheckIsTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t, simserver.Keyed, classes[simserver.Keyed])
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := drawShipment(rt)
		if len(b.Carrier.Check(s)) > 0 {
			rt.Skip("refused in time")
		}
		n++
		p := carrier.Purchase{CarrierKey: "k" + strconv.Itoa(n), Reference: "TAKEN" + strconv.Itoa(n), Shipment: s}
		r := b.Carrier.Buy(t.Context(), p)
		require.Equal(rt, carrier.Bought, r.Outcome, "%s: %s", r.Code, r.Message)
		found, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: p.Reference})
		require.NoError(rt, err)
		require.Len(rt, found, 1)
		require.Equal(rt, strings.TrimSpace(s.ShipTo.PostalCode), found[0].ShipTo.PostalCode)
		require.Equal(rt, s.WeightG, found[0].WeightG)
	})
}

// drawShipment draws mostly good shipments, from the edges of what is good.
func drawShipment(t *rapid.T) carrier.Shipment {
	from, to := drawAddress(t), drawAddress(t)
	side := rapid.SampledFrom([]int64{1, 25, 254, 255, 900})
	return carrier.Shipment{
		Service:    rapid.SampledFrom([]string{"ground"}).Draw(t, "service"),
		WeightG:    rapid.SampledFrom([]int64{1, 28, 453, 999, 1000, 1001, 70000}).Draw(t, "weight"),
		Dimensions: &carrier.Dimensions{Length: side.Draw(t, "length"), Width: side.Draw(t, "width"), Height: side.Draw(t, "height")},
		ShipFrom:   from,
		ShipTo:     to,
		Format:     rapid.SampledFrom([]carrier.Format{carrier.PDF, carrier.PNG, carrier.ZPL}).Draw(t, "format"),
	}
}

func drawAddress(t *rapid.T) carrier.Address {
	lines := []string{"x", "Ada Jones", " 12 Elm Street ", "Zoë & Söhne <\"\\/>", " y", "a  b"}
	for _, long := range []int{20, 22, 33, 35} {
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
