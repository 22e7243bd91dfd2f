package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// folder writes advisories to read.
func folder(t *testing.T, advisories map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range advisories {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestWriteLaysOutTheDatabase(t *testing.T) {
	t.Parallel()
	const (
		one = `{"id": "GO-1", "modified": "2026-01-02T00:00:00Z", "aliases": ["CVE-1"],
			"affected": [{"package": {"name": "a.example/m"}, "ranges": [{"events": [{"introduced": "0"}, {"fixed": "1.2.3"}]}]}]}`
		two = `{"id": "GO-2", "modified": "2026-03-04T05:06:07Z", "details": "ü",
			"affected": [{"package": {"name": "stdlib"}, "ranges": [{"events": [{"introduced": "0"}]}]},
				{"package": {"name": "a.example/m"}, "ranges": [{"events": [{"introduced": "1.0.0"}, {"fixed": "1.3.0"}]}]}]}`
	)
	found, err := readAdvisories(folder(t, map[string]string{"GO-1.json": one, "GO-2.json": two, "notes.txt": "no"}))
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "db")
	require.NoError(t, found.write(out))

	for name, want := range map[string]string{
		"ID/GO-1.json":  one,
		"ID/GO-2.json":  two,
		"index/db.json": `{"modified":"2026-03-04T05:06:07Z"}`,
		"index/vulns.json": `[{"id":"GO-1","modified":"2026-01-02T00:00:00Z","aliases":["CVE-1"]},` +
			`{"id":"GO-2","modified":"2026-03-04T05:06:07Z"}]`,
		"index/modules.json": `[{"path":"a.example/m","vulns":[{"id":"GO-1","modified":"2026-01-02T00:00:00Z","fixed":"1.2.3"},` +
			`{"id":"GO-2","modified":"2026-03-04T05:06:07Z","fixed":"1.3.0"}]},` +
			`{"path":"stdlib","vulns":[{"id":"GO-2","modified":"2026-03-04T05:06:07Z"}]}]`,
	} {
		got, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		require.Equal(t, want, string(got), name)
	}
	beside, err := os.ReadDir(filepath.Dir(out))
	require.NoError(t, err)
	require.Len(t, beside, 1, "nothing half-written is left")
	require.Error(t, found.write(out), "a database that is there is not written over")
}

// TestFixes: a version in the index means that the report need not be read for later ones, so it may
// be left out, and must not be too low.
func TestFixes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		affected, want string
	}{
		"Fixed":              {`{"package":{"name":"m"},"ranges":[{"events":[{"introduced":"0"},{"fixed":"1.1.0"}]}]}`, "1.1.0"},
		"FixedTwice":         {`{"package":{"name":"m"},"ranges":[{"events":[{"fixed":"1.1.0"},{"introduced":"1.2.0"},{"fixed":"1.2.1"}]}]}`, "1.2.1"},
		"OpenAgain":          {`{"package":{"name":"m"},"ranges":[{"events":[{"fixed":"1.1.0"},{"introduced":"1.2.0"}]}]}`, ""},
		"NeverFixed":         {`{"package":{"name":"m"},"ranges":[{"events":[{"introduced":"0"}]}]}`, ""},
		"NoRange":            {`{"package":{"name":"m"}}`, ""},
		"NoEvent":            {`{"package":{"name":"m"},"ranges":[{}]}`, ""},
		"TwoEntriesAgree":    {`{"package":{"name":"m"},"ranges":[{"events":[{"fixed":"1.1.0"}]}]},{"package":{"name":"m"},"ranges":[{"events":[{"fixed":"1.1.0"}]}]}`, "1.1.0"},
		"TwoEntriesDisagree": {`{"package":{"name":"m"},"ranges":[{"events":[{"fixed":"1.2.0"}]}]},{"package":{"name":"m"},"ranges":[{"events":[{"fixed":"1.1.0"}]}]}`, ""},
		"OneEntryIsOpen":     {`{"package":{"name":"m"}},{"package":{"name":"m"},"ranges":[{"events":[{"fixed":"1.1.0"}]}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := readAdvisories(folder(t, map[string]string{"GO-1.json": `{"id":"GO-1","affected":[` + tt.affected + `]}`}))
			require.NoError(t, err)
			require.Len(t, found.modules["m"], 1)
			require.Equal(t, tt.want, found.modules["m"][0].Fixed)
		})
	}
}

// TestReadAdvisoriesRefuses: a scan against half a database would find half of what there is.
func TestReadAdvisoriesRefuses(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"AnEmptyFolder":   {},
		"WhatIsNoJSON":    {"GO-1.json": "no"},
		"AnotherIdInside": {"GO-1.json": `{"id": "GO-2"}`},
		"APathAsId":       {"GO-1.json": `{"id": "../GO-1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readAdvisories(folder(t, files))
			require.Error(t, err)
		})
	}
}
