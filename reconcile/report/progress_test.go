package report

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgressIsForTerminalsOnly(t *testing.T) {
	t.Parallel()
	file, err := os.Create(t.TempDir() + "/log")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	var buffer bytes.Buffer
	for _, to := range []io.Writer{file, &buffer, nil} {
		p := NewProgress(to)
		p.BeginReading("reading", 10)
		n, err := p.Write(make([]byte, 10))
		require.NoError(t, err)
		require.Equal(t, 10, n)
		p.End()
	}
	require.Zero(t, buffer.Len())
	info, err := file.Stat()
	require.NoError(t, err)
	require.Zero(t, info.Size())
}

func TestProgressShowsWhatIsDoneAndGoes(t *testing.T) {
	t.Parallel()
	var terminal bytes.Buffer
	p := &Progress{terminal: &terminal}
	p.BeginReading("reading", 10)
	for range 3 { // More than was announced: the file grew.
		n, err := p.Write(make([]byte, 5))
		require.NoError(t, err)
		require.Equal(t, 5, n)
	}
	p.BeginCounting("judging", 0)
	p.BeginCounting("counting", 3)
	p.Add(2)
	p.End()
	require.Contains(t, terminal.String(), "reading")
	require.Contains(t, terminal.String(), "counting")
	require.NotContains(t, terminal.String(), "judging", "a step of nothing is no step")
	require.NotContains(t, terminal.String(), "\n")
}
