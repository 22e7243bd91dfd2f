// Package points reads the fault points out of the code, so that a test can hold those it has reached
// against those there are. Only tests import it.
package points

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// InCode returns the points, event.step, of all code below root but the tests, sorted. A point whose
// event is a variable stands in inTx, once for each event that inTx is called with.
func InCode(root string) ([]string, error) {
	var s scan
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		return s.file(path)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the code's fault points: %w", err)
	}
	for _, event := range s.events {
		for _, step := range s.steps {
			s.points = append(s.points, event+"."+step)
		}
	}
	slices.Sort(s.points)
	return slices.Compact(s.points), nil
}

type scan struct {
	points []string
	events []string // of transactions
	steps  []string // of every transaction
}

func (s *scan) file(path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && err == nil {
			err = s.call(call)
		}
		return err == nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (s *scan) call(call *ast.CallExpr) error {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	of, _ := f.X.(*ast.Ident)
	switch {
	case f.Sel.Name == "inTx":
		event, ok := literal(call.Args[1])
		if !ok {
			return fmt.Errorf("an event of inTx is not written out")
		}
		s.events = append(s.events, event)
	case f.Sel.Name == "Point" && of != nil && of.Name == "fault":
		step, ok := literal(call.Args[2])
		if !ok {
			return fmt.Errorf("a fault point's step is not written out")
		}
		if event, ok := literal(call.Args[1]); ok {
			s.points = append(s.points, event+"."+step)
		} else {
			s.steps = append(s.steps, step)
		}
	}
	return nil
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
