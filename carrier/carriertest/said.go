package carriertest

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// RequireSafe holds that what is kept of a carrier's words is safe to store. It is for fuzz targets: it
// asks for nothing that costs time.
func RequireSafe(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || len(text) > 300 {
			t.Fatalf("%q is not safe to store", text)
		}
	}
}

// RequirePointers holds that Check complained of these members, in this order, and said why.
func RequirePointers(t *testing.T, want []string, complaints []carrier.FieldError) {
	t.Helper()
	var pointers []string
	for _, e := range complaints {
		pointers = append(pointers, e.Pointer)
		require.NotEmpty(t, e.Detail)
	}
	require.Equal(t, want, pointers)
}
