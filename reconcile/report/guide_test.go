package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/reconcile"
)

// TestEveryKindHasAGuide reads the kinds from their source: one that is added and not explained here
// would reach finance as a bare word.
func TestEveryKindHasAGuide(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../finding.go", nil, 0)
	require.NoError(t, err)
	seen := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != "Kind" {
			return true
		}
		kind, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		seen++
		require.NotEmpty(t, guides[reconcile.Kind(kind)].title, kind)
		require.NotEmpty(t, guides[reconcile.Kind(kind)].action, kind)
		return true
	})
	require.Len(t, guides, seen, "a guide to nothing")
}

func TestAKindWithoutAGuideIsNamedByItsWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, guide{title: "Never heard of"}, guideTo("never_heard_of"))
}
