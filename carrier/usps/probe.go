package usps

import "context"

// Probe implements [carrier.Prober]: it has the payment authorised, past the cache. That needs good
// credentials and a good account, and charges nothing.
func (a *Adapter) Probe(ctx context.Context) error {
	access, err := a.tokens.Token(ctx)
	if err != nil {
		return err
	}
	_, err = a.authorisePayment(ctx, access)
	return err
}
