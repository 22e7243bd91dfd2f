package report_test

import (
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"waybill/reconcile"
	"waybill/reconcile/report"
)

// strict forbids members that the schema does not describe. Readers must bear new ones; the schema
// must know them all.
func strict(node any) {
	switch node := node.(type) {
	case map[string]any:
		if _, ok := node["properties"]; ok {
			node["additionalProperties"] = false
		}
		for _, child := range node {
			strict(child)
		}
	case []any:
		for _, child := range node {
			strict(child)
		}
	}
}

func TestSummaryIsAsTheSchemaSays(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("summary.schema.json")
	require.NoError(t, err)
	source, err := jsonschema.UnmarshalJSON(strings.NewReader(string(content)))
	require.NoError(t, err)
	strict(source)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("summary.schema.json", source))
	schema, err := compiler.Compile("summary.schema.json")
	require.NoError(t, err)

	distrusted := told()
	distrusted.Invoices[0].StatedCents++
	distrusted.Invoices[1].Unstated = true
	distrusted.Invoices[1].StatedCents = 0
	distrusted.Files = append(distrusted.Files, report.File{Name: "d.csv", Refused: "the file is empty"})
	for _, tt := range []struct {
		name     string
		findings []reconcile.Finding
		run      report.Run
	}{
		{"Everything", everything(), told()},
		{"Nothing", nil, report.Run{}},
		{"Distrusted", []reconcile.Finding{finding(1, reconcile.InvoiceNotFooting)}, distrusted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, dir := publish(t, parameters, tt.findings, tt.run)
			summary, err := jsonschema.UnmarshalJSON(strings.NewReader(files(t, dir)[report.SummaryName]))
			require.NoError(t, err)
			require.NoError(t, schema.Validate(summary))
		})
	}
}
