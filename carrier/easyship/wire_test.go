package easyship

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/internal/units"
)

// TestOrderBytes pins the bytes: what is stored under a key is the answer to them.
func TestOrderBytes(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.Dimensions = &carrier.Dimensions{Length: 305, Width: 200, Height: 120}
	p.Shipment.ShipFrom = carrier.Address{
		Name: "Dispatch", Company: " Northwind Depot ", Street1: "1 Dock Road", City: "Reno", State: "NV", PostalCode: "89501",
		Country: "US", Phone: "775 555 0100", Email: "dock@example.org",
	}
	p.Shipment.ShipTo = carrier.Address{
		Name: "Zoë Müller", Street1: "12 Fable Street", Street2: "Flat 3", City: "Springfield", State: "IL",
		PostalCode: "62701", Country: "US", Phone: "+1 217 555 0100", Email: "z@example.org",
	}

	body, err := adapter().encodeOrder(p)

	require.NoError(t, err)
	require.Equal(t, `{"origin_address":{"contact_name":"Dispatch","company_name":"Northwind Depot","contact_phone":"775 555 0100",`+
		`"contact_email":"dock@example.org","line_1":"1 Dock Road","city":"Reno","state":"NV","postal_code":"89501","country_alpha2":"US"},`+
		`"destination_address":{"contact_name":"Zoë Müller","contact_phone":"+1 217 555 0100","contact_email":"z@example.org",`+
		`"line_1":"12 Fable Street","line_2":"Flat 3","city":"Springfield","state":"IL","postal_code":"62701","country_alpha2":"US"},`+
		`"insurance":{"is_insured":false},"order_data":{"platform_order_number":"REF1"},`+
		`"courier_selection":{"selected_courier_id":"c3e97b11-2842","allow_courier_fallback":false,"apply_shipping_rules":false},`+
		`"shipping_settings":{"units":{"weight":"kg","dimensions":"cm"},"buy_label":true,"buy_label_synchronous":true,`+
		`"printing_options":{"format":"pdf","label":"4x6"}},`+
		`"parcels":[{"total_actual_weight":1.45,"box":{"slug":"custom","length":30.5,"width":20,"height":12},`+
		`"items":[{"description":"Goods","category":"fashion","quantity":1,"actual_weight":1.45,"declared_currency":"USD",`+
		`"declared_customs_value":1,"origin_country_alpha2":"US"}]}]}`, string(body))
}

func TestBuyRejectsTextThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.ShipTo.Name = "\xff"
	require.Equal(t, carrier.Rejected, adapter().Buy(t.Context(), p).Outcome)
}

// TestNothingIsRounded: the carrier's steps are grams and millimetres.
func TestNothingIsRounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64Range(1, maxWeightG).Draw(t, "metric")
		grams, err := units.Kilogram.ToMetric(units.Kilogram.FromMetric(v, kilogramDecimals))
		if err != nil || grams != v {
			t.Fatalf("%d g came back as %d (%v)", v, grams, err)
		}
		mm, err := units.Centimetre.ToMetric(string(centimetres(v)))
		if err != nil || mm != v {
			t.Fatalf("%d mm came back as %d (%v)", v, mm, err)
		}
	})
}

func TestWireKey(t *testing.T) {
	t.Parallel()
	longest := "carrier:c:" + strings.Repeat("k", maxKey-len("carrier:c:"))
	require.Equal(t, longest, wireKey(longest))
	require.True(t, strings.HasPrefix(wireKey(longest+"k"), "carrier::sha256:"))
	require.NotEqual(t, wireKey(longest+"k"), wireKey(longest+"l"))
}
