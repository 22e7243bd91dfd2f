package main

import (
	"fmt"
	"net/http"

	"waybill/internal/problem"
)

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

// readyz says whether this process can serve: the database answers, has the schema we need, and the
// process is not about to stop.
func (a *api) readyz(w http.ResponseWriter, r *request) error {
	if a.ready.Stopping() {
		return refuse(problem.Unavailable, "The service is stopping.").after(retryBusy)
	}
	if err := a.ready.Err(r.Context()); err != nil {
		return refuse(problem.Unavailable, "The database does not answer, or does not have the schema "+
			"this version needs.").after(retryBusy).because(fmt.Errorf("checking readiness: %w", err))
	}
	return writeJSON(w, http.StatusOK, healthBody{Status: "ready"})
}
