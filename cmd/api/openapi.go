package main

import (
	_ "embed"
	"net/http"
)

const contractPath = "/v1/openapi.json"

// contractDocument is the HTTP contract as OpenAPI 3.1. It is written by hand; the tests hold every answer
// they get against it.
//
//go:embed openapi.json
var contractDocument []byte

// contract is GET /v1/openapi.json. It is open to everybody: it says nothing that is not in the repository.
func (a *api) contract(w http.ResponseWriter, _ *request) error {
	writeBody(w, http.StatusOK, contractDocument)
	return nil
}
