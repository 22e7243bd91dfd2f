package easypost

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// TestRefusedVoidIsLookedAt: a refund under way is refused when it is asked for again.
func TestRefusedVoidIsLookedAt(t *testing.T) {
	t.Parallel()
	const refund, show = "POST /shipments/shp_1/refund", "GET /shipments/shp_1"
	submitted := strings.Replace(sold, `"refund_status": null`, `"refund_status": "submitted"`, 1)
	for name, tt := range map[string]struct {
		answers map[string]string
		want    carrier.VoidState
		asked   int
	}{
		"Submitted":           {map[string]string{refund: submitted}, carrier.Voided, 1},
		"RefusedButSubmitted": {map[string]string{refund: "status 422", show: submitted}, carrier.Voided, 2},
		"RefusedAndKept":      {map[string]string{refund: "status 422", show: sold}, carrier.VoidRefused, 2},
		"RefusedAndNotShown":  {map[string]string{refund: "status 422", show: "status 500"}, carrier.VoidRefused, 2},
		"NoSuchShipment":      {nil, carrier.VoidRefused, 2},
		"ServerError":         {map[string]string{refund: "status 500", show: submitted}, carrier.VoidUnknown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, asked := talk(t, tt.answers)
			v := a.Void(t.Context(), "shp_1")
			require.Equal(t, tt.want, v.State)
			require.Equal(t, tt.want != carrier.Voided, v.Code != "")
			require.Len(t, *asked, tt.asked)
		})
	}
}

func TestVoidNotOffered(t *testing.T) {
	t.Parallel()
	a := adapter()
	a.cfg.Capabilities.Void = false
	require.Equal(t, "not_offered", a.Void(t.Context(), "shp_1").Code)
}
