package points_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/internal/fault/points"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestInCode(t *testing.T) {
	t.Parallel()

	write := func(t *testing.T, name, body string) string {
		t.Helper()
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("package p\nfunc f() {\n"+body+"\n}\n"), 0o600))
		return dir
	}

	t.Run("LiteralAndVariableEvents", func(t *testing.T) {
		t.Parallel()
		got, err := points.InCode(write(t, "code.go", `
			fault.Point(ctx, "call", "before_send")
			fault.Point(ctx, event, "before_commit")
			o.inTx(ctx, "claim", nil)
			o.inTx(ctx, "accept", nil)`))
		require.NoError(t, err)
		require.Equal(t, []string{"accept.before_commit", "call.before_send", "claim.before_commit"}, got)
	})

	t.Run("NamesMustBeWrittenOut", func(t *testing.T) {
		t.Parallel()
		_, err := points.InCode(write(t, "code.go", `fault.Point(ctx, "call", step)`))
		require.ErrorContains(t, err, "not written out")
	})

	t.Run("TestsHaveNone", func(t *testing.T) {
		t.Parallel()
		got, err := points.InCode(write(t, "code_test.go", `fault.Point(ctx, "a", "b")`))
		require.NoError(t, err)
		require.Empty(t, got)
	})
}
