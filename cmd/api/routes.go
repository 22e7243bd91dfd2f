package main

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"waybill/caller"
	"waybill/internal/problem"
)

const (
	labelsPath  = "/v1/labels"
	intentsPath = "/v1/intents"
)

// route is one thing the API does. A route without a scope is open to everybody.
type route struct {
	method  string
	path    string
	scope   caller.Scope
	handler handler
}

// routes is the whole surface of the main listener.
func (a *api) routes() []route {
	return append(a.healthRoutes(), []route{
		{http.MethodPost, labelsPath, caller.LabelsWrite, a.submit},
		{http.MethodGet, labelsPath, caller.LabelsRead, a.listLabels},
		{http.MethodGet, labelsPath + "/{label_id}", caller.LabelsRead, a.label},
		{http.MethodPatch, labelsPath + "/{label_id}", caller.LabelsWrite, a.patchLabel},
		{http.MethodDelete, labelsPath + "/{label_id}", caller.LabelsWrite, a.voidLabel},
		{http.MethodPut, labelsPath + "/{label_id}/hold", caller.LabelsWrite, a.holdLabel},
		{http.MethodGet, labelsPath + "/{label_id}/document", caller.LabelsRead, a.document},
		{http.MethodGet, intentsPath, caller.LabelsRead, a.intents},
		{http.MethodGet, intentsPath + "/{intent_id}", caller.LabelsRead, a.intent},
		{method: http.MethodGet, path: contractPath, handler: a.contract},
	}...)
}

// newMux serves the routes. Everything else is answered with a problem document too.
func (a *api) newMux(routes []route) http.Handler {
	byPath := map[string]map[string]http.Handler{}
	for _, rt := range routes {
		h := rt.handler
		if rt.scope != "" {
			h = a.allow(rt.scope, h)
		}
		if byPath[rt.path] == nil {
			byPath[rt.path] = map[string]http.Handler{}
		}
		byPath[rt.path][rt.method] = a.serve(rt.method+" "+rt.path, h)
	}
	mux := http.NewServeMux()
	for pattern, methods := range byPath {
		mux.Handle(pattern, a.byMethod(pattern, methods))
	}
	unknown := a.serve("unknown", func(http.ResponseWriter, *request) error {
		return refuse(problem.NotFound, "There is no such route.")
	})
	mux.Handle("/", unknown)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would redirect //v1/labels to /v1/labels, and a client would post twice.
		if r.URL.Path != "/" && path.Clean(r.URL.Path) != r.URL.Path {
			unknown.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// byMethod answers a method that a path does not know with 405 and the list of those it does.
func (a *api) byMethod(pattern string, methods map[string]http.Handler) http.Handler {
	if get, ok := methods[http.MethodGet]; ok {
		methods[http.MethodHead] = get
	}
	allowed := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
	refused := a.serve(pattern, func(w http.ResponseWriter, _ *request) error {
		w.Header().Set("Allow", allowed)
		return refuse(problem.MethodNotAllowed, fmt.Sprintf("This path knows %s.", allowed))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := methods[r.Method]; ok {
			h.ServeHTTP(w, r)
			return
		}
		refused.ServeHTTP(w, r)
	})
}
