package usps

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/internal/units"
)

// TestOrderBytes pins the bytes: the carrier compares them before it honours a key, and an attempt made
// before a deployment must look like one made after it.
func TestOrderBytes(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.Dimensions = &carrier.Dimensions{Length: 300, Width: 200, Height: 120}
	p.Shipment.ShipFrom = carrier.Address{
		Name: "Dispatch", Company: " Northwind Depot ", Street1: "1 Dock Road", City: "Reno", State: "NV", PostalCode: "89501", Country: "US",
	}
	p.Shipment.ShipTo = carrier.Address{
		Name: "Zoë van  Müller", Street1: "12 Fable Street", Street2: "Flat 3", City: "Springfield", State: "IL",
		PostalCode: "62701-1234", Country: "US", Phone: "+1 555 0100", Email: "z@example.org",
	}

	body, err := encodeOrder(p)

	require.NoError(t, err)
	require.Equal(t, `{"imageInfo":{"imageType":"PDF","labelType":"4X6LABEL","receiptOption":"NONE"},`+
		`"toAddress":{"firstName":"Zoë van","lastName":"Müller","streetAddress":"12 Fable Street",`+
		`"secondaryAddress":"Flat 3","city":"Springfield","state":"IL","ZIPCode":"62701","ZIPPlus4":"1234"},`+
		`"fromAddress":{"firstName":"Dispatch","firm":"Northwind Depot","streetAddress":"1 Dock Road",`+
		`"city":"Reno","state":"NV","ZIPCode":"89501"},`+
		`"packageDescription":{"mailClass":"USPS_GROUND_ADVANTAGE","rateIndicator":"SP","weightUOM":"lb","weight":3.1968,`+
		`"dimensionsUOM":"in","length":11.82,"height":4.73,"width":7.88,"processingCategory":"MACHINABLE",`+
		`"mailingDate":"2026-12-01","extraServices":[],"destinationEntryFacilityType":"NONE",`+
		`"customerReference":[{"referenceNumber":"REF1","printReferenceNumber":true}]}}`, string(body))
}

func TestBuyRejectsTextThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.ShipTo.City = "\xff"
	_, err := encodeOrder(p)
	require.Error(t, err)
}

func TestSplitName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"Ada Jones":            {"Ada", "Jones"},
		"  Ada  B.  Jones ":    {"Ada B.", "Jones"},
		"Madonna":              {"Madonna", ""},
		"":                     {"", ""},
		"Zoë von der Müller-X": {"Zoë von der", "Müller-X"},
	} {
		first, last := splitName(name)
		require.Equal(t, want, [2]string{first, last}, name)
	}
	require.Equal(t, "Madonna", newAddress(carrier.Address{Name: "Madonna"}).Firm)
	require.Empty(t, newAddress(carrier.Address{Name: "Madonna"}).FirstName)
	require.Equal(t, "Madonna", newAddress(carrier.Address{Name: "Madonna", Company: "Firm"}).FirstName)
}

func TestSplitZIP(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][2]string{
		"89501": {"89501", ""}, "89501-1234": {"89501", "1234"}, " 895011234 ": {"89501", "1234"}, "895": {"895", ""},
	} {
		zip, plus4 := splitZIP(code)
		require.Equal(t, want, [2]string{zip, plus4}, code)
	}
}

// TestWeightIsPaidByTheOunce: what weighs no more than so many ounces must not be paid as one more.
func TestWeightIsPaidByTheOunce(t *testing.T) {
	t.Parallel()
	for grams, want := range map[int64]string{28: "0.0618", 1: "0.0023", 453: "0.9987", 454: "1.0009", maxWeightG: "69.999"} {
		require.Equal(t, want, units.Pound.FromMetric(grams, poundDecimals))
	}
	rapid.Check(t, func(t *rapid.T) {
		grams := rapid.Int64Range(1, maxWeightG).Draw(t, "grams")
		back, err := units.Pound.ToMetric(units.Pound.FromMetric(grams, poundDecimals))
		if err != nil || back < grams || back-grams > units.Pound.Step(poundDecimals) {
			t.Fatalf("%d g came back as %d (%v)", grams, back, err)
		}
	})
}

func TestRateIndicatorAndCategory(t *testing.T) {
	t.Parallel()
	small := carrier.Dimensions{Length: 300, Width: 200, Height: 120}
	large := carrier.Dimensions{Length: 400, Width: 400, Height: 300}
	require.Equal(t, "SP", rateIndicator("PRIORITY_MAIL", small))
	require.Equal(t, "DR", rateIndicator("PRIORITY_MAIL", large))
	require.Equal(t, "SP", rateIndicator("MEDIA_MAIL", large))
	require.Equal(t, "PA", rateIndicator("PRIORITY_MAIL_EXPRESS", large))
	require.Equal(t, "MACHINABLE", category(1450, small))
	require.Equal(t, "MACHINABLE", category(1450, carrier.Dimensions{Length: 120, Width: 300, Height: 200}))
	require.Equal(t, "NONSTANDARD", category(11_340, small))
	require.Equal(t, "NONSTANDARD", category(1450, carrier.Dimensions{Length: 600, Width: 200, Height: 120}))
	require.Equal(t, "NONSTANDARD", category(1450, carrier.Dimensions{Length: 300, Width: 200, Height: 6}))
}

func TestWireKey(t *testing.T) {
	t.Parallel()
	require.NotEqual(t, wireKey("carrier:c:k"), wireKey("carrier:c:l"))
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, wireKey("carrier:c:k"))
	require.Equal(t, "d95913b8-7012-5d6c-ac30-ae600e0787ef", wireKey("carrier:fulfilment:k"), "a deployment must not change it")
}
