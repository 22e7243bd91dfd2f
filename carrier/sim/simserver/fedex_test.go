package simserver

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	fedexParty1 = `{"contact": {"personName": "N", "phoneNumber": "7755550100"},
		"address": {"streetLines": ["S", "T"], "city": "C", "stateOrProvinceCode": "NV", "postalCode": "89501", "countryCode": "US"}}`
	fedexBody = `{"accountNumber": {"value": "740561073"}, "labelResponseOptions": "LABEL", "requestedShipment": {
		"shipper": ` + fedexParty1 + `, "recipients": [` + fedexParty1 + `],
		"serviceType": "FEDEX_GROUND", "packagingType": "YOUR_PACKAGING", "pickupType": "USE_SCHEDULED_PICKUP", "totalWeight": 3.2,
		"shippingChargesPayment": {"paymentType": "SENDER"},
		"labelSpecification": {"imageType": "ZPLII", "labelStockType": "STOCK_4X6"},
		"requestedPackageLineItems": [{"weight": {"units": "LB", "value": 3.2},
			"dimensions": {"length": 12, "width": 8, "height": 5, "units": "IN"},
			"customerReferences": [{"customerReferenceType": "CUSTOMER_REFERENCE", "value": "REF1"}]}]}}`
	fedexForm = "grant_type=client_credentials&client_id=i&client_secret=s"
)

func fedexToken(t *testing.T, b *testBundle) string {
	t.Helper()
	status, _, answer := send(t, b.request(t, "POST", "/fedex/oauth/token", fedexForm, "Content-Type", "application/x-www-form-urlencoded"))
	require.Equal(t, 200, status, "%v", answer)
	return "Bearer " + answer["access_token"].(string)
}

func fedexCall(t *testing.T, b *testBundle, method, path, body string) *http.Request {
	t.Helper()
	return b.request(t, method, "/fedex/ship/v1/shipments"+path, body, "Authorization", fedexToken(t, b), fedexTransaction, "REF1")
}

func fedexPieceOf(answer map[string]any) any {
	return at(answer, "output", "transactionShipments", 0, "pieceResponses", 0)
}

func TestFedExFaults(t *testing.T) {
	t.Parallel()
	for _, reference := range []func(map[string]any) any{
		func(a map[string]any) any { return a["customerTransactionId"] },
		func(a map[string]any) any { return at(fedexPieceOf(a), "customerReferences", 0, "value") },
	} {
		testWire(t, Blind, wire{
			order: func(t *testing.T, b *testBundle, reference string) *http.Request {
				t.Helper()
				return fedexCall(t, b, "POST", "", strings.Replace(fedexBody, "REF1", reference, 1))
			},
			reference: reference,
			tracking:  func(a map[string]any) any { return at(fedexPieceOf(a), "trackingNumber") },
			status:    200, refused: 400, late: 503,
		})
	}
}

func TestFedExPrice(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	_, _, answer := send(t, fedexCall(t, b, "POST", "", fedexBody))
	charge := b.Entries()[0]
	require.EqualValues(t, 645, charge.AmountCents)
	require.Equal(t, charge.TrackingNo, charge.LabelID)
	piece := fedexPieceOf(answer)
	require.InDelta(t, 6.45, at(piece, "netChargeAmount"), 0.0001)
	require.InDelta(t, 8.06, at(piece, "netListRateAmount"), 0.0001)
	rating := at(answer, "output", "transactionShipments", 0, "completedShipmentDetail", "shipmentRating")
	require.Equal(t, at(rating, "actualRateType"), at(rating, "shipmentRateDetails", 1, "rateType"))
	require.Equal(t, "USD", at(rating, "shipmentRateDetails", 1, "currency"))
	require.NotEmpty(t, at(piece, "packageDocuments", 0, "encodedLabel"))

	send(t, fedexCall(t, b, "POST", "", fedexBody))
	require.Len(t, b.Entries(), 2, "the id of a call is no key")
}

func TestFedExCancel(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	_, _, answer := send(t, fedexCall(t, b, "POST", "", fedexBody))
	cancel := func(account, number string) (int, map[string]any) {
		status, _, answer := send(t, fedexCall(t, b, "PUT", "/cancel", `{"accountNumber": {"value": "`+account+
			`"}, "deletionControl": "DELETE_ALL_PACKAGES", "trackingNumber": "`+number+`"}`))
		return status, answer
	}
	number := at(fedexPieceOf(answer), "trackingNumber").(string)
	status, answer := cancel("1", number)
	require.Equal(t, 400, status)
	require.Equal(t, "SHIPMENT.USER.UNAUTHORIZED", at(answer, "errors", 0, "code"))
	for _, cancelled := range []bool{true, false} {
		status, answer = cancel("740561073", number)
		require.Equal(t, 200, status)
		require.Equal(t, cancelled, at(answer, "output", "cancelledShipment"))
		require.Equal(t, true, at(answer, "output", "cancelledHistory"))
		require.NotEmpty(t, at(answer, "output", "successMessage"))
	}
	status, _ = cancel("740561073", "none")
	require.Equal(t, 404, status)
	require.Len(t, b.Entries(), 2)
}

func TestFedExToken(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Secret = "s" })
	for form, want := range map[string]int{
		strings.Replace(fedexForm, "secret=s", "secret=t", 1): 401,
		strings.Replace(fedexForm, "client_id", "id", 1):      400,
		"": 400,
	} {
		status, _, answer := send(t, b.request(t, "POST", "/fedex/oauth/token", form, "Content-Type", "application/x-www-form-urlencoded"))
		require.Equal(t, want, status)
		require.NotEmpty(t, at(answer, "errors", 0, "code"))
	}
	req := fedexCall(t, b, "POST", "", fedexBody)
	b.advance(time.Hour)
	status, _, answer := send(t, req)
	require.Equal(t, 401, status, "the token has run out")
	require.Equal(t, "NOT.AUTHORIZED.ERROR", at(answer, "errors", 0, "code"))
	require.Equal(t, "REF1", answer["customerTransactionId"])
	require.Empty(t, b.Entries())
}

func TestFedExRefusesWhatIsNoOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for name, change := range map[string][2]string{
		"NotJSON":        {`{"accountNumber"`, `{{"accountNumber"`},
		"UnknownMember":  {`"pickupType"`, `"weight_g": 1450, "pickupType"`},
		"NoAccount":      {"740561073", ""},
		"URLWanted":      {`"LABEL"`, `"URL_ONLY"`},
		"NoRecipient":    {`"recipients": [` + fedexParty1 + `]`, `"recipients": []`},
		"NoPhone":        {`"phoneNumber": "7755550100"`, `"phoneNumber": ""`},
		"LongLine":       {`["S", "T"]`, `["` + strings.Repeat("S", 36) + `"]`},
		"FourLines":      {`["S", "T"]`, `["S", "T", "U", "V"]`},
		"LongState":      {`"NV"`, `"Nevada"`},
		"UnknownService": {"FEDEX_GROUND", "ground"},
		"NoTotal":        {`"totalWeight": 3.2,`, ""},
		"NoPayer":        {`"paymentType": "SENDER"`, ""},
		"UnknownImage":   {"ZPLII", "GIF"},
		"Ounces":         {`"LB"`, `"OZ"`},
		"Grams":          {`"value": 3.2`, `"value": 1450`},
		"HalfAnInch":     {`"length": 12`, `"length": 11.5`},
		"Millimetres":    {`"length": 12`, `"length": 300`},
		"LongReference":  {`"REF1"`, `"` + strings.Repeat("R", 41) + `"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, _, answer := send(t, fedexCall(t, b, "POST", "", strings.Replace(fedexBody, change[0], change[1], 1)))
			require.Equal(t, 400, status)
			require.NotEmpty(t, at(answer, "errors", 0, "parameterList", 0, "key"))
		})
	}
	t.Cleanup(func() { require.Empty(t, b.Entries()) })
}
