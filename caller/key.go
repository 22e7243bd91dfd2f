package caller

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// A key reads wb_live_<id>_<secret><checksum>. The prefix lets scanners of source code recognise a
// leaked key; the checksum lets us discard a made-up one without asking the database.
const (
	prefix      = "wb_live_"
	idLen       = 8
	secretLen   = 32 // about 190 bits
	checksumLen = 6  // holds 32 bits
	keyLen      = len(prefix) + idLen + 1 + secretLen + checksumLen
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Key is an API key in clear. It exists when it is made and when a request bears it, and is never
// stored, logged or printed by accident.
type Key struct {
	id     string
	secret string
}

// ID is the public part of the key, under which it is listed and revoked.
func (k Key) ID() string { return k.id }

// Reveal writes the key as the caller sends it.
func (k Key) Reveal() string {
	body := prefix + k.id + "_" + k.secret
	return body + checksum(body)
}

// String keeps the secret out of logs and error texts.
func (k Key) String() string { return prefix + k.id + "_…" }

// GoString does the same for %#v.
func (k Key) GoString() string { return k.String() }

func (k Key) hash() [sha256.Size]byte { return sha256.Sum256([]byte(k.secret)) }

// newKey draws a key from a source of random bytes.
func newKey(random io.Reader) (Key, error) {
	id, err := randomBase62(random, idLen)
	if err != nil {
		return Key{}, fmt.Errorf("drawing a key id: %w", err)
	}
	secret, err := randomBase62(random, secretLen)
	if err != nil {
		return Key{}, fmt.Errorf("drawing a secret: %w", err)
	}
	return Key{id: id, secret: secret}, nil
}

// parseKey reads a key as a caller sends it; false means that no key was ever spelled like this.
func parseKey(s string) (Key, bool) {
	if len(s) != keyLen || !strings.HasPrefix(s, prefix) || s[len(prefix)+idLen] != '_' {
		return Key{}, false
	}
	body := s[:keyLen-checksumLen]
	if s[keyLen-checksumLen:] != checksum(body) {
		return Key{}, false
	}
	k := Key{id: s[len(prefix) : len(prefix)+idLen], secret: body[len(body)-secretLen:]}
	if !isBase62(k.id) || !isBase62(k.secret) {
		return Key{}, false
	}
	return k, true
}

func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var out [checksumLen]byte
	for i := checksumLen - 1; i >= 0; i-- {
		out[i] = base62[sum%62]
		sum /= 62
	}
	return string(out[:])
}

func isBase62(s string) bool {
	return strings.Trim(s, base62) == ""
}

// randomBase62 draws n digits, all equally likely: bytes past the largest multiple of 62 are
// thrown away.
func randomBase62(random io.Reader, n int) (string, error) {
	const limit = 256 - 256%62
	out := make([]byte, 0, n)
	buf := make([]byte, n)
	for len(out) < n {
		if _, err := io.ReadFull(random, buf); err != nil {
			return "", fmt.Errorf("reading random bytes: %w", err)
		}
		for _, b := range buf {
			if b < limit && len(out) < n {
				out = append(out, base62[b%62])
			}
		}
	}
	return string(out), nil
}
