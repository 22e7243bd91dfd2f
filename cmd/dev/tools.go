package main

import (
	"context"
	"os"

	"waybill/internal/pgcluster"
)

// toolsCmd installs ahead of time.
type toolsCmd struct{}

// Run finds or installs what tests and the demo need besides Go.
func (*toolsCmd) Run(ctx context.Context) error {
	return pgcluster.Install(ctx, os.Stderr)
}
