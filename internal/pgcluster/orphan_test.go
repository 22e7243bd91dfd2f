package pgcluster_test

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/internal/pgcluster"
)

// orphanEnv makes the test binary a program that starts a cluster and waits to be killed.
const orphanEnv = "WAYBILL_TEST_ORPHAN"

func TestMain(m *testing.M) {
	if os.Getenv(orphanEnv) != "" {
		becomeParent()
	}
	goleak.VerifyTestMain(m)
}

func becomeParent() {
	cluster, err := pgcluster.Start(context.Background(), pgcluster.Config{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(cluster.Dir(), cluster.URL("postgres"))
	select {}
}

// TestDeathOfTheStarter: kill -9 of whoever started a cluster leaves neither server nor folder.
func TestDeathOfTheStarter(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	parent := osexec.CommandContext(t.Context(), self)
	parent.Env = append(os.Environ(), orphanEnv+"=1")
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	dir, databaseURL, ok := strings.Cut(strings.TrimSpace(line), " ")
	require.True(t, ok, line)
	require.DirExists(t, dir)
	require.Equal(t, "1", query(t, databaseURL, `SELECT 1::text`))

	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()

	require.Eventually(t, func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err)
	}, 30*time.Second, 20*time.Millisecond)
	require.NoDirExists(t, dir)
	_, err = pgx.Connect(t.Context(), databaseURL)
	require.Error(t, err)
	require.NotErrorIs(t, err, fs.ErrPermission)
}
