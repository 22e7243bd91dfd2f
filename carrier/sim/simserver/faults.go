package simserver

import (
	"encoding/json/v2"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Mode is what the carrier honours.
type Mode string

// The modes. A key is honoured in keyed only; look-ups work in keyed and lookup.
const (
	Keyed  Mode = "keyed"
	Lookup Mode = "lookup"
	Blind  Mode = "blind"
)

// Fault is one way for a purchase to go wrong. Look-ups and voids never do.
type Fault string

// The faults. Before and after are said of the charge.
const (
	Refuse            Fault = "refuse"
	RateLimited       Fault = "rate_limited"
	ErrorBeforeCharge Fault = "error_before_charge"
	ErrorAfterCharge  Fault = "error_after_charge"
	ResetBeforeCharge Fault = "reset_before_charge"
	ResetAfterCharge  Fault = "reset_after_charge"
	HangBeforeCharge  Fault = "hang_before_charge"
	HangAfterCharge   Fault = "hang_after_charge"
	Malformed         Fault = "malformed"
	Truncated         Fault = "truncated"
	WrongReference    Fault = "wrong_reference"
	NoTracking        Fault = "no_tracking"
	OverPrice         Fault = "over_price"

	// ChargeLate answers 504 at once and charges late_ms afterwards: what a look-up made too
	// early does not see.
	ChargeLate Fault = "charge_late"
)

var allFaults = []Fault{
	Refuse, RateLimited, ErrorBeforeCharge, ErrorAfterCharge, ResetBeforeCharge, ResetAfterCharge,
	HangBeforeCharge, HangAfterCharge, Malformed, Truncated, WrongReference, NoTracking, OverPrice,
	ChargeLate,
}

// Rule makes purchases fail.
type Rule struct {
	Fault Fault `json:"fault"`

	// Probability is from 0 to 1; 0 stands for 1, since a rule that never holds says nothing.
	Probability float64 `json:"probability,omitzero"`

	// Count is how many purchases the rule still fails; 0 means every one.
	Count int `json:"count,omitzero"`
}

// Faults are what PUT /_sim/faults takes. For each purchase the first rule that holds is applied.
type Faults struct {
	// Mode that is empty keeps the present one.
	Mode Mode `json:"mode,omitzero"`

	// Every call of the protocol takes LatencyMS and, evenly spread, up to LatencySpreadMS more.
	LatencyMS       int `json:"latency_ms,omitzero"`
	LatencySpreadMS int `json:"latency_spread_ms,omitzero"`

	// LookupLagMS is how old a charge must be before a look-up shows it.
	LookupLagMS int `json:"lookup_lag_ms,omitzero"`

	// KeyWindowMS is how long a key is honoured; 0 means for ever.
	KeyWindowMS int `json:"key_window_ms,omitzero"`

	// LateMS is the delay of the fault charge_late.
	LateMS int `json:"late_ms,omitzero"`

	Rules []Rule `json:"rules,omitzero"`
}

// Validate names the first member that makes no sense.
func (f Faults) Validate() error {
	if !slices.Contains([]Mode{"", Keyed, Lookup, Blind}, f.Mode) {
		return fmt.Errorf("mode %q is not one of keyed, lookup, blind", f.Mode)
	}
	if min(f.LatencyMS, f.LatencySpreadMS, f.LookupLagMS, f.KeyWindowMS, f.LateMS) < 0 {
		return fmt.Errorf("milliseconds must not be negative")
	}
	for _, r := range f.Rules {
		switch {
		case !slices.Contains(allFaults, r.Fault):
			return fmt.Errorf("fault %q is not one of %s", r.Fault, faultNames())
		case !(r.Probability >= 0 && r.Probability <= 1):
			return fmt.Errorf("probability of %s is not from 0 to 1", r.Fault)
		case r.Count < 0:
			return fmt.Errorf("count of %s is negative", r.Fault)
		}
	}
	return nil
}

func faultNames() string {
	names := make([]string, len(allFaults))
	for i, f := range allFaults {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// switchboard hands out faults to purchases.
type switchboard struct {
	mu      sync.Mutex
	initial Faults
	current Faults
	rand    *rand.Rand
}

func newSwitchboard(initial Faults, random *rand.Rand) *switchboard {
	b := &switchboard{initial: initial, rand: random}
	b.current = initial
	b.current.Rules = slices.Clone(initial.Rules)
	return b
}

func (b *switchboard) set(f Faults) error {
	if err := f.Validate(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if f.Mode == "" {
		f.Mode = b.current.Mode
	}
	f.Rules = slices.Clone(f.Rules)
	b.current = f
	return nil
}

// clear leaves the mode that the server was started in, and no fault.
func (b *switchboard) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current = Faults{Mode: b.initial.Mode}
}

func (b *switchboard) show() Faults {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.current
	f.Rules = slices.Clone(f.Rules)
	return f
}

// draw decides the fate of one purchase: "" for no fault. A rule whose count is spent goes.
func (b *switchboard) draw() Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.current.Rules {
		r := &b.current.Rules[i]
		if r.Probability > 0 && b.rand.Float64() >= r.Probability {
			continue
		}
		fault := r.Fault
		if r.Count > 0 {
			if r.Count--; r.Count == 0 {
				b.current.Rules = slices.Delete(b.current.Rules, i, i+1)
			}
		}
		return fault
	}
	return ""
}

func (b *switchboard) latency() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	ms := b.current.LatencyMS
	if spread := b.current.LatencySpreadMS; spread > 0 {
		ms += b.rand.IntN(spread + 1)
	}
	return milliseconds(ms)
}

func milliseconds(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }

func (s *Server) showFaults(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, s.faults.show())
}

func (s *Server) putFaults(w http.ResponseWriter, r *http.Request) {
	var f Faults
	body := http.MaxBytesReader(w, r.Body, maxOrder)
	err := json.UnmarshalRead(body, &f, json.RejectUnknownMembers(true))
	if err == nil {
		err = s.faults.set(f)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_faults", err.Error())
		return
	}
	reply(w, http.StatusOK, s.faults.show())
}

func (s *Server) clearFaults(w http.ResponseWriter, _ *http.Request) {
	s.faults.clear()
	w.WriteHeader(http.StatusNoContent)
}
