package caller

import (
	"fmt"
	"slices"
	"strings"
)

// Scope is one thing an API key may do.
type Scope string

// The scopes. None implies another: a key that writes and reads holds both.
const (
	// LabelsWrite submits label intents.
	LabelsWrite Scope = "labels:write"

	// LabelsRead reads the caller's own intents, labels and documents.
	LabelsRead Scope = "labels:read"

	// FinanceRead reads invoices and findings.
	FinanceRead Scope = "finance:read"

	// Operator settles what is in doubt.
	Operator Scope = "operator"
)

// AllScopes lists every scope, in the order in which they are shown.
func AllScopes() []Scope { return []Scope{LabelsWrite, LabelsRead, FinanceRead, Operator} }

// Scopes is what one API key may do.
type Scopes []Scope

// Has tells whether the scope is among them.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

// String writes the scopes as a person types them.
func (s Scopes) String() string { return strings.Join(s.names(), ",") }

func (s Scopes) names() []string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return names
}

// ParseScopes checks a list of scope names. The answer is in the order of [AllScopes], each once.
func ParseScopes(names []string) (Scopes, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("a key needs at least one scope of %s", Scopes(AllScopes()))
	}
	for _, name := range names {
		if !slices.Contains(AllScopes(), Scope(name)) {
			return nil, fmt.Errorf("unknown scope %q: the scopes are %s", name, Scopes(AllScopes()))
		}
	}
	var scopes Scopes
	for _, scope := range AllScopes() {
		if slices.Contains(names, string(scope)) {
			scopes = append(scopes, scope)
		}
	}
	return scopes, nil
}
