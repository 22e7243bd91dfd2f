package carriertest

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
)

// Members reads an object the plain way, for tests that must not believe an adapter's own types; nil if
// it is none.
func Members(raw []byte) map[string]jsontext.Value {
	var m map[string]jsontext.Value
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// Text reads a string; empty if it is none.
func Text(raw jsontext.Value) string {
	var s string
	if raw.Kind() != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
