package caller

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKey(t *testing.T) {
	t.Parallel()

	key, err := newKey(rand.Reader)
	require.NoError(t, err)
	text := key.Reveal()

	t.Run("ReadsBackAsWritten", func(t *testing.T) {
		t.Parallel()
		require.Regexp(t, `^wb_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$`, text)
		again, ok := parseKey(text)
		require.True(t, ok)
		require.Equal(t, key, again)
	})

	t.Run("IsNeverPrintedByAccident", func(t *testing.T) {
		t.Parallel()
		for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q"} {
			require.NotContains(t, fmt.Sprintf(verb, key), key.secret, verb)
		}
	})

	t.Run("EveryWrongCharacterIsNoticedOffline", func(t *testing.T) {
		t.Parallel()
		for i := range len(text) {
			wrong := []byte(text)
			wrong[i] = 'x'
			if text[i] == 'x' {
				wrong[i] = 'y'
			}
			_, ok := parseKey(string(wrong))
			require.False(t, ok, "position %d", i)
		}
	})

	for name, s := range map[string]string{
		"Empty":        "",
		"Short":        text[:len(text)-1],
		"Long":         text + "0",
		"OtherPrefix":  strings.Replace(text, "live", "test", 1),
		"NoUnderscore": strings.Replace(text, "_"+key.secret, "0"+key.secret, 1),
		"NotBase62":    badAlphabet(key),
	} {
		t.Run("Refuses"+name, func(t *testing.T) {
			t.Parallel()
			_, ok := parseKey(s)
			require.False(t, ok)
		})
	}
}

// badAlphabet is a key with a right checksum over a character that no key has.
func badAlphabet(k Key) string {
	body := prefix + k.id + "_-" + k.secret[1:]
	return body + checksum(body)
}

func TestKeyGolden(t *testing.T) {
	t.Parallel()

	// The format is in callers' hands: this key must be readable for ever.
	key := Key{id: "AbCd1234", secret: "0123456789abcdefghijABCDEFGHIJzz"}
	require.Equal(t, "wb_live_AbCd1234_0123456789abcdefghijABCDEFGHIJzz1PPeJT", key.Reveal())
}

func TestRandomBase62(t *testing.T) {
	t.Parallel()

	t.Run("SkipsBytesThatWouldFavourSomeDigits", func(t *testing.T) {
		t.Parallel()
		s, err := randomBase62(bytes.NewReader([]byte{255, 248, 247, 0, 1, 62}), 2)
		require.NoError(t, err)
		require.Equal(t, "z0", s)
	})

	t.Run("NoRandomnessNoKey", func(t *testing.T) {
		t.Parallel()
		_, err := newKey(strings.NewReader("short"))
		require.Error(t, err)
	})
}

func TestParseHeader(t *testing.T) {
	t.Parallel()

	key, err := newKey(rand.Reader)
	require.NoError(t, err)
	text := key.Reveal()
	for header, want := range map[string]bool{
		"Bearer " + text:        true,
		"bearer " + text:        true,
		"Bearer  " + text:       true,
		text:                    false,
		"Basic " + text:         false,
		"Bearer":                false,
		"":                      false,
		"Bearer " + text + " x": false,
	} {
		_, ok := parseHeader(header)
		require.Equal(t, want, ok, "%q", strings.Replace(header, text, "KEY", 1))
	}
}

func TestParseScopes(t *testing.T) {
	t.Parallel()

	scopes, err := ParseScopes([]string{"operator", "labels:write", "operator"})
	require.NoError(t, err)
	require.Equal(t, Scopes{LabelsWrite, Operator}, scopes)
	require.Equal(t, "labels:write,operator", scopes.String())

	_, err = ParseScopes(nil)
	require.ErrorContains(t, err, "labels:write,labels:read,finance:read,operator")
	_, err = ParseScopes([]string{"labels:write", "admin"})
	require.ErrorContains(t, err, `unknown scope "admin"`)
	_, err = ParseScopes([]string{""})
	require.Error(t, err)
}
