package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"waybill/internal/problem"
)

const (
	// readyTimeout is how long the database may take to show that it is there.
	readyTimeout = 2 * time.Second

	// readyFor is how long an answer counts: anybody may ask, as often as they like.
	readyFor = time.Second
)

// readiness knows whether requests can be served: the database answers, has the schema we need, and
// the process is not about to stop.
type readiness struct {
	check func(context.Context) error
	now   func() time.Time

	stopping atomic.Bool

	mu      sync.Mutex
	checked time.Time
	result  error
}

// stop makes every later answer a no, so that nobody sends more requests here.
func (s *readiness) stop() { s.stopping.Store(true) }

func (s *readiness) err(ctx context.Context) error {
	if s.stopping.Load() {
		return refuse(problem.Unavailable, "The service is stopping.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now().Sub(s.checked) >= readyFor {
		// Whoever asked hangs up at will; the answer is for all.
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
		defer cancel()
		s.result = s.check(detached)
		s.checked = s.now()
	}
	if s.result != nil {
		return refuse(problem.Unavailable, "The database does not answer, or does not have the schema this version needs.").
			because(fmt.Errorf("checking readiness: %w", s.result))
	}
	return nil
}

type healthBody struct {
	Status string `json:"status"`
}

// healthRoutes are open to everybody, on both listeners.
func (a *api) healthRoutes() []route {
	return []route{
		{method: http.MethodGet, path: "/healthz", handler: a.healthz},
		{method: http.MethodGet, path: "/readyz", handler: a.readyz},
	}
}

// healthz says that the process is alive; it asks nobody else.
func (a *api) healthz(w http.ResponseWriter, _ *request) error {
	return writeJSON(w, http.StatusOK, healthBody{Status: "alive"})
}

// readyz says whether this process can serve.
func (a *api) readyz(w http.ResponseWriter, r *request) error {
	if err := a.ready.err(r.Context()); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, healthBody{Status: "ready"})
}
