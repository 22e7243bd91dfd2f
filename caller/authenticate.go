package caller

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Caller is an authenticated client.
type Caller struct {
	ID     string
	KeyID  string
	Scopes Scopes
}

// ErrUnauthenticated is the one answer to every key that is missing, malformed, unknown, revoked or
// wrong: nobody learns which.
var ErrUnauthenticated = errors.New("unauthenticated")

// ErrBusy is returned while so many never-seen keys arrive that no more are looked up. Keys in use
// are not affected.
var ErrBusy = errors.New("too many unknown API keys at once")

// Authenticate tells who sends an Authorization header. It returns [ErrUnauthenticated],
// [ErrBusy], or another error if the database did not answer.
func (k *Keys) Authenticate(ctx context.Context, header string) (Caller, error) {
	key, ok := parseHeader(header)
	if !ok {
		return Caller{}, ErrUnauthenticated
	}
	found, err := k.cache.get(ctx, key.id)
	if err != nil {
		return Caller{}, err
	}
	// Compared in any case: an unknown id takes as long as a wrong secret (the stored hash is then
	// all zeros, which is no secret's hash that anybody knows).
	given := key.hash()
	same := subtle.ConstantTimeCompare(given[:], found.secretHash[:]) == 1
	if !same || !found.valid {
		return Caller{}, ErrUnauthenticated
	}
	return found.caller, nil
}

// parseHeader reads "Bearer <key>"; the scheme's name is case-insensitive (RFC 9110, 11.1).
func parseHeader(header string) (Key, bool) {
	scheme, token, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return Key{}, false
	}
	return parseKey(strings.TrimLeft(token, " "))
}

// record is what is remembered of one key id; the zero value is an id that no live key has.
type record struct {
	valid      bool
	secretHash [sha256.Size]byte
	caller     Caller
}

// load reads one key. Revoked keys are like unknown ones.
func (k *Keys) load(ctx context.Context, keyID string) (record, error) {
	found := record{valid: true, caller: Caller{KeyID: keyID}}
	var hash []byte
	err := k.pool.QueryRow(ctx, `
		SELECT caller_id,
		       secret_hash,
		       scopes
		FROM api_keys
		WHERE key_id = $1
		  AND revoked_at IS NULL`, keyID).Scan(&found.caller.ID, &hash, &found.caller.Scopes)
	if errors.Is(err, pgx.ErrNoRows) {
		return record{}, nil
	}
	if err != nil {
		return record{}, fmt.Errorf("reading API key %s: %w", keyID, err)
	}
	copy(found.secretHash[:], hash)
	return found, nil
}
