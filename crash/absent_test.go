//go:build faultinject

package crash

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/internal/fault"
)

// TestNothingIsLeftInReleases: without the tag no program has a hook, the name of a point or the name
// of the variable that breaks it; with the tag it has, so this test can tell.
func TestNothingIsLeftInReleases(t *testing.T) {
	t.Parallel()
	words := []string{fault.Env}
	for _, point := range pointsInCode(t) {
		_, step, _ := strings.Cut(point, ".")
		words = append(words, step)
	}
	broken := built(t, "api", "-tags", "faultinject")
	require.Contains(t, symbols(t, broken), "waybill/internal/fault.Point")
	require.Contains(t, wordsIn(t, broken, words), "before_commit")
	for _, program := range []string{"api", "worker", "reconcile"} {
		release := built(t, program)
		require.NotContains(t, symbols(t, release), "waybill/internal/fault", program)
		require.Empty(t, wordsIn(t, release, words), program)
	}
}

// built builds a program as `make build` does, symbols kept.
func built(t *testing.T, program string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), program)
	args := append([]string{"build", "-trimpath", "-o", path}, flags...)
	cmd := exec.CommandContext(t.Context(), "go", append(args, "waybill/cmd/"+program)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

func symbols(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "tool", "nm", path).Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "waybill/", "there are symbols")
	return string(out)
}

func wordsIn(t *testing.T, path string, words []string) []string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var found []string
	for _, word := range words {
		if bytes.Contains(content, []byte(word)) {
			found = append(found, word)
		}
	}
	return found
}
