// Package catalog reads carriers.yaml and builds the carriers in it: it is the one place that knows
// which kinds of adapters there are. It is strict, because a member that is not understood may be
// the one that keeps a label from being bought twice. Secrets are read from files or from the
// environment, and never stand in the file itself or in an error.
package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"waybill/carrier"
)

// Catalog is the carriers of one service. It does not change while the process runs.
type Catalog struct {
	// DefaultCarrier is used where a request names none.
	DefaultCarrier string

	// DefaultShipFrom is used where a request names none; nil if there is no default.
	DefaultShipFrom *carrier.Address

	carriers map[string]listed
}

type listed struct {
	carrier  carrier.Carrier
	settings Settings
}

// Settings are what the worker must know of a carrier beyond its adapter.
type Settings struct {
	// Timeout bounds one call, and Lease is how long an attempt may act: 0 means the service's own.
	Timeout time.Duration
	Lease   time.Duration

	// RatePerSecond is how many calls the account may make; 0 means no limit.
	RatePerSecond float64
}

// Carrier returns the carrier of a name.
func (c *Catalog) Carrier(name string) (carrier.Carrier, bool) {
	l, ok := c.carriers[name]
	return l.carrier, ok
}

// Names are the carriers' names in alphabetical order.
func (c *Catalog) Names() []string { return slices.Sorted(maps.Keys(c.carriers)) }

// Settings returns the settings of a name, and the zero Settings for an unknown one.
func (c *Catalog) Settings(name string) Settings { return c.carriers[name].settings }

// file is carriers.yaml.
type file struct {
	DefaultCarrier  string   `yaml:"default_carrier"`
	DefaultShipFrom *address `yaml:"default_ship_from"`
	Carriers        []entry  `yaml:"carriers"`
}

// address has the members of [carrier.Address] in the same order, so that one converts to the other.
type address struct {
	Name       string `yaml:"name"`
	Company    string `yaml:"company"`
	Street1    string `yaml:"street1"`
	Street2    string `yaml:"street2"`
	City       string `yaml:"city"`
	State      string `yaml:"state"`
	PostalCode string `yaml:"postal_code"`
	Country    string `yaml:"country"`
	Phone      string `yaml:"phone"`
	Email      string `yaml:"email"`
}

// Load reads the file and builds every carrier in it. It opens no connection. An error says where
// in the file the mistake is; all mistakes of the carriers are told at once.
func Load(path string, getenv func(string) string) (*Catalog, error) {
	content, err := os.ReadFile(path) //nolint:gosec // G304: the operator names it.
	if err != nil {
		return nil, fmt.Errorf("reading the carriers' file: %w", err)
	}
	c, err := parse(content, source{folder: filepath.Dir(path), getenv: getenv})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func parse(content []byte, src source) (*Catalog, error) {
	f, err := decode(content)
	if err != nil {
		return nil, err
	}
	if len(f.Carriers) == 0 {
		return nil, errors.New("carriers: at least one is needed")
	}
	c := &Catalog{
		DefaultCarrier:  f.DefaultCarrier,
		DefaultShipFrom: (*carrier.Address)(f.DefaultShipFrom),
		carriers:        map[string]listed{},
	}
	var mistakes []error
	for i, e := range f.Carriers {
		built, err := e.build(src)
		if _, taken := c.carriers[e.Name]; taken {
			err = errors.Join(err, errors.New("name: used twice"))
		}
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("carriers[%d] (%q): %w", i, e.Name, err))
			continue
		}
		c.carriers[e.Name] = built
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	if err := c.checkDefaults(); err != nil {
		return nil, err
	}
	return c, nil
}

// decode refuses what it does not know. Its errors give line and column but no line of the source,
// which may hold a secret that should not stand there.
func decode(content []byte) (file, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content), yaml.Strict())
	var f file
	if err := decoder.Decode(&f); err != nil {
		if errors.Is(err, io.EOF) {
			return file{}, errors.New("the file is empty")
		}
		return file{}, errors.New(yaml.FormatError(err, false, false))
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return file{}, errors.New("the file holds more than one document")
	}
	return f, nil
}

// checkDefaults finds defaults that no request could be served with.
func (c *Catalog) checkDefaults() error {
	if c.DefaultCarrier == "" && len(c.carriers) == 1 {
		c.DefaultCarrier = c.Names()[0]
	}
	if _, ok := c.carriers[c.DefaultCarrier]; !ok {
		return fmt.Errorf("default_carrier: must be one of %s", strings.Join(c.Names(), ", "))
	}
	if c.DefaultShipFrom == nil {
		return nil
	}
	for _, name := range c.Names() {
		for _, complaint := range c.carriers[name].carrier.Check(carrier.Shipment{ShipFrom: *c.DefaultShipFrom}) {
			if member, ok := strings.CutPrefix(complaint.Pointer, "/ship_from/"); ok {
				return fmt.Errorf("default_ship_from: %s: %s (carrier %q)", member, complaint.Detail, name)
			}
		}
	}
	return nil
}
