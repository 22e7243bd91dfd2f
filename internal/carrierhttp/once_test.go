package carrierhttp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

func TestOnce(t *testing.T) {
	t.Parallel()
	a, b, again := carrier.Label{ID: "a"}, carrier.Label{ID: "b"}, carrier.Label{ID: "a", Voided: true}
	require.Equal(t, []carrier.Label{a, b}, Once([]carrier.Label{a, b, again}))
	require.Equal(t, []carrier.Label{}, Once(nil))
}
