package carriertest

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// faults holds each fault against the only outcome it may end in, and against the carrier's account.
func faults(t *testing.T, setup func(t *testing.T) Bench) {
	for _, tt := range []struct {
		fault    Fault
		want     carrier.Outcome
		charges  int
		evidence bool // a label is reported with the unknown
	}{
		{Refuse, carrier.Rejected, 0, false},
		{RateLimited, carrier.NotBought, 0, false},
		{ErrorBeforeCharge, carrier.Unknown, 0, false},
		{ErrorAfterCharge, carrier.Unknown, 1, false},
		{ResetBeforeCharge, carrier.Unknown, 0, false},
		{ResetAfterCharge, carrier.Unknown, 1, false},
		{HangBeforeCharge, carrier.Unknown, 0, false},
		{HangAfterCharge, carrier.Unknown, 1, false},
		{Malformed, carrier.Unknown, 1, false},
		{Truncated, carrier.Unknown, 1, false},
		{WrongReference, carrier.Unknown, 1, true},
		{NoTracking, carrier.Unknown, 1, true},
		{OverPrice, carrier.Unknown, 1, true},
	} {
		t.Run(string(tt.fault), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			p := b.prepared(t, b.purchase("1"))
			b.Fail(tt.fault)
			if slices.Contains(b.Unsaid, tt.fault) {
				tt.want, tt.evidence = carrier.Bought, true
			}

			r := b.buyUntilItHangs(t, p)

			require.Equal(t, tt.want, r.Outcome, "%s: %s", r.Code, r.Message)
			require.Equal(t, tt.want != carrier.Bought, r.Code != "")
			require.Equal(t, tt.evidence, r.Label != nil)
			require.Len(t, b.Charges(p.Reference), tt.charges)
			requireNothingPersonal(t, r.Code+r.Message, p.Shipment)
		})
	}
}

// buyUntilItHangs gives a purchase up as soon as the carrier says that it hangs: no clock is needed.
func (b Bench) buyUntilItHangs(t *testing.T, p carrier.Purchase) carrier.Result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan carrier.Result, 1)
	go func() { result <- b.Carrier.Buy(ctx, p) }()
	select {
	case r := <-result:
		return r
	case <-b.Hanging:
		cancel()
		return <-result
	}
}

func requireNothingPersonal(t *testing.T, text string, s carrier.Shipment) {
	t.Helper()
	for _, a := range []carrier.Address{s.ShipFrom, s.ShipTo} {
		require.NotContains(t, text, a.Name)
		require.NotContains(t, text, a.Street1)
	}
}

// otherAnswers are answers that no carrier documents for a bought label: none may pass for one, and
// none of these proves anything either.
func otherAnswers(t *testing.T, setup func(t *testing.T) Bench) {
	const htmlType, jsonType = "text/html", "application/json"
	for name, tt := range map[string]struct {
		status            int
		contentType, body string
	}{
		"EmptyCreated":      {http.StatusCreated, jsonType, ""},
		"EmptyObject":       {http.StatusCreated, jsonType, "{}"},
		"Null":              {http.StatusCreated, jsonType, "null"},
		"Array":             {http.StatusCreated, jsonType, "[]"},
		"TwoObjects":        {http.StatusCreated, jsonType, "{}{}"},
		"Page":              {http.StatusCreated, htmlType, "<html>Created</html>"},
		"PageSaysOK":        {http.StatusOK, htmlType, "<html>OK</html>"},
		"EmptyOK":           {http.StatusOK, jsonType, "{}"},
		"Accepted":          {http.StatusAccepted, jsonType, "{}"},
		"NoContent":         {http.StatusNoContent, "", ""},
		"PageRefuses":       {http.StatusBadRequest, htmlType, "<html>Bad Request</html>"},
		"NotFoundPage":      {http.StatusNotFound, htmlType, "<html>Not Found</html>"},
		"RequestTimeout":    {http.StatusRequestTimeout, htmlType, ""},
		"InternalError":     {http.StatusInternalServerError, htmlType, ""},
		"BadGateway":        {http.StatusBadGateway, htmlType, "<html>Bad Gateway</html>"},
		"Unavailable":       {http.StatusServiceUnavailable, htmlType, "<html>Unavailable</html>"},
		"GatewayTimeout":    {http.StatusGatewayTimeout, htmlType, ""},
		"StatusOfNoMeaning": {599, jsonType, "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			p := b.prepared(t, b.purchase("1"))
			b.Intercept(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.contentType)
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			r := b.Carrier.Buy(t.Context(), p)
			require.Equal(t, carrier.Unknown, r.Outcome, "%s: %s", r.Code, r.Message)
			require.Nil(t, r.Label)
		})
	}
}
