package fedex

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/internal/units"
)

func TestOrderBytes(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.Service = homeDelivery
	p.Shipment.Dimensions = &carrier.Dimensions{Length: 300, Width: 200, Height: 120}
	p.Shipment.ShipFrom = carrier.Address{
		Name: "Dispatch", Company: " Northwind Depot ", Street1: "1 Dock Road", City: "Reno", State: "NV", PostalCode: "89501",
		Country: "US", Phone: "(775) 555-0100",
	}
	p.Shipment.ShipTo = carrier.Address{
		Name: "Zoë Müller", Street1: "12 Fable Street", Street2: "Flat 3", City: "Springfield", State: "IL",
		PostalCode: "62701", Country: "US", Phone: "+1 217 555 0100", Email: "z@example.org",
	}
	a := &Adapter{cfg: Config{Account: "740561073", PickupType: "USE_SCHEDULED_PICKUP"}}

	body, err := a.encodeOrder(p)

	require.NoError(t, err)
	require.Equal(t, `{"accountNumber":{"value":"740561073"},"labelResponseOptions":"LABEL","requestedShipment":{`+
		`"shipper":{"contact":{"personName":"Dispatch","phoneNumber":"7755550100","companyName":"Northwind Depot"},`+
		`"address":{"streetLines":["1 Dock Road"],"city":"Reno","stateOrProvinceCode":"NV","postalCode":"89501","countryCode":"US"}},`+
		`"recipients":[{"contact":{"personName":"Zoë Müller","phoneNumber":"+12175550100"},`+
		`"address":{"streetLines":["12 Fable Street","Flat 3"],"city":"Springfield","stateOrProvinceCode":"IL",`+
		`"postalCode":"62701","countryCode":"US","residential":true}}],`+
		`"serviceType":"GROUND_HOME_DELIVERY","packagingType":"YOUR_PACKAGING","pickupType":"USE_SCHEDULED_PICKUP","totalWeight":3.2,`+
		`"shippingChargesPayment":{"paymentType":"SENDER"},"labelSpecification":{"imageType":"PDF","labelStockType":"PAPER_4X6"},`+
		`"requestedPackageLineItems":[{"weight":{"units":"LB","value":3.2},`+
		`"dimensions":{"length":12,"width":8,"height":5,"units":"IN"},`+
		`"customerReferences":[{"customerReferenceType":"CUSTOMER_REFERENCE","value":"REF1"}]}]}}`, string(body))
}

func TestBuyRejectsTextThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.ShipTo.Name = "\xff"
	require.Equal(t, carrier.Rejected, (&Adapter{}).Buy(t.Context(), p).Outcome)
}

// TestWeightsAndLengths: rounded up to the carrier's step, which never reaches the next pound or inch.
func TestWeightsAndLengths(t *testing.T) {
	t.Parallel()
	for grams, want := range map[int64]string{1: "0.01", 453: "1", 454: "1.01", 1450: "3.2", maxWeightG: "150"} {
		require.Equal(t, want, string(pounds(grams, poundDecimals)))
	}
	for mm, want := range map[int64]string{1: "1", 254: "10", 255: "11", maxSideMM: "119"} {
		require.Equal(t, want, string(newDimensions(&carrier.Dimensions{Length: mm}).Length))
	}
	rapid.Check(t, func(t *rapid.T) {
		grams := rapid.Int64Range(1, maxWeightG).Draw(t, "grams")
		back, err := units.Pound.ToMetric(string(pounds(grams, poundDecimals)))
		if err != nil || back < grams || back-grams > units.Pound.Step(poundDecimals) {
			t.Fatalf("%d g came back as %d (%v)", grams, back, err)
		}
	})
}
