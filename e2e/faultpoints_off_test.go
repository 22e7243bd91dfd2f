//go:build !faultinject

package e2e

// buildTags: the programs are built as they are released.
var buildTags []string
