package easyship

import (
	"context"
	"fmt"
)

// Probe implements [waybill/carrier.Prober]: it looks up a reference that nobody has.
func (a *Adapter) Probe(ctx context.Context) error {
	answer, err := a.list(ctx, "PROBE", 1)
	if err != nil {
		return fmt.Errorf("asking the carrier: %w", err)
	}
	if _, _, err := readPage(answer); err != nil {
		return fmt.Errorf("asking the carrier: %w", err)
	}
	return nil
}
