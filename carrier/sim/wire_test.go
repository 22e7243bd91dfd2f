package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// TestOrderBytes pins the bytes: a carrier that honours keys compares them, and an attempt made
// before a deployment must look like one made after it.
func TestOrderBytes(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.Dimensions = &carrier.Dimensions{Length: 3, Width: 2, Height: 1}
	p.Shipment.ShipFrom = carrier.Address{Name: "A <&> B", City: "Zürich", Country: "CH"}
	p.Shipment.ShipTo = carrier.Address{Name: "C", Phone: "1", Email: "c@example.org"}

	body, err := encodeOrder(p)

	require.NoError(t, err)
	require.Equal(t, `{"reference":"REF1","service":"ground","weight_g":1450,`+
		`"dimensions_mm":{"length":3,"width":2,"height":1},`+
		`"ship_from":{"name":"A <&> B","city":"Zürich","country":"CH"},`+
		`"ship_to":{"name":"C","phone":"1","email":"c@example.org"},"label_format":"pdf"}`, string(body))
}

func TestBuyRejectsTextThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.ShipTo.Name = "\xff"
	require.Equal(t, carrier.Rejected, (&Adapter{}).Buy(t.Context(), p).Outcome)
}

func TestWireKey(t *testing.T) {
	t.Parallel()
	longest := "carrier:c:" + strings.Repeat("k", maxKey-len("carrier:c:"))
	require.Equal(t, longest, wireKey(longest))
	require.True(t, strings.HasPrefix(wireKey(longest+"k"), "carrier::sha256:"))
	require.Len(t, wireKey(longest+"k"), len("carrier::sha256:")+64)
	require.NotEqual(t, wireKey(longest+"k"), wireKey(longest+"l"))
}
