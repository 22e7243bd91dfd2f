package arrows_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryPackageLooksForLeaks: a goroutine that outlives its test is one that outlives its stop, and
// the package that has none today may have one tomorrow.
func TestEveryPackageLooksForLeaks(t *testing.T) {
	t.Parallel()
	packages := list(t)
	require.NotEmpty(t, packages)
	var careless []string
	for _, p := range packages {
		dir := filepath.Join("../..", strings.TrimPrefix(p.ImportPath, module))
		tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		looks := len(tests) == 0
		for _, name := range tests {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			looks = looks || strings.Contains(string(text), "\nfunc TestMain(") && strings.Contains(string(text), "goleak.")
		}
		if !looks {
			careless = append(careless, p.ImportPath)
		}
	}
	require.Empty(t, careless, "each needs a TestMain with goleak.VerifyTestMain")
}
