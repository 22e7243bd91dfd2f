package main

import (
	"encoding/json/v2"
	"net/http"
)

// standing is the answer of the health routes.
type standing struct {
	Status string `json:"status"`

	// Breakers is each carrier's circuit breaker: closed, half-open or open. One that is open makes a
	// worker no less ready: there are other carriers, and only a call can find out that this one is back.
	Breakers map[string]string `json:"breakers,omitzero"`
}

// health answers /healthz (alive) and /readyz (can work).
func (w *worker) health() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, http.StatusOK, standing{Status: "alive"})
	})
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case w.ready.Stopping():
			answer(rw, http.StatusServiceUnavailable, standing{Status: "stopping"})
		case w.ready.Err(r.Context()) != nil:
			answer(rw, http.StatusServiceUnavailable, standing{Status: "the database does not answer"})
		default:
			answer(rw, http.StatusOK, standing{Status: "ready", Breakers: w.breakers()})
		}
	})
	return mux
}

func (w *worker) breakers() map[string]string {
	states := make(map[string]string, len(w.gates))
	for name, g := range w.gates {
		states[name] = g.breaker.State().String()
	}
	return states
}

func answer(w http.ResponseWriter, status int, s standing) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, s, json.Deterministic(true)) // Nothing to do for a prober who hung up.
}
