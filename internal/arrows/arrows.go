// Package arrows holds no code, only the test of the architecture: which package may import which,
// and why. A new package gets a row there before anything may import it.
package arrows
