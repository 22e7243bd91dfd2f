package carrierhttp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	s := carrier.Shipment{
		ShipTo: carrier.Address{
			Name: "Ada O'Brien-Jones", Company: "Müller & Co", Street1: "12 Elm Street", City: "Ada Springs",
			PostalCode: "97205-1234", Phone: "(503) 555-0142", Email: "ada@example.org",
		},
		ShipFrom: carrier.Address{Name: "Li Wu", City: "Reno", PostalCode: "895011234", Phone: "+1 775.555.0100"},
	}
	for message, want := range map[string]string{
		"ADA O'BRIEN-JONES at 12 elm street":     "(redacted) at (redacted)",
		"no such city: Ada Springs":              "no such city: (redacted)",
		"lastName Jones is not valid":            "lastName (redacted) is not valid",
		"lastName O'BRIEN-JONES is not valid":    "lastName O'(redacted)-(redacted) is not valid",
		"firm MÜLLER: unknown":                   "firm (redacted): unknown",
		"Jonesboro, Adams and Comüller are not":  "Jonesboro, Adams and Comüller are not",
		"AdaSpringsJones stand together":         "AdaSpringsJones stand together",
		"RenoJones, of a town":                   "(redacted), of a town",
		"Li Wu; Li and Wu are short":             "(redacted); Li and Wu are short",
		"phoneNumber 5035550142 is not valid":    "phoneNumber (redacted) is not valid",
		"503-555-0142 or +1 503 555 0142":        "(redacted) or +1 (redacted)",
		"7755550100, 17755550100, 1-775-5550100": "(redacted), (redacted), (redacted)",
		"503555014 is shorter":                   "503555014 is shorter",
		"ZIPCode 97205 with ZIPPlus4 1234":       "ZIPCode (redacted) with ZIPPlus4 (redacted)",
		"ZIP 972051234, 97205-1234, 89501":       "ZIP (redacted), (redacted), (redacted)",
		"order 1972050 and 612345":               "order 1972050 and 612345",
		"":                                       "",
		"nothing of it":                          "nothing of it",
	} {
		require.Equal(t, want, Redact(message, s), message)
	}
	require.Equal(t, "Ada", Redact("Ada", carrier.Shipment{}))
}

// TestRedactLeavesNoRest: values that overlap, or hold one another, go as a whole.
func TestRedactLeavesNoRest(t *testing.T) {
	t.Parallel()
	s := carrier.Shipment{ShipTo: carrier.Address{Name: "Ada", City: "Ada Springs", Street1: "springs road"}}
	require.Equal(t, "in (redacted).", Redact("in Ada Springs Road.", s))
}

func TestRedactKeepsNothingOfWhatIsNoSentence(t *testing.T) {
	t.Parallel()
	s := carrier.Shipment{ShipTo: carrier.Address{Name: "Ada Jones"}}
	require.Empty(t, Redact(strings.Repeat("Ada Jones", 10_000), s))
	require.Empty(t, Redact("Ada", carrier.Shipment{ShipTo: carrier.Address{City: "\xff"}}))
	require.Equal(t, "(redacted)", Redact(strings.Repeat("Ada Jones", 1000), s))
}
