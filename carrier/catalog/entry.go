package catalog

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"waybill/carrier"
)

// entry is one carrier in the file.
type entry struct {
	Name     string `yaml:"name"`
	Kind     string `yaml:"kind"`
	BaseURL  string `yaml:"base_url"`
	Account  string `yaml:"account"`
	Currency string `yaml:"currency"`

	Class            carrier.Class `yaml:"class"`
	KeyWindow        time.Duration `yaml:"key_window"`
	KeyMargin        time.Duration `yaml:"key_margin"`
	LookupLag        time.Duration `yaml:"lookup_lag"`
	LookupProcessing time.Duration `yaml:"lookup_processing"`

	Timeout       time.Duration `yaml:"timeout"`
	Lease         time.Duration `yaml:"lease"`
	RatePerSecond float64       `yaml:"rate_per_second"`

	SecretFile string `yaml:"secret_file"`
	SecretEnv  string `yaml:"secret_env"`

	// Options are what only this kind of carrier needs.
	Options map[string]any `yaml:"options"`

	// Secret is here to be refused with advice.
	Secret any `yaml:"secret"`
}

// namePattern keeps names fit for requests, metrics, queues and file names.
var namePattern = regexp.MustCompile(`^[a-z0-9]+([_-][a-z0-9]+)*$`)

const maxName = 32

func (e entry) build(src source) (listed, error) {
	newAdapter, ok := adapters[e.Kind]
	if !ok {
		return listed{}, fmt.Errorf("kind: must be one of %s", strings.Join(slices.Sorted(maps.Keys(adapters)), ", "))
	}
	secret, err := src.secret(e)
	if err = errors.Join(e.check(), e.checkClass(), err); err != nil {
		return listed{}, err
	}
	c, err := newAdapter(e, secret)
	if err != nil {
		return listed{}, err
	}
	return listed{
		carrier:  c,
		settings: Settings{Timeout: e.Timeout, Lease: e.Lease, RatePerSecond: e.RatePerSecond},
	}, nil
}

func (e entry) check() error {
	var mistakes []error
	if !namePattern.MatchString(e.Name) || len(e.Name) > maxName {
		mistakes = append(mistakes, errors.New("name: must be 1 to 32 of a-z and 0-9, with single _ or - between them"))
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"key_window", e.KeyWindow},
		{"key_margin", e.KeyMargin},
		{"lookup_lag", e.LookupLag},
		{"lookup_processing", e.LookupProcessing},
		{"timeout", e.Timeout},
		{"lease", e.Lease},
	} {
		if d.value < 0 {
			mistakes = append(mistakes, fmt.Errorf("%s: must not be negative", d.name))
		}
	}
	if e.Timeout > 0 && e.Lease > 0 && e.Timeout >= e.Lease {
		mistakes = append(mistakes, errors.New("timeout: must be shorter than lease"))
	}
	if !(e.RatePerSecond >= 0) {
		mistakes = append(mistakes, errors.New("rate_per_second: must not be negative"))
	}
	return errors.Join(mistakes...)
}

// checkClass holds the class against what is said of it. Whatever is missing here would be a
// promise that the carrier does not keep, so nothing has a default.
func (e entry) checkClass() error {
	tellsKey := e.KeyWindow != 0 || e.KeyMargin != 0
	tellsLookup := e.LookupLag != 0 || e.LookupProcessing != 0
	switch e.Class {
	case carrier.Keyed, carrier.ByLookup, carrier.Blind:
	default:
		return errors.New("class: must be keyed, lookup or blind")
	}
	switch {
	case e.Class != carrier.Keyed && tellsKey:
		return fmt.Errorf("key_window, key_margin: a %s carrier honours no key", e.Class)
	case e.Class == carrier.Blind && tellsLookup:
		return errors.New("lookup_lag, lookup_processing: a blind carrier offers no look-up")
	case e.Class == carrier.ByLookup && e.LookupProcessing == 0:
		return errors.New("lookup_processing: is needed: how long may a purchase take effect after we stopped waiting for it?")
	case e.LookupLag != 0 && e.LookupProcessing == 0:
		return errors.New("lookup_processing: is needed beside lookup_lag")
	case e.KeyWindow != 0 && e.KeyMargin == 0:
		return errors.New("key_margin: is needed beside key_window: the carrier's clock is not ours")
	case e.KeyMargin != 0 && e.KeyMargin >= e.KeyWindow:
		return errors.New("key_margin: must be shorter than key_window")
	}
	return nil
}

func (e entry) capabilities() carrier.Capabilities {
	c := carrier.Capabilities{Void: true} // labels of every kind can be
	if e.Class == carrier.Keyed {
		c.Key = &carrier.Key{Window: e.KeyWindow, Margin: e.KeyMargin}
	}
	if e.LookupProcessing > 0 {
		c.Lookup = &carrier.Lookup{Lag: e.LookupLag, Processing: e.LookupProcessing}
	}
	return c
}

// source is where secrets come from.
type source struct {
	// folder is what a relative secret_file is relative to: that of carriers.yaml.
	folder string
	getenv func(string) string
}

// secret returns "" if the carrier needs none. Its errors never hold one.
func (s source) secret(e entry) (string, error) {
	switch {
	case e.Secret != nil:
		return "", errors.New("secret: never stands in this file: name a file in secret_file, or a variable in secret_env")
	case e.SecretFile != "" && e.SecretEnv != "":
		return "", errors.New("secret_file, secret_env: give only one of them")
	case e.SecretEnv != "":
		secret := s.getenv(e.SecretEnv)
		if secret == "" {
			return "", fmt.Errorf("secret_env: the variable %s is not set", e.SecretEnv)
		}
		return secret, nil
	case e.SecretFile != "":
		return s.read(e.SecretFile)
	}
	return "", nil
}

func (s source) read(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.folder, path)
	}
	content, err := os.ReadFile(path) //nolint:gosec // G304: the operator names it, in a file that holds secrets' places.
	if err != nil {
		return "", fmt.Errorf("secret_file: %w", err)
	}
	secret := strings.TrimSpace(string(content))
	if secret == "" {
		return "", fmt.Errorf("secret_file: %s is empty", path)
	}
	return secret, nil
}
