package carrierhttp

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// tokenServer hands out numbered tokens to whoever knows the secret.
func tokenServer(t *testing.T) (*Client, *atomic.Int64) {
	t.Helper()
	var issued atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", JSON)
		if r.FormValue("grant_type") != "client_credentials" || r.FormValue("client_secret") != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprint(w, `{"error": "invalid_client", "error_description": "s3cret is not it"}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"access_token": "token-%d", "token_type": "bearer", "expires_in": 3600}`, issued.Add(1))
	}))
	t.Cleanup(server.Close)
	c, err := New(server.URL)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c, &issued
}

func TestTokensAreFetchedOnce(t *testing.T) {
	t.Parallel()
	c, issued := tokenServer(t)
	tokens := NewTokens(c, "oauth/token", "us", "s3cret")
	var waiting sync.WaitGroup
	for range 20 {
		waiting.Go(func() {
			token, err := tokens.Token(t.Context())
			require.NoError(t, err)
			require.Equal(t, "token-1", token)
		})
	}
	waiting.Wait()
	require.EqualValues(t, 1, issued.Load())

	tokens.Forget("another")
	tokens.Forget("token-1")
	tokens.Forget("token-1")
	token, err := tokens.Token(t.Context())
	require.NoError(t, err)
	require.Equal(t, "token-2", token)
}

func TestTokensKeepSecrets(t *testing.T) {
	t.Parallel()
	c, _ := tokenServer(t)
	_, err := NewTokens(c, "oauth/token", "us", "wr0ng").Token(t.Context())
	require.ErrorIs(t, err, errNoToken)
	require.NotContains(t, err.Error(), "s3cret")
	require.NotContains(t, err.Error(), "wr0ng")
}
