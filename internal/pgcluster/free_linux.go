package pgcluster

import (
	"fmt"
	"syscall"
)

// freeBytes is the room left for us in the file system at path.
func freeBytes(path string) (uint64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(path, &stat); err != nil {
		return 0, fmt.Errorf("asking for the room in %s: %w", path, err)
	}
	return stat.Bavail * uint64(stat.Bsize), nil //nolint:gosec // G115: a block has a size above zero.
}
