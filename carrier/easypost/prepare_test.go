package easypost

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

func offer(id, by, account, service, amount string) string {
	return `{"id": "` + id + `", "carrier": "` + by + `", "carrier_account_id": "` + account + `", "service": "` + service +
		`", "rate": "` + amount + `", "currency": "USD"}`
}

func withRates(rates ...string) string {
	return `{"id": "shp_1", "reference": "REF1", "postage_label": null, "messages": [], "rates": [` + strings.Join(rates, ",") + `]}`
}

func TestJudgePrepared(t *testing.T) {
	t.Parallel()
	ground := offer("rate_1", "USPS", "ca_1", "GroundAdvantage", "5.93")
	for name, tt := range map[string]struct {
		status int
		body   string
		want   string // remote id, or else
		refuse carrier.Outcome
		code   string
		order  bool
	}{
		"Good":             {201, made, "shp_1,rate_1", "", "", false},
		"RateAtTheLimit":   {201, withRates(ground), "shp_1,rate_1", "", "", false},
		"RateAboveLimit":   {201, withRates(offer("rate_1", "USPS", "ca_1", "GroundAdvantage", "5.94")), "", carrier.Rejected, codeRateTooDear, false},
		"CheapestAccount":  {201, withRates(offer("rate_2", "USPS", "ca_2", "GroundAdvantage", "5.94"), ground), "shp_1,rate_1", "", "", false},
		"EqualAccounts":    {201, withRates(offer("rate_2", "USPS", "ca_2", "GroundAdvantage", "5.93"), ground), "shp_1,rate_1", "", "", false},
		"OtherServiceOnly": {201, withRates(offer("rate_1", "USPS", "ca_1", "Express", "5.93")), "", carrier.Rejected, codeNoRate, false},
		"OtherCarrierOnly": {201, withRates(offer("rate_1", "UPS", "ca_1", "GroundAdvantage", "5.93")), "", carrier.NotBought, codeNoRates, true},
		"NoRates":          {201, withRates(), "", carrier.NotBought, codeNoRates, true},
		"OtherCurrency":    {201, strings.ReplaceAll(withRates(ground), "USD", "CAD"), "", carrier.Rejected, codeRateCurrency, false},
		"UnreadablePrice":  {201, strings.ReplaceAll(withRates(ground), "5.93", "cheap"), "", carrier.Rejected, codeNoRate, false},
		"OtherReference":   {201, strings.ReplaceAll(made, "REF1", "REF2"), "", carrier.NotBought, codeWrongReference, false},
		"NotAShipment":     {201, `{}`, "", carrier.NotBought, carrierhttp.CodeMalformed, false},
		"IDIsAPath":        {201, strings.ReplaceAll(made, "shp_1", "../x"), "", carrier.NotBought, carrierhttp.CodeMalformed, false},
		"BadAddress":       {422, errorBody("ADDRESS.VERIFY.FAILURE"), "", carrier.Rejected, "ADDRESS.VERIFY.FAILURE", false},
		"BadParcel":        {422, errorBody("PARCEL.PARAMETERS.INVALID"), "", carrier.Rejected, "PARCEL.PARAMETERS.INVALID", false},
		"BadParcelAt500":   {500, errorBody("PARCEL.PARAMETERS.INVALID"), "", carrier.NotBought, "PARCEL.PARAMETERS.INVALID", false},
		"SomethingElse422": {422, errorBody("SHIPMENT.NEW"), "", carrier.NotBought, "SHIPMENT.NEW", true},
		"RatingDown":       {422, errorBody("SHIPMENT.RATES.UNAVAILABLE"), "", carrier.NotBought, "SHIPMENT.RATES.UNAVAILABLE", true},
		"Page422":          {422, ``, "", carrier.NotBought, "http_422", false},
		"Unauthorized":     {401, errorBody("APIKEY.INACTIVE"), "", carrier.NotBought, "APIKEY.INACTIVE", false},
		"RateLimited":      {429, errorBody("RATE_LIMITED"), "", carrier.NotBought, "RATE_LIMITED", false},
		"ServerError":      {500, ``, "", carrier.NotBought, "http_500", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := adapter().judgePrepared(goodPurchase(), jsonAnswer(tt.status, tt.body))
			require.Equal(t, tt.want, got.RemoteID)
			require.Equal(t, tt.refuse, got.Refusal.Outcome)
			require.Equal(t, tt.code, got.Refusal.Code)
			require.Equal(t, tt.order, got.Refusal.AboutOrder)
			require.False(t, got.Refusal.Renew)
		})
	}
}

// TestShipmentMadeSoldIsNotBoughtAgain: whatever its price, and whether it says at which rate or not.
func TestShipmentMadeSoldIsNotBoughtAgain(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.MaxCostCents = new(int64(1))
	for _, body := range []string{sold, strings.Replace(sold, `"selected_rate"`, `"x"`, 1)} {
		got := adapter().judgePrepared(p, jsonAnswer(201, body))
		require.True(t, got.Sold)
		id, _, ok := splitRemoteID(got.RemoteID)
		require.True(t, ok)
		require.Equal(t, "shp_1", id)
	}
	other := adapter().judgePrepared(p, jsonAnswer(201, strings.Replace(sold, "REF1", "REF2", 1)))
	require.Equal(t, codeWrongReference, other.Refusal.Code)
}

func TestCarrierAccountChoosesTheRate(t *testing.T) {
	t.Parallel()
	a := adapter()
	a.cfg.CarrierAccount = "ca_2"
	got := a.judgePrepared(goodPurchase(), jsonAnswer(201, withRates(
		offer("rate_1", "USPS", "ca_1", "GroundAdvantage", "1.00"), offer("rate_2", "USPS", "ca_2", "GroundAdvantage", "5.93"))))
	require.Equal(t, "shp_1,rate_2", got.RemoteID)
}

func TestRemoteIDOfAnotherKindIsRenewed(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "shp_1", "rate_1", "shp_1,", "shp_1,rate_1,rate_2", "shp_../x,rate_1", "se-1"} {
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
	p.Shipment.ShipTo = carrier.Address{Name: " N ", PostalCode: "97205 ", Country: "US"}
	body, err := encodeOrder(p)
	require.NoError(t, err)
	require.JSONEq(t, `{"shipment": {"reference": "REF1", "to_address": {"name": "N", "zip": "97205", "country": "US"}, "from_address": {},
		"parcel": {"length": 11.9, "width": 0.1, "height": 10, "weight": 51.2}, "options": {"label_format": "PNG"}}}`, string(body))
	require.NotContains(t, string(body), "service", "with a service it would be bought at once")

	p.Shipment.ShipTo.Name = "\xff"
	require.Equal(t, carrier.Rejected, adapter().Prepare(t.Context(), p).Refusal.Outcome)
}

// TestWeightSurvivesTheCarrier: what is sent in ounces is never lighter than the parcel, and comes back
// within the step that a look-up allows.
func TestWeightSurvivesTheCarrier(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		grams := rapid.Int64Range(1, maxWeightG).Draw(t, "grams")
		sent := newParcel(carrier.Shipment{WeightG: grams}).Weight
		back, err := units.Ounce.ToMetric(string(sent))
		if err != nil || back < grams || back-grams > units.Ounce.Step(decimals) {
			t.Fatalf("%d g went out as %s oz and came back as %d g (%v)", grams, sent, back, err)
		}
	})
}
