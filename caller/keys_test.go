package caller

import (
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"waybill/internal/testdb"
)

// clock is moved by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestKeys(t *testing.T) {
	t.Parallel()

	type testBundle struct {
		pool  *pgxpool.Pool
		clock *clock
		keys  *Keys
	}
	setup := func(t *testing.T) *testBundle {
		t.Helper()
		b := &testBundle{
			pool:  testdb.New(t),
			clock: &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
		}
		b.keys = New(b.pool, b.clock.Now)
		return b
	}

	t.Run("AKeyNamesItsCallerAndScopes", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		key, err := b.keys.Create(t.Context(), "fulfilment", Scopes{LabelsWrite, LabelsRead})
		require.NoError(t, err)

		who, err := b.keys.Authenticate(t.Context(), "Bearer "+key.Reveal())
		require.NoError(t, err)
		require.Equal(t, Caller{
			ID:     "fulfilment",
			KeyID:  key.ID(),
			Scopes: Scopes{LabelsWrite, LabelsRead},
		}, who)
		require.True(t, who.Scopes.Has(LabelsRead))
		require.False(t, who.Scopes.Has(Operator))
	})

	t.Run("TheSecretIsStoredNowhere", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		key, err := b.keys.Create(t.Context(), "fulfilment", Scopes{LabelsWrite})
		require.NoError(t, err)
		var found int
		require.NoError(t, b.pool.QueryRow(t.Context(), `
			SELECT count(*)
			FROM api_keys
			WHERE api_keys::text LIKE '%' || $1 || '%'
			   OR position($1::bytea IN secret_hash) > 0`, key.secret).Scan(&found))
		require.Zero(t, found)
	})

	t.Run("EveryWrongKeyGetsTheSameAnswer", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		key, err := b.keys.Create(t.Context(), "fulfilment", Scopes{LabelsWrite})
		require.NoError(t, err)
		unknown, err := newKey(rand.Reader)
		require.NoError(t, err)
		wrongSecret := Key{id: key.id, secret: unknown.secret}
		for name, header := range map[string]string{
			"none":         "",
			"no scheme":    key.Reveal(),
			"malformed":    "Bearer " + key.Reveal()[:20],
			"unknown":      "Bearer " + unknown.Reveal(),
			"wrong secret": "Bearer " + wrongSecret.Reveal(),
		} {
			who, err := b.keys.Authenticate(t.Context(), header)
			require.Equal(t, ErrUnauthenticated, err, name)
			require.Zero(t, who, name)
		}
	})

	t.Run("RevokingWorksWithinTwoSeconds", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		key, err := b.keys.Create(t.Context(), "fulfilment", Scopes{LabelsWrite})
		require.NoError(t, err)
		other, err := b.keys.Create(t.Context(), "fulfilment", Scopes{LabelsWrite})
		require.NoError(t, err)
		_, err = b.keys.Authenticate(t.Context(), "Bearer "+key.Reveal())
		require.NoError(t, err)

		require.NoError(t, b.keys.Revoke(t.Context(), key.ID()))
		b.clock.Advance(2 * time.Second)
		_, err = b.keys.Authenticate(t.Context(), "Bearer "+key.Reveal())
		require.ErrorIs(t, err, ErrUnauthenticated)
		_, err = b.keys.Authenticate(t.Context(), "Bearer "+other.Reveal())
		require.NoError(t, err, "the caller's other key still works")
	})

	t.Run("RevokingTwiceKeepsTheFirstTime", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		key, err := b.keys.Create(t.Context(), "fulfilment", Scopes{LabelsWrite})
		require.NoError(t, err)
		require.NoError(t, b.keys.Revoke(t.Context(), key.ID()))
		first, err := b.keys.List(t.Context())
		require.NoError(t, err)
		require.NoError(t, b.keys.Revoke(t.Context(), key.ID()))
		second, err := b.keys.List(t.Context())
		require.NoError(t, err)
		require.NotNil(t, first[0].RevokedAt)
		require.Equal(t, first, second)

		require.ErrorIs(t, b.keys.Revoke(t.Context(), "nobody00"), ErrUnknownKey)
	})

	t.Run("ListShowsEveryKeyByCaller", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		var want []string
		for _, callerID := range []string{"zulu", "alpha"} {
			key, err := b.keys.Create(t.Context(), callerID, Scopes{FinanceRead})
			require.NoError(t, err)
			want = append([]string{callerID + " " + key.ID()}, want...)
		}
		infos, err := b.keys.List(t.Context())
		require.NoError(t, err)
		var got []string
		for _, info := range infos {
			got = append(got, info.CallerID+" "+info.ID)
			require.Equal(t, Scopes{FinanceRead}, info.Scopes)
			require.Nil(t, info.RevokedAt)
		}
		require.Equal(t, want, got)
	})

	t.Run("NamesAndScopesAreCheckedFirst", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, name := range []string{"", "Fulfilment", "a b", "a:b", "é", fmt.Sprintf("%065d", 0)} {
			_, err := b.keys.Create(t.Context(), name, Scopes{LabelsWrite})
			require.ErrorContains(t, err, "a caller's name is", name)
		}
		_, err := b.keys.Create(t.Context(), "fulfilment", nil)
		require.ErrorContains(t, err, "at least one scope")
		infos, err := b.keys.List(t.Context())
		require.NoError(t, err)
		require.Empty(t, infos)
	})

	t.Run("ADatabaseThatIsAwayIsNoRefusal", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		key, err := b.keys.Create(t.Context(), "fulfilment", Scopes{LabelsWrite})
		require.NoError(t, err)
		b.pool.Close()
		_, err = b.keys.Authenticate(t.Context(), "Bearer "+key.Reveal())
		require.Error(t, err)
		require.NotErrorIs(t, err, ErrUnauthenticated)
	})
}
