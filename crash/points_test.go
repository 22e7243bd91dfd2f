//go:build faultinject

package crash

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pointsInCode reads the fault points out of the code. One whose event is a variable stands in inTx,
// once for each event that inTx is called with.
func pointsInCode(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../*/*.go")
	require.NoError(t, err)
	nested, err := filepath.Glob("../*/*/*.go")
	require.NoError(t, err)
	var points, events, steps []string
	for _, name := range append(files, nested...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch f.Sel.Name {
			case "Point":
				step, ok := literal(call.Args[2])
				require.True(t, ok, "%s: a step is not written out", name)
				if event, ok := literal(call.Args[1]); ok {
					points = append(points, event+"."+step)
				} else {
					steps = append(steps, step)
				}
			case "inTx":
				event, ok := literal(call.Args[1])
				require.True(t, ok, "%s: an event is not written out", name)
				events = append(events, event)
			}
			return true
		})
	}
	for _, event := range events {
		for _, step := range steps {
			points = append(points, event+"."+step)
		}
	}
	slices.Sort(points)
	return slices.Compact(points)
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
