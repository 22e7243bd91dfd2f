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
