package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
)

// realCarrier is a carrier of the world as the carrier in a box plays it.
type realCarrier struct {
	kind string

	// mode is what the carrier honours, and class what carriers.yaml says of that.
	mode, class simserver.Mode

	// path is where its routes lie; service is one that it knows, and other another one.
	path, service, other string

	// entry is the rest of its entry in carriers.yaml; %s is how long a purchase may take effect.
	entry string
}

// realCarriers has every kind, and USPS twice: whether a key is honoured depends on the account.
var realCarriers = map[string]realCarrier{
	"USPS": {
		kind: "usps", mode: simserver.Keyed, class: simserver.Keyed, path: "",
		service: "USPS_GROUND_ADVANTAGE", other: "PRIORITY_MAIL",
		entry: `class: keyed, key_window: 24h, key_margin: 1h, account: "1000405525", options: {client_id: us, honours_key: true, ` +
			`crid: "12345678", mid: "123456789", manifest_mid: "987654321"}`,
	},
	"USPSOlder": {
		kind: "usps", mode: simserver.Blind, class: simserver.Blind, path: "",
		service: "USPS_GROUND_ADVANTAGE", other: "PRIORITY_MAIL",
		entry: `class: blind, account: "1000405525", options: {client_id: us, ` +
			`crid: "12345678", mid: "123456789", manifest_mid: "987654321"}`,
	},
	"Easyship": {
		kind: "easyship", mode: simserver.Keyed, class: simserver.Keyed, path: "/easyship/2023-01",
		service: "ground", other: "express",
		entry: `class: keyed, key_window: 24h, key_margin: 1h, lookup_processing: %s, account: CUS123456, ` +
			`options: {services: {ground: c3e97b11-2842-44f1-84d1-afaa6b3f0a7c, express: d3e97b11-2842-44f1-84d1-afaa6b3f0a7d}, ` +
			`contents: {description: Goods, category: fashion, value: "20.00"}}`,
	},
	"EasyPost": {
		kind: "easypost", mode: simserver.Lookup, class: simserver.Lookup, path: "/easypost/v2",
		service: "GroundAdvantage", other: "Priority",
		entry: `class: lookup, lookup_processing: %s, account: EP-1, options: {carrier: USPS, carrier_account: ca_simulated}`,
	},
	"ShipEngine": {
		kind: "shipengine", mode: simserver.Lookup, class: simserver.Lookup, path: "/shipengine/v1",
		service: "usps_ground_advantage", other: "usps_priority_mail",
		entry: `class: lookup, lookup_processing: %s, account: SE-1, options: {carrier_id: se-123456}`,
	},
	"FedEx": {
		kind: "fedex", mode: simserver.Blind, class: simserver.Blind, path: "",
		service: "FEDEX_GROUND", other: "FEDEX_2_DAY",
		entry: `class: blind, account: "740561073", options: {client_id: us, pickup_type: USE_SCHEDULED_PICKUP}`,
	},
}

// worldOf is the carrier that stands for its class where one must do.
var worldOf = map[simserver.Mode]*realCarrier{
	simserver.Keyed: new(realCarriers["USPS"]), simserver.Lookup: new(realCarriers["EasyPost"]), simserver.Blind: new(realCarriers["FedEx"]),
}

// yaml is the carrier's entry, under the name that all orders of these tests use.
func (c realCarrier) yaml(url string, processing time.Duration) string {
	path := c.path
	if path == "" {
		path = "/" + c.kind
	}
	entry := strings.Replace(c.entry, "%s", processing.String(), 1)
	return fmt.Sprintf("{name: sim, kind: %s, base_url: %q, currency: USD, secret_env: CARRIER_SECRET, %s}", c.kind, url+path, entry)
}

// order is the order number n of a service that the carrier knows.
func (c realCarrier) order(n int) order {
	o := orderOf(n)
	o.body = strings.Replace(o.body, `"service": "ground"`,
		fmt.Sprintf(`"service": %q, "dimensions_mm": {"length": 300, "width": 200, "height": 100}`, c.service), 1)
	return o
}

// TestRealCarriers: each carrier, as it speaks, sells a label; it charges and hangs up, or hangs until
// the time-out, or garbles its answer. Each time there is one charge, and the intent stands where the
// carrier's class promises.
func TestRealCarriers(t *testing.T) {
	t.Parallel()
	for name, c := range realCarriers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := startCarrier(t, simserver.Faults{Mode: c.mode}, hooks{})
			s := newStack(t, box, settings{
				class: c.class, real: &c, processing: time.Second, timeout: 1500 * time.Millisecond,
				env: []string{"CARRIER_SECRET=s3cret"},
			})
			s.startAPI()
			s.startWorker()
			n := 0
			buy := func(fault simserver.Fault) intent {
				n++
				if fault != "" {
					require.NoError(t, box.sim.SetFaults(simserver.Faults{Rules: []simserver.Rule{{Fault: fault, Count: 1}}}))
				}
				o := c.order(n)
				a, err := s.submit(t.Context(), o)
				require.NoError(t, err)
				require.Equal(t, http.StatusAccepted, a.status, "%s", a.body)
				s.awaitSettled()
				charges := box.charges()
				i := s.intents()[o.key]
				require.Len(t, charges[i.Reference], 1, "%s: %s", fault, i.State)
				if i.State == "purchased" {
					require.Equal(t, charges[i.Reference][0].TrackingNo, i.TrackingNo)
					require.Equal(t, charges[i.Reference][0].AmountCents, i.CostCents)
				}
				return i
			}

			require.Equal(t, "purchased", buy("").State)
			s.awaitCount(1, `SELECT count(*) FROM label_documents`)
			for _, fault := range []simserver.Fault{simserver.HangAfterCharge, simserver.ResetAfterCharge, simserver.Malformed, simserver.ErrorAfterCharge} {
				want := "purchased"
				if c.class == simserver.Blind {
					want = "in_doubt"
				}
				require.Equal(t, want, buy(fault).State, "%s", fault)
			}
			if c.class != simserver.Blind {
				s.awaitCount(n, `SELECT count(*) FROM label_documents`)
			}
			refused := c.order(n + 1)
			require.NoError(t, box.sim.SetFaults(simserver.Faults{Rules: []simserver.Rule{{Fault: simserver.Refuse, Count: 1}}}))
			_, err := s.submit(t.Context(), refused)
			require.NoError(t, err)
			s.awaitSettled()
			require.Equal(t, "rejected", s.intents()[refused.key].State)
			require.Len(t, box.charges(), n)
			repeat, err := s.submit(t.Context(), c.order(1))
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, repeat.status)
			require.Equal(t, "true", repeat.header.Get("Idempotent-Replayed"))
		})
	}
}
