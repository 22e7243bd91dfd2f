package main

import (
	"fmt"
	"net/http"

	"waybill/caller"
	"waybill/internal/problem"
)

// allow lets a handler run for callers with the scope. Scopes imply nothing: a key that may buy may
// not read unless it says so.
func (a *api) allow(scope caller.Scope, h handler) handler {
	return func(w http.ResponseWriter, r *request) error {
		header := ""
		if lines := r.Header.Values("Authorization"); len(lines) == 1 {
			header = lines[0] // two lines are as good as none: whose would count?
		}
		who, err := a.keys.Authenticate(r.Context(), header)
		if err != nil {
			return fmt.Errorf("authenticating: %w", err)
		}
		r.caller = who
		if !who.Scopes.Has(scope) {
			return refuse(problem.Forbidden, fmt.Sprintf("This needs an API key with the scope %s.", scope))
		}
		return h(w, r)
	}
}
