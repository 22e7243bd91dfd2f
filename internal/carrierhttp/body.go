package carrierhttp

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// sealedBody is a request body that can prove that it never left.
//
// While no byte of it has been read, nobody else can have the order: no connection was made, or
// the one made died first. Asking that question also seals the body, because the transport's
// writer may still be about to read when the call has already returned with an error.
type sealedBody struct {
	mu     sync.Mutex
	r      *bytes.Reader
	begun  bool
	sealed bool
}

func newSealedBody(b []byte) *sealedBody { return &sealedBody{r: bytes.NewReader(b)} }

var errSealed = errors.New("request body is sealed")

// Read implements [io.Reader].
func (b *sealedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sealed {
		return 0, errSealed
	}
	b.begun = true
	return b.r.Read(p)
}

// Close implements [io.Closer]; the transport calls it when it is done, or gives up.
func (b *sealedBody) Close() error { return nil }

// Seal ends all reading and reports whether nothing was ever read.
func (b *sealedBody) Seal() (neverLeft bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sealed = true
	return !b.begun
}

var _ io.ReadCloser = (*sealedBody)(nil)
