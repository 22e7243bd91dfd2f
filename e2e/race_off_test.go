//go:build !race

package e2e

// raceEnabled: the programs are built with the race detector when the tests are.
const raceEnabled = false
