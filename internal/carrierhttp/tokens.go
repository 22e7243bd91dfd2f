package carrierhttp

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// Tokens are the access tokens of one account, fetched with its client credentials (RFC 6749, section
// 4.4), kept until they expire, and fetched by one request however many wait for one. They and the
// credentials are in no error.
type Tokens struct {
	config clientcredentials.Config
	client *Client

	mu      sync.Mutex
	current *oauth2.Token
	fetch   chan struct{} // closed when the fetch under way has ended; nil if there is none
	err     error
}

// NewTokens makes the tokens of a client at the carrier's token endpoint, whose path is below the
// client's base URL.
func NewTokens(c *Client, path, clientID, clientSecret string, scopes ...string) *Tokens {
	return &Tokens{client: c, config: clientcredentials.Config{
		ClientID:     clientID,
		ClientSecret: clientSecret,
		TokenURL:     c.base.JoinPath(path).String(),
		Scopes:       scopes,
		AuthStyle:    oauth2.AuthStyleInParams,
	}}
}

// errNoToken stands for every failure: the library's own errors quote the answer.
var errNoToken = errors.New("the carrier gave no access token: check client_id, the secret and that its token endpoint can be reached")

// Token returns a token that is valid for some time yet. Without one there is nothing to send, so
// whatever needed it has not begun.
func (t *Tokens) Token(ctx context.Context) (string, error) {
	for {
		t.mu.Lock()
		if t.current.Valid() {
			defer t.mu.Unlock()
			return t.current.AccessToken, nil
		}
		if t.fetch == nil {
			t.fetch = make(chan struct{})
			go t.refresh(context.WithoutCancel(ctx), t.fetch)
		}
		fetch := t.fetch
		t.mu.Unlock()
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-fetch:
		}
		t.mu.Lock()
		err := t.err
		t.mu.Unlock()
		if err != nil {
			return "", err
		}
	}
}

// Forget drops a token that the carrier has refused, so that the next call fetches another; it may
// have been replaced already.
func (t *Tokens) Forget(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != nil && t.current.AccessToken == token {
		t.current = nil
	}
}

func (t *Tokens) refresh(ctx context.Context, done chan struct{}) {
	defer close(done)
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	token, err := t.config.Token(context.WithValue(ctx, oauth2.HTTPClient, t.client.http))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current, t.fetch, t.err = token, nil, nil
	if err != nil || !token.Valid() {
		t.current, t.err = nil, errNoToken
	}
}
