package sim_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/sim/simserver"
)

func onePurchase() carrier.Purchase {
	return carrier.Purchase{CarrierKey: "carrier:fulfilment:k", Reference: "REF1", Shipment: shipment()}
}

// TestUntrustedCertificateIsNotBought: the connection was made, the order was not sent.
func TestUntrustedCertificateIsNotBought(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)

	r := newAdapter(t, server.URL, classes[simserver.Blind]).Buy(t.Context(), onePurchase())

	require.Equal(t, carrier.NotBought, r.Outcome)
	require.Contains(t, r.Message, "certificate")
}

// TestWrongSecretIsNotBought: credentials are checked before the order is read.
func TestWrongSecretIsNotBought(t *testing.T) {
	t.Parallel()
	server, err := simserver.Open(simserver.Config{LedgerPath: t.TempDir() + "/ledger.jsonl", Secret: "another", Now: time.Now})
	require.NoError(t, err)
	front := httptest.NewServer(server)
	t.Cleanup(func() {
		front.Close()
		require.NoError(t, server.Close())
	})
	a := newAdapter(t, front.URL, classes[simserver.Keyed])

	r := a.Buy(t.Context(), onePurchase())

	require.Equal(t, carrier.NotBought, r.Outcome)
	require.Equal(t, "unauthenticated", r.Code)
	require.Empty(t, server.Entries())
	_, err = a.Find(t.Context(), carrier.Query{Reference: "REF1"})
	require.EqualError(t, err, "looking up reference REF1: carrier answered with status 401")
}

// TestLongAnswerIsUnknown: what is beyond the limit is not read, so nothing is known.
func TestLongAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		page := make([]byte, 1<<20)
		for range 8 {
			if _, err := w.Write(page); err != nil {
				return // the adapter has seen enough
			}
		}
	}))
	t.Cleanup(front.Close)
	r := newAdapter(t, front.URL, classes[simserver.Keyed]).Buy(t.Context(), onePurchase())
	require.Equal(t, carrier.Unknown, r.Outcome)
	require.Equal(t, "malformed_answer", r.Code)
}

// TestAnswerThatIsNoHTTPIsNotQuoted: net/http quotes it in its error, and it may hold an address.
func TestAnswerThatIsNoHTTPIsNotQuoted(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = conn.Write([]byte("12 Fable Street\r\n\r\n"))
		_ = conn.Close()
	}))
	t.Cleanup(front.Close)
	a := newAdapter(t, front.URL, classes[simserver.Keyed])
	r := a.Buy(t.Context(), onePurchase())
	require.Equal(t, carrier.Unknown, r.Outcome)
	require.Equal(t, "sent, but not answered: connection lost, or not an HTTP answer", r.Message)
	_, err := a.Find(t.Context(), carrier.Query{Reference: "REF1"})
	require.ErrorContains(t, err, "not an HTTP answer")
	require.NotContains(t, err.Error(), "Fable")
}
