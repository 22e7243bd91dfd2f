package simserver

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	uspsBody = `{"imageInfo": {"imageType": "ZPL203DPI", "labelType": "4X6LABEL", "receiptOption": "NONE"},
		"toAddress": {"firstName": "F", "lastName": "L", "streetAddress": "S", "city": "C", "state": "MO", "ZIPCode": "63104"},
		"fromAddress": {"firm": "D", "streetAddress": "S", "city": "C", "state": "NV", "ZIPCode": "89501"},
		"packageDescription": {"mailClass": "USPS_GROUND_ADVANTAGE", "rateIndicator": "SP", "weightUOM": "lb", "weight": 3.2,
			"dimensionsUOM": "in", "length": 12, "height": 6, "width": 4.8, "processingCategory": "MACHINABLE",
			"mailingDate": "2026-12-01", "destinationEntryFacilityType": "NONE",
			"customerReference": [{"referenceNumber": "REF1", "printReferenceNumber": true}]}}`
	uspsRoles = `{"roles": [{"roleName": "PAYER", "CRID": "12345678", "accountType": "EPS", "accountNumber": "1234"},
		{"roleName": "LABEL_OWNER", "CRID": "12345678", "MID": "123456", "manifestMID": "123456"}]}`
	uspsKey1 = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
)

// uspsCall is a call with both tokens.
func uspsCall(t *testing.T, b *testBundle, method, path, body string, header ...string) *http.Request {
	t.Helper()
	_, _, answer := send(t, b.request(t, "POST", "/usps/oauth2/v3/token",
		`{"grant_type": "client_credentials", "client_id": "i", "client_secret": "s"}`))
	access := "Bearer " + answer["access_token"].(string)
	_, _, answer = send(t, b.request(t, "POST", "/usps/payments/v3/payment-authorization", uspsRoles, "Authorization", access))
	return b.request(t, method, "/usps/labels/v3"+path, body, append([]string{
		"Accept", uspsMedia,
		"Authorization", access,
		"X-Payment-Authorization-Token", answer["paymentAuthorizationToken"].(string),
	}, header...)...)
}

func uspsBought(t *testing.T, b *testBundle, header ...string) map[string]any {
	t.Helper()
	status, _, answer := send(t, uspsCall(t, b, "POST", "/label", uspsBody, header...))
	require.Equal(t, 200, status, "%v", answer)
	return answer
}

func TestUSPSFaults(t *testing.T) {
	t.Parallel()
	testWire(t, Keyed, wire{
		order: func(t *testing.T, b *testBundle, reference string) *http.Request {
			t.Helper()
			return uspsCall(t, b, "POST", "/label", strings.Replace(uspsBody, "REF1", reference, 1), uspsKeyHeader, uspsKey1)
		},
		tracking: func(a map[string]any) any { return a["trackingNumber"] },
		status:   200, refused: 400, late: 503,
	})
}

func TestUSPSPriceIsTheSum(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	label := uspsBought(t, b)
	charge := b.Entries()[0]
	require.EqualValues(t, 645, charge.AmountCents)
	require.Equal(t, "REF1", charge.Reference)
	require.Equal(t, label["trackingNumber"], charge.LabelID)
	sum := label["postage"].(float64) + at(label, "fees", 0, "price").(float64) + at(label, "extraServices", 0, "price").(float64)
	require.InDelta(t, 6.45, sum, 0.001)
	require.InDelta(t, 3.2, label["weight"], 0)
	require.NotContains(t, label, "customerReference")
}

func TestUSPSKey(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	first := uspsBought(t, b, uspsKeyHeader, uspsKey1)
	require.Equal(t, first, uspsBought(t, b, uspsKeyHeader, uspsKey1))
	require.Len(t, b.Entries(), 1)
	require.Equal(t, uspsKey1, b.Entries()[0].CarrierKey)

	other := strings.Replace(uspsBody, "3.2", "4", 1)
	status, _, answer := send(t, uspsCall(t, b, "POST", "/label", other, uspsKeyHeader, uspsKey1))
	require.Equal(t, 400, status)
	require.Equal(t, uspsKeyHeader, at(answer, "error", "errors", 0, "source", "parameter"))
	status, _, _ = send(t, uspsCall(t, b, "POST", "/label", uspsBody, uspsKeyHeader, "carrier:c:k"))
	require.Equal(t, 400, status, "a key is a UUID")

	require.NoError(t, b.SetFaults(Faults{Mode: Blind}))
	uspsBought(t, b, uspsKeyHeader, uspsKey1)
	require.Len(t, b.Entries(), 2, "an older version knows no key")
	status, _, _ = send(t, uspsCall(t, b, "POST", "/label-reprint", `{}`, uspsKeyHeader, uspsKey1))
	require.Equal(t, 404, status)
}

// TestUSPSMeasuresTheLongestSide: whichever of the three it is told as.
func TestUSPSMeasuresTheLongestSide(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for sides, want := range map[string]int{
		`"length": 40, "height": 30, "width": 15`: 200,
		`"length": 15, "height": 30, "width": 40`: 200, // 40 and the way around 30 by 15
		`"length": 30, "height": 40, "width": 16`: 400,
	} {
		body := strings.Replace(uspsBody, `"length": 12, "height": 6, "width": 4.8`, sides, 1)
		status, _, _ := send(t, uspsCall(t, b, "POST", "/label", body))
		require.Equal(t, want, status, sides)
	}
}

func TestUSPSReprint(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	label := uspsBought(t, b, uspsKeyHeader, uspsKey1)
	const body = `{"imageInfo": {"imageType": "ZPL203DPI"}}`
	for range 2 {
		status, header, again := send(t, uspsCall(t, b, "POST", "/label-reprint", body, uspsKeyHeader, uspsKey1))
		require.Equal(t, 200, status)
		require.Equal(t, label["labelImage"], again["labelImage"])
		require.Equal(t, label["trackingNumber"], at(again, "labelMetadata", "trackingNumber"))
		require.NotContains(t, again, "trackingNumber")
		require.Equal(t, uspsKey1, header.Get(uspsKeyHeader))
	}
	path := "/label-reprint/" + label["trackingNumber"].(string)
	for _, want := range []int{200, 400} {
		status, _, _ := send(t, uspsCall(t, b, "POST", path, body))
		require.Equal(t, want, status, "three times at most")
	}
	status, _, _ := send(t, uspsCall(t, b, "POST", "/label-reprint", body, uspsKeyHeader, strings.Replace(uspsKey1, "8", "9", 1)))
	require.Equal(t, 400, status, "nobody's key")
	require.Len(t, b.Entries(), 1)

	later := uspsBought(t, b)
	b.advance(48 * time.Hour)
	status, _, _ = send(t, uspsCall(t, b, "POST", "/label-reprint/"+later["trackingNumber"].(string), body))
	require.Equal(t, 400, status, "the mailing date is over")
}

func TestUSPSCancel(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	byNumber := uspsBought(t, b)["trackingNumber"].(string)
	status, _, answer := send(t, uspsCall(t, b, "DELETE", "/label/"+byNumber, ""))
	require.Equal(t, 200, status)
	require.Equal(t, "CANCELED", answer["status"])
	status, _, answer = send(t, uspsCall(t, b, "DELETE", "/label/"+byNumber, ""))
	require.Equal(t, 400, status)
	require.Contains(t, at(answer, "error", "errors", 0, "detail"), "already been submitted")
	status, _, _ = send(t, uspsCall(t, b, "POST", "/label-reprint/"+byNumber, `{}`))
	require.Equal(t, 400, status)
	status, _, answer = send(t, uspsCall(t, b, "DELETE", "/label/NONE", ""))
	require.Equal(t, 400, status)
	require.Contains(t, at(answer, "error", "errors", 0, "detail"), "not found")

	uspsBought(t, b, uspsKeyHeader, uspsKey1)
	b.advance(48 * time.Hour)
	_, _, answer = send(t, uspsCall(t, b, "DELETE", "/label", "", uspsKeyHeader, uspsKey1))
	require.Equal(t, "DISPUTED", answer["status"], "it is in the manifest")
	require.NotEmpty(t, answer["disputeId"])
	require.Len(t, b.Entries(), 4)
}

func TestUSPSTokens(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Secret = "s" })
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"i"}, "client_secret": {"wrong"}}
	for secret, want := range map[string]int{"wrong": 401, "": 400, "s": 200} {
		form.Set("client_secret", secret)
		req := b.request(t, "POST", "/usps/oauth2/v3/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
		status, _, _ := send(t, req)
		require.Equal(t, want, status)
	}
	for _, header := range []string{"Authorization", "X-Payment-Authorization-Token"} {
		req := uspsCall(t, b, "POST", "/label", uspsBody)
		req.Header.Set(header, "Bearer x")
		status, _, answer := send(t, req)
		require.Equal(t, 401, status)
		require.Equal(t, "401", at(answer, "error", "code"))
	}
	old := uspsCall(t, b, "POST", "/label", uspsBody)
	b.advance(8 * time.Hour)
	status, _, _ := send(t, old)
	require.Equal(t, 401, status, "the tokens have run out")
	status, _, _ = send(t, b.request(t, "POST", "/usps/payments/v3/payment-authorization", uspsRoles))
	require.Equal(t, 401, status)
	require.Empty(t, b.Entries())
}

func TestUSPSPaymentRoles(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for name, body := range map[string]string{
		"NoOwner":    strings.Replace(uspsRoles, "LABEL_OWNER", "SHIPPER", 1),
		"NoCRID":     strings.Replace(uspsRoles, "12345678", "", 1),
		"ShortMID":   strings.Replace(uspsRoles, `"MID": "123456"`, `"MID": "1"`, 1),
		"NoAccount":  strings.Replace(uspsRoles, `, "accountNumber": "1234"`, "", 1),
		"NotJSON":    "{",
		"NoManifest": strings.Replace(uspsRoles, `, "manifestMID": "123456"`, "", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, _, _ := send(t, b.request(t, "POST", "/usps/payments/v3/payment-authorization", body))
			require.Equal(t, 400, status)
		})
	}
}

func TestUSPSRefusesWhatIsNoOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for name, change := range map[string][2]string{
		"NotJSON":       {`{"imageInfo"`, `{{"imageInfo"`},
		"UnknownMember": {`"rateIndicator"`, `"weight_g": 1450, "rateIndicator"`},
		"NoPackage":     {"packageDescription", "senderAddress"},
		"Ounces":        {`"weightUOM": "lb"`, `"weightUOM": "oz"`},
		"Grams":         {`"weight": 3.2`, `"weight": 1450`},
		"WeightIsText":  {`"weight": 3.2`, `"weight": "3.2"`},
		"Millimetres":   {`"length": 12`, `"length": 300`},
		"NoSides":       {`"length": 12, `, ""},
		"UnknownClass":  {"USPS_GROUND_ADVANTAGE", "GroundAdvantage"},
		"NoLastName":    {`"lastName": "L", `, ""},
		"LongStreet":    {`"streetAddress": "S"`, `"streetAddress": "` + strings.Repeat("S", 51) + `"`},
		"ZIPPlus4InZIP": {`"63104"`, `"63104-2351"`},
		"LongState":     {`"MO"`, `"Missouri"`},
		"Punctuation":   {`"ZIPCode": "63104"`, `"ZIPCode": "63104", "phone": "+1 555 0100"`},
		"LateMailing":   {"2026-12-01", "2026-12-10"},
		"NoMailing":     {`"mailingDate": "2026-12-01", `, ""},
		"LongReference": {"REF1", strings.Repeat("R", 31)},
		"UnknownImage":  {"ZPL203DPI", "BMP"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, _, answer := send(t, uspsCall(t, b, "POST", "/label", strings.Replace(uspsBody, change[0], change[1], 1)))
			require.Equal(t, 400, status)
			require.NotEmpty(t, at(answer, "error", "errors", 0, "source", "parameter"))
		})
	}
	t.Run("OtherMedia", func(t *testing.T) {
		t.Parallel()
		req := uspsCall(t, b, "POST", "/label", uspsBody)
		req.Header.Set("Accept", "application/json")
		status, _, _ := send(t, req)
		require.Equal(t, 406, status)
	})
	t.Cleanup(func() { require.Empty(t, b.Entries()) })
}
