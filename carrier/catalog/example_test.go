package catalog

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// example is carriers.example.yaml with every block in use.
func example(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("../../carriers.example.yaml")
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(content)) {
		if !strings.HasPrefix(line, "##") {
			line = strings.TrimPrefix(line, "# ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// TestExampleOfRealCarriers keeps the example true: whoever takes a block of it gets that carrier.
func TestExampleOfRealCarriers(t *testing.T) {
	t.Parallel()
	c, err := Load(write(t, example(t)), func(string) string { return "secret" })
	require.NoError(t, err)

	for name, want := range map[string]carrier.Capabilities{
		"usps":  {Key: &carrier.Key{Window: 24 * time.Hour, Margin: time.Hour}, Void: true},
		"fedex": {Void: true},
		"easyship": {
			Key:    &carrier.Key{Window: 24 * time.Hour, Margin: time.Hour, ReplaysFailures: true},
			Lookup: &carrier.Lookup{Lag: 30 * time.Second, Processing: 3 * time.Minute},
			Void:   true,
		},
	} {
		got, ok := c.Carrier(name)
		require.True(t, ok, name)
		require.Equal(t, want, got.Capabilities(), name)
		require.Positive(t, c.Settings(name).Timeout, name)
	}
}

// TestExampleRefusesMore: a promise that the carrier does not keep is refused, whoever configures it.
func TestExampleRefusesMore(t *testing.T) {
	t.Parallel()
	all := example(t)
	for name, tt := range map[string]struct{ old, with, want string }{
		"USPSTooOld":      {"honours_key: true", "honours_key: false", "honours_key: true"},
		"USPSForEver":     {"class: keyed\n    key_window: 24h\n    key_margin: 1h\n    timeout", "class: keyed\n    timeout", "key_window is needed"},
		"USPSOption":      {"mailing_days:", "mailing_weeks:", `unknown field "mailing_weeks"`},
		"FedExKeyed":      {"class: blind", "class: keyed", "class must be blind"},
		"EasyshipVersion": {"/2023-01", "/2024-09", "must end in /2023-01"},
		"EasyshipWindow":  {"key_window: 24h\n    key_margin: 1h\n    lookup", "key_window: 48h\n    key_margin: 1h\n    lookup", "at most 24h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, all, tt.old)
			_, err := Load(write(t, strings.Replace(all, tt.old, tt.with, 1)), func(string) string { return "secret" })
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "secret ")
		})
	}
}
