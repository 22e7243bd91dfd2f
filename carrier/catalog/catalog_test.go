package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

func noEnv(string) string { return "" }

const good = `
carriers:
  - name: sim
    kind: sim
    base_url: http://127.0.0.1:8090
    account: SIM-1
    currency: USD
    class: keyed
`

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "carriers.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// TestExample keeps the file at the root of the repository true.
func TestExample(t *testing.T) {
	t.Parallel()
	c, err := Load("../../carriers.yaml", noEnv)
	require.NoError(t, err)
	require.Equal(t, []string{"sim"}, c.Names())
	require.Equal(t, "sim", c.DefaultCarrier)
	require.Equal(t, "89501", c.DefaultShipFrom.PostalCode)
	require.Equal(t, Settings{}, c.Settings("sim"))
	sim, ok := c.Carrier("sim")
	require.True(t, ok)
	require.Equal(t, "SIM-1", sim.Account())
	require.Equal(t, carrier.Keyed, sim.Capabilities().Class(1000*time.Hour))
	require.Equal(t, 31*time.Second, sim.Capabilities().Lookup.QuietPeriod())

	// What stands commented out must be right too.
	content, err := os.ReadFile("../../carriers.yaml")
	require.NoError(t, err)
	all := strings.NewReplacer(
		"# key_", "key_", "# timeout", "timeout", "# lease", "lease", "# rate_", "rate_", "# secret_env", "secret_env",
	).Replace(string(content))
	c, err = Load(write(t, all), func(string) string { return "s" })
	require.NoError(t, err)
	require.Equal(t, Settings{Timeout: 20 * time.Second, Lease: 30 * time.Second, RatePerSecond: 50}, c.Settings("sim"))
	sim, _ = c.Carrier("sim")
	require.Equal(t, carrier.ByLookup, sim.Capabilities().Class(23*time.Hour))
}

func TestLoadClasses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines string
		want  carrier.Capabilities
	}{
		"Keyed": {"class: keyed", carrier.Capabilities{Key: &carrier.Key{}, Void: true}},
		"KeyedWindow": {
			"class: keyed\n    key_window: 24h\n    key_margin: 1h",
			carrier.Capabilities{Key: &carrier.Key{Window: 24 * time.Hour, Margin: time.Hour}, Void: true},
		},
		"Lookup": {
			"class: lookup\n    lookup_lag: 5s\n    lookup_processing: 2m",
			carrier.Capabilities{Lookup: &carrier.Lookup{Lag: 5 * time.Second, Processing: 2 * time.Minute}, Void: true},
		},
		"Blind": {"class: blind", carrier.Capabilities{Void: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := Load(write(t, strings.Replace(good, "class: keyed", tt.lines, 1)), noEnv)
			require.NoError(t, err)
			require.Equal(t, "sim", c.DefaultCarrier, "the only one is the default")
			sim, _ := c.Carrier("sim")
			require.Equal(t, tt.want, sim.Capabilities())
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	with := func(old, replacement string) string { return strings.Replace(good, old, replacement, 1) }
	and := func(line string) string { return good + "    " + line + "\n" }
	for name, tt := range map[string]struct {
		content string
		want    string
	}{
		"Empty":            {"", "empty"},
		"NotYAML":          {"carriers: [", "[1:"},
		"NoCarriers":       {"default_carrier: sim", "at least one"},
		"UnknownMember":    {and("klass: blind"), `unknown field "klass"`},
		"DuplicateMember":  {and("class: blind"), "class"},
		"TwoDocuments":     {good + "---\n" + good, "more than one document"},
		"NotADuration":     {and("timeout: 20"), "uration"},
		"TwiceTheSame":     {good + strings.TrimPrefix(good, "\ncarriers:\n"), "name: used twice"},
		"BadName":          {with("name: sim", "name: Sim One"), "name: must be"},
		"UnknownKind":      {with("kind: sim", "kind: pigeon"), "kind: must be one of "},
		"NoURL":            {with("base_url: http://127.0.0.1:8090", "base_url: ''"), "base URL"},
		"NoAccount":        {with("account: SIM-1", "account: ''"), "account is empty"},
		"BadCurrency":      {with("currency: USD", "currency: dollars"), "currency"},
		"NoClass":          {with("class: keyed", "class: ''"), "class: must be"},
		"UnknownClass":     {with("class: keyed", "class: magic"), "class: must be"},
		"BlindWithKey":     {with("class: keyed", "class: blind\n    key_window: 1h"), "honours no key"},
		"BlindWithLookup":  {with("class: keyed", "class: blind\n    lookup_lag: 1h"), "no look-up"},
		"LookupAlone":      {with("class: keyed", "class: lookup"), "lookup_processing: is needed"},
		"LagAlone":         {and("lookup_lag: 1s"), "lookup_processing: is needed"},
		"WindowAlone":      {and("key_window: 24h"), "key_margin: is needed"},
		"MarginTooLong":    {and("key_window: 1h\n    key_margin: 1h"), "key_margin: must be shorter"},
		"NegativeTimeout":  {and("timeout: -1s"), "timeout: must not be negative"},
		"TimeoutIsLease":   {and("timeout: 30s\n    lease: 30s"), "timeout: must be shorter"},
		"NegativeRate":     {and("rate_per_second: -1"), "rate_per_second"},
		"RateIsNoNumber":   {and("rate_per_second: .nan"), "rate_per_second"},
		"InlineSecret":     {and("secret: hunter2"), "secret: never stands in this file"},
		"TwoSecrets":       {and("secret_env: A\n    secret_file: b"), "only one"},
		"SecretNotSet":     {and("secret_env: A"), "A is not set"},
		"SecretNoFile":     {and("secret_file: nosuchfile"), "nosuchfile"},
		"SecretMisspelt":   {and("secrets: hunter2"), `unknown field "secrets"`},
		"URLWithPassword":  {with("http://", "http://u:hunter2@"), "credentials"},
		"UnknownDefault":   {good + "default_carrier: other\n", "default_carrier: must be one of sim"},
		"IncompleteSender": {good + "default_ship_from: {name: N}\n", "default_ship_from: street1: is required"},
		"UnknownInSender":  {good + "default_ship_from: {zip: N}\n", `unknown field "zip"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, tt.content)
			_, err := Load(path, noEnv)
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, path)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestLoadTellsAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	content := strings.NewReplacer("name: sim", "name: ''", "class: keyed", "class: magic").Replace(good)
	_, err := Load(write(t, content), noEnv)
	require.ErrorContains(t, err, "name:")
	require.ErrorContains(t, err, "class:")
}

func TestLoadWithoutFile(t *testing.T) {
	t.Parallel()
	_, err := Load(filepath.Join(t.TempDir(), "none.yaml"), noEnv)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "token"), []byte("s3\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "blank"), []byte("\n"), 0o600))
	src := source{folder: folder, getenv: func(name string) string { return "value of " + name }}

	got, err := src.secret(entry{SecretFile: "token"})
	require.NoError(t, err)
	require.Equal(t, "s3", got)
	got, err = src.secret(entry{SecretFile: filepath.Join(folder, "token")})
	require.NoError(t, err)
	require.Equal(t, "s3", got)
	got, err = src.secret(entry{SecretEnv: "TOKEN"})
	require.NoError(t, err)
	require.Equal(t, "value of TOKEN", got)
	got, err = src.secret(entry{})
	require.NoError(t, err)
	require.Empty(t, got)
	_, err = src.secret(entry{SecretFile: "blank"})
	require.ErrorContains(t, err, "is empty")
}
