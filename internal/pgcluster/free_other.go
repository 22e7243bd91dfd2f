//go:build !linux

package pgcluster

import "errors"

// freeBytes is asked about a file system in memory only, and only Linux has one ready.
func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }
