package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOneDialectKnowsAFile: what no dialect knows is refused, and what two know would depend on their order.
func TestOneDialectKnowsAFile(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../carrier/*/testdata/*.csv")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		var known []string
		for _, d := range dialects() {
			if d.Detect(content[:min(len(content), headSize)]) {
				known = append(known, d.Name())
			}
		}
		require.Len(t, known, 1, "%s is known as %v", file, known)
	}
}

func TestHelpNamesEveryFormat(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	require.Equal(t, exitClean, run(t.Context(), []string{"run", "--help"}, func(string) string { return "" }, &out, &errs))
	words := string(bytes.Join(bytes.Fields(out.Bytes()), []byte(" ")))
	for _, d := range dialects() {
		require.Contains(t, words, d.Name())
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	good := filepath.Join(t.TempDir(), "map.yaml")
	require.NoError(t, os.WriteFile(good, []byte("columns: {amount: Netto}\n"), 0o600))
	d, err := dialectFor("auto", good)
	require.NoError(t, err)
	require.Equal(t, "neutral", d.Name())
	_, err = dialectFor("ups", good)
	require.ErrorContains(t, err, "only the neutral format")
	_, err = dialectFor("auto", good+"x")
	require.ErrorContains(t, err, "--columns: ")
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("columns: {amont: Netto}\n"), 0o600))
	_, err = dialectFor("neutral", bad)
	require.ErrorContains(t, err, "amont")
}
