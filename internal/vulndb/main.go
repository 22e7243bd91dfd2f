// Command vulndb makes a database for govulncheck out of a published version of the Go
// vulnerability reports, which is a module like any other: so the scan needs nothing but the module
// proxy, the version is pinned, and the same commit is judged by the same advisories every time.
//
//	go run ./internal/vulndb VERSION DIR
//
// DIR must not exist; it appears whole or not at all. The layout is that of
// https://go.dev/doc/security/vuln/database, which govulncheck reads as -db file://DIR.
package main

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// reports is the module that holds the advisories.
const reports = "golang.org/x/vulndb"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: vulndb VERSION DIR")
		os.Exit(2)
	}
	//nolint:forbidigo // This is a main, although it is not below cmd: it is in no image.
	found, err := run(context.Background(), os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "vulndb:", err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stdout, "%d advisories about %d modules\n", len(found.advisories), len(found.modules))
}

func run(ctx context.Context, version, dir string) (index, error) {
	module, err := download(ctx, version)
	if err != nil {
		return index{}, err
	}
	found, err := readAdvisories(filepath.Join(module, "data", "osv"))
	if err != nil {
		return index{}, err
	}
	return found, found.write(dir)
}

// download has the go command fetch and verify the reports, and returns the folder they are in.
func download(ctx context.Context, version string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", reports+"@"+version)
	// Outside of our module, so that its go.sum does not grow by what it does not import.
	cmd.Dir = os.TempDir()
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	said, err := cmd.Output()
	var module struct {
		Dir   string
		Error string
	}
	if unreadable := json.Unmarshal(said, &module); err == nil {
		err = unreadable
	}
	if err != nil {
		return "", fmt.Errorf("downloading %s@%s: %w: %s%s", reports, version, err, module.Error, complaint.Bytes())
	}
	return module.Dir, nil
}
