package carrierhttp

import (
	"fmt"
	"net/http"
)

// Probe makes a call that costs nothing, and is content with status 200, whatever comes with it.
func (c *Client) Probe(req *http.Request) error {
	answer, err := c.Do(req)
	switch {
	case err != nil:
		return fmt.Errorf("asking the carrier: %w", err)
	case answer.Status != http.StatusOK:
		return fmt.Errorf("the carrier answered with status %d", answer.Status)
	}
	return nil
}
