package carrierhttp

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSealedBody(t *testing.T) {
	t.Parallel()
	unread := newSealedBody([]byte("order"))
	require.True(t, unread.Seal())
	_, err := unread.Read(make([]byte, 8))
	require.ErrorIs(t, err, errSealed, "a late writer gets nothing")
	require.True(t, unread.Seal())

	begun := newSealedBody([]byte("order"))
	_, err = begun.Read(make([]byte, 1))
	require.NoError(t, err)
	require.False(t, begun.Seal())
	_, err = io.ReadAll(begun)
	require.ErrorIs(t, err, errSealed, "the rest of an order given up does not leave")
}
