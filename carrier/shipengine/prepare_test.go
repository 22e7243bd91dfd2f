package shipengine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

// made is the shipment that goodPurchase makes.
const made = `{"errors": [], "shipment_id": "se-1", "external_shipment_id": "REF1", "carrier_id": "se-5",
 "service_code": "usps_ground_advantage", "shipment_status": "pending", "ship_to": {"postal_code": "62701"},
 "packages": [{"weight": {"value": 51.20, "unit": "ounce"}}]}`

func answered(shipment string) string {
	return `{"has_errors": false, "shipments": [` + shipment + `]}`
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	const create, known = "POST /shipments", "GET /shipments/external_shipment_id/REF1"
	with := func(old, replacement string) string { return strings.Replace(made, old, replacement, 1) }
	refusing := `{"has_errors": true, "shipments": [{"errors": ["12 Fable St. (rear) is unknown"], "shipment_id": null}]}`
	for name, tt := range map[string]struct {
		answers map[string]string
		want    string // remote id, or else
		refuse  carrier.Outcome
		code    string
	}{
		"Good":                {map[string]string{create: answered(made)}, "se-1", "", ""},
		"Duplicate":           {map[string]string{create: "status 400", known: made}, "se-1", "", ""},
		"DuplicateAsConflict": {map[string]string{create: "status 409", known: made}, "se-1", "", ""},
		"DuplicateAsWords":    {map[string]string{create: refusing, known: made}, "se-1", "", ""},
		"AddressCorrected":    {map[string]string{create: "status 400", known: with("62701", "62701-1234")}, "se-1", "", ""},
		"NoDuplicate":         {map[string]string{create: "status 400"}, "", carrier.NotBought, "some_code"},
		"Refused":             {map[string]string{create: refusing}, "", carrier.NotBought, codeShipmentErrs},
		"CannotBeLookedUp":    {map[string]string{create: "status 400", known: "status 500"}, "", carrier.NotBought, carrierhttp.CodeNoAnswer},
		"TakenByService":      {map[string]string{create: "status 400", known: with("usps_ground_advantage", "x")}, "", carrier.Rejected, codeTaken},
		"TakenByCarrier":      {map[string]string{create: "status 400", known: with("se-5", "se-6")}, "", carrier.Rejected, codeTaken},
		"TakenByAddress":      {map[string]string{create: "status 400", known: with("62701", "62702")}, "", carrier.Rejected, codeTaken},
		"TakenByWeight":       {map[string]string{create: "status 400", known: with("51.20", "51.3")}, "", carrier.Rejected, codeTaken},
		"OtherReferenceShown": {map[string]string{create: "status 400", known: with("REF1", "REF2")}, "", carrier.NotBought, carrierhttp.CodeNoAnswer},
		"SoldAlready":         {map[string]string{create: "status 400", known: with("pending", "label_purchased")}, "se-1", "", ""},
		"SoldOtherwise":       {map[string]string{create: "status 400", known: strings.Replace(with("pending", "label_purchased"), "51.20", "51.3", 1)}, "se-1", "", ""},
		"AddressTidied":       {map[string]string{create: "status 400", known: with("62701", " 62 701")}, "se-1", "", ""},
		"CutOffReference":     {map[string]string{create: answered(with("REF1", "REF"))}, "", carrier.Rejected, codeTaken},
		"NoID":                {map[string]string{create: answered(with("se-1", "../x"))}, "", carrier.NotBought, carrierhttp.CodeMalformed},
		"NoShipment":          {map[string]string{create: answered("")}, "", carrier.NotBought, carrierhttp.CodeMalformed},
		"TwoShipments":        {map[string]string{create: answered(made + "," + made)}, "", carrier.NotBought, carrierhttp.CodeMalformed},
		"ErrorsUnannounced":   {map[string]string{create: answered(with("[]", `["no"]`))}, "", carrier.NotBought, codeShipmentErrs},
		"Unauthorized":        {map[string]string{create: "status 401"}, "", carrier.NotBought, "some_code"},
		"RateLimited":         {map[string]string{create: "status 429"}, "", carrier.NotBought, "some_code"},
		"ServerError":         {map[string]string{create: "status 500"}, "", carrier.NotBought, "some_code"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := talk(t, tt.answers)
			got := a.Prepare(t.Context(), goodPurchase())
			require.Equal(t, tt.want, got.RemoteID)
			require.Equal(t, strings.HasPrefix(name, "Sold"), got.Sold)
			require.Equal(t, tt.refuse, got.Refusal.Outcome)
			require.Equal(t, tt.code, got.Refusal.Code)
			require.NotContains(t, got.Refusal.Message, "Fable")
			require.Equal(t, tt.code == codeShipmentErrs || name == "NoDuplicate", got.Refusal.AboutOrder)
		})
	}
}

// TestLongReferenceIsNotSent: the carrier would cut it off, and find other labels by it.
func TestLongReferenceIsNotSent(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Reference = strings.Repeat("R", 51)
	require.Equal(t, codeTooLong, adapter().Prepare(t.Context(), p).Refusal.Code)
}

func TestDocumentedRefusalOfAShipmentIsFinal(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]carrier.Outcome{
		"invalid_address": carrier.Rejected, "insufficient_funds": carrier.NotBought, "unspecified": carrier.NotBought,
	} {
		got, recoverable := adapter().judgePrepared(goodPurchase(), jsonAnswer(400, errorBody(code)))
		require.Equal(t, want, got.Refusal.Outcome)
		require.True(t, recoverable)
	}
}

func TestRemoteIDOfAnotherKindIsRenewed(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "se-", "shp_1,rate_1", "se-1/../x"} {
		p := goodPurchase()
		p.RemoteID = id
		r := adapter().Buy(t.Context(), p)
		require.Equal(t, carrier.NotBought, r.Outcome, "id %q", id)
		require.True(t, r.Renew, "id %q", id)
		require.True(t, r.AboutOrder, "id %q", id)
	}
}

func TestEncodeOrder(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.Dimensions = &carrier.Dimensions{Length: 300, Width: 1, Height: 254}
	p.Shipment.ShipTo.Street1 += " " // does not count, and is not sent
	body, err := adapter().encodeOrder(p)
	require.NoError(t, err)
	require.JSONEq(t, `{"shipments": [{"external_shipment_id": "REF1", "carrier_id": "se-5", "service_code": "usps_ground_advantage",
		"ship_to": {"name": "Zoë Müller", "address_line1": "12 Fable St. (rear)", "postal_code": "62701"}, "ship_from": {},
		"packages": [{"weight": {"value": 51.2, "unit": "ounce"}, "dimensions": {"unit": "inch", "length": 11.9, "width": 0.1, "height": 10}}]}]}`, string(body))

	p.Shipment.ShipTo.Name = "\xff"
	require.Equal(t, carrierhttp.CodeUnencodable, adapter().Prepare(t.Context(), p).Refusal.Code)
}

// TestWeightSurvivesTheCarrier: what is sent in ounces is never lighter than the parcel, and comes back
// within the step that a look-up allows.
func TestWeightSurvivesTheCarrier(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sent := rapid.Int64Range(1, maxWeightG).Draw(t, "grams")
		back := grams([]parcels{newParcel(carrier.Shipment{WeightG: sent})})
		if back < sent || back-sent > units.Ounce.Step(decimals) {
			t.Fatalf("%d g came back as %d g", sent, back)
		}
	})
}
