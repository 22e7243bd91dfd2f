// Package simserver is a carrier in a box: it speaks the reference protocol and the formats of five
// real carriers, charges for labels, and keeps an append-only ledger of what it charged. The ledger
// is the witness that tests and reconciliation believe; faults make it fail in every way a real
// carrier does.
//
// It is written from what the carriers publish and shares no type with an adapter, so that a mistake
// in one shows against the other. A charge is on disk before it is answered. An order that was read is
// carried out even if whoever sent it has gone: that is what carriers do.
package simserver

import (
	"cmp"
	"crypto/subtle"
	"encoding/json/v2"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/singleflight"
)

// Config describes one carrier account and how it behaves at the start.
type Config struct {
	// LedgerPath is the ledger's file. It is created if absent and read back if present.
	LedgerPath string

	// Carrier, Account and Currency are what invoices say: "sim", "SIM-1" and "USD" if empty.
	Carrier  string
	Account  string
	Currency string

	// Secret is what every call must show: the bearer token of the reference protocol, the API key or
	// the client secret of the other dialects; empty for none.
	Secret string

	// Faults hold until PUT /_sim/faults says otherwise. An empty mode means keyed.
	Faults Faults

	// Seed makes the draws of faults and latencies repeatable.
	Seed uint64

	// Now is the clock of the ledger. It has no default.
	Now func() time.Time

	// Logger may be nil.
	Logger *zap.Logger

	// OnCharge is called after each charge is on disk, and before it is answered. OnHang is called
	// when a call begins to hang. Both may be nil; tests wait for them where they would sleep.
	OnCharge func(Entry)
	OnHang   func()
}

// Server is the carrier. It is an [http.Handler], safe for concurrent use.
type Server struct {
	cfg     Config
	ledger  *ledger
	shelf   *shelf
	faults  *switchboard
	mux     *http.ServeMux
	flights singleflight.Group

	// What is being sold, of what can be sold once.
	claims  sync.Mutex
	claimed map[string]bool

	// What the dialects keep in memory only.
	tokens     tokens
	easypost   easypost
	usps       usps
	shipengine shipengine
	easyship   easyship

	// draining is closed by Drain; late counts the charges that are still to come.
	draining chan struct{}
	drain    sync.Once
	late     sync.WaitGroup
}

// Open reads the ledger back and starts a carrier. Close it.
func Open(cfg Config) (*Server, error) {
	cfg.Carrier = cmp.Or(cfg.Carrier, "sim")
	cfg.Account = cmp.Or(cfg.Account, "SIM-1")
	cfg.Currency = cmp.Or(cfg.Currency, "USD")
	cfg.Faults.Mode = cmp.Or(cfg.Faults.Mode, Keyed)
	cfg.Logger = cmp.Or(cfg.Logger, zap.NewNop())
	if cfg.Now == nil {
		return nil, errors.New("simserver: Config.Now is nil")
	}
	if err := cfg.Faults.Validate(); err != nil {
		return nil, err
	}
	l, err := openLedger(cfg.LedgerPath, cfg.Logger.Named("ledger"))
	if err != nil {
		return nil, err
	}
	kept, things, err := openShelf(cfg.LedgerPath+".prepared", cfg.Logger.Named("shelf"))
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	//nolint:gosec // G404: faults are drawn from a seed, so that a run can be repeated.
	chance := rand.New(rand.NewPCG(cfg.Seed, 0))
	s := &Server{
		cfg:      cfg,
		ledger:   l,
		shelf:    kept,
		faults:   newSwitchboard(cfg.Faults, chance),
		mux:      http.NewServeMux(),
		draining: make(chan struct{}),
		claimed:  map[string]bool{},
	}
	s.mux.HandleFunc("POST /labels", s.authenticated(s.buy))
	s.mux.HandleFunc("GET /labels", s.authenticated(s.find))
	s.mux.HandleFunc("POST /labels/{id}/void", s.authenticated(s.void))
	s.tokens.until = map[string]time.Time{}
	s.routeEasyPost()
	s.routeUSPS()
	s.routeFedEx()
	s.routeShipEngine()
	s.routeEasyship()
	restore(things, "easypost", s.easypostRemember)
	restore(things, "shipengine", s.shipengineRemember)
	s.mux.HandleFunc("GET /_sim/faults", s.showFaults)
	s.mux.HandleFunc("PUT /_sim/faults", s.putFaults)
	s.mux.HandleFunc("DELETE /_sim/faults", s.clearFaults)
	s.mux.HandleFunc("GET /_sim/ledger", s.showLedger)
	s.mux.HandleFunc("GET /_sim/invoice", s.printInvoice)
	return s, nil
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Entries returns a copy of the ledger, oldest first: only what is on disk.
func (s *Server) Entries() []Entry { return s.ledger.entries() }

// SetFaults replaces the faults, as PUT /_sim/faults does. An empty mode keeps the present one.
func (s *Server) SetFaults(f Faults) error { return s.faults.set(f) }

// Drain ends every hang and latency, now and from now on, so that calls under way come to an end.
// It may be called more than once.
func (s *Server) Drain() { s.drain.Do(func() { close(s.draining) }) }

// Close drains, makes the late charges that are still to come, and closes the ledger. Close the
// HTTP server first: a charge after Close is refused.
func (s *Server) Close() error {
	s.Drain()
	s.late.Wait()
	return errors.Join(s.ledger.close(), s.shelf.close())
}

// pause waits unless the server is draining.
func (s *Server) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.draining:
	}
}

func (s *Server) authenticated(next http.HandlerFunc) http.HandlerFunc {
	want := []byte("Bearer " + s.cfg.Secret)
	return func(w http.ResponseWriter, r *http.Request) {
		got := []byte(r.Header.Get("Authorization"))
		if s.cfg.Secret != "" && subtle.ConstantTimeCompare(got, want) != 1 {
			refuse(w, http.StatusUnauthorized, "unauthenticated", "The token is missing or wrong.")
			return
		}
		next(w, r)
	}
}

// problem is the protocol's error body.
type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	reply(w, status, problem{Code: code, Message: message})
}

func reply(w http.ResponseWriter, status int, v any) {
	body := encode(v)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	// The client may have gone; what it was told is in the ledger all the same.
	_, _ = w.Write(body)
}

// encode writes this package's own types, which always can be.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("simserver: encoding %T: %v", v, err))
	}
	return b
}
