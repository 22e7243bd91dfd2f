package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// parallel is how many tests run at once unless -parallel says otherwise. They wait for leases and
// processes more than they compute, so that more of them than cores is faster.
const parallel = "6"

// binaries is the folder of the programs under test, built once for all tests.
var binaries string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if *allPooled {
		if err := leaveOutUnpooled(); err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
			return 1
		}
	}
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", parallel); err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "waybill-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e: making a folder for the programs:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := build(dir); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	binaries = dir
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "e2e: a test left a goroutine behind:", err)
		return 1
	}
	return code
}

// build builds the programs as the tests themselves were built.
func build(dir string) error {
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	if raceEnabled {
		args = append(args, "-race")
	}
	args = append(args, buildTags...)
	cmd := exec.Command("go", append(args, "../cmd/api", "../cmd/worker", "../cmd/carriersim")...) //nolint:noctx // It ends by itself.
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	return nil
}
