//go:build faultinject

package crash

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/internal/fault/points"
)

func pointsInCode(t *testing.T) []string {
	t.Helper()
	found, err := points.InCode("..")
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}
