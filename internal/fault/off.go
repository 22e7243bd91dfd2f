//go:build !faultinject

package fault

import "context"

// Point does nothing.
func Point(context.Context, string, string) error { return nil }
