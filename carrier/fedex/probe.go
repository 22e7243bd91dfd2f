package fedex

import "context"

// Probe implements [waybill/carrier.Prober]: it has an access token made, past the cache. The Ship API
// has no call that asks for nothing.
func (a *Adapter) Probe(ctx context.Context) error {
	held, err := a.tokens.Token(ctx)
	if err != nil {
		return err
	}
	a.tokens.Forget(held)
	_, err = a.tokens.Token(ctx)
	return err
}
