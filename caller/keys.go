// Package caller knows who may call and what they may do: it makes, lists, revokes and checks API
// keys.
//
// A key is shown once, when it is made; only a hash of its secret is stored. A revoked key stops
// working everywhere within two seconds, the time for which a process remembers what it read.
package caller

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Keys is the stock of API keys. It is safe for concurrent use.
type Keys struct {
	pool  *pgxpool.Pool
	cache *cache
}

// New makes a Keys over the database. The clock only decides how long an answer is remembered.
func New(pool *pgxpool.Pool, now func() time.Time) *Keys {
	k := &Keys{pool: pool}
	k.cache = newCache(k.load, now)
	return k
}

// KeyInfo is what may be known of a key after it was made.
type KeyInfo struct {
	ID        string
	CallerID  string
	Scopes    Scopes
	CreatedAt time.Time
	RevokedAt *time.Time
}

// ErrUnknownKey is returned by Revoke for an id that no key has.
var ErrUnknownKey = errors.New("unknown API key")

var callerName = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// CheckName says what is wrong with a caller's name, which becomes part of the keys sent to carriers.
func CheckName(name string) error {
	if !callerName.MatchString(name) {
		return fmt.Errorf("caller %q: a caller's name is 1 to 64 characters of a-z, 0-9, '-' and '_'", name)
	}
	return nil
}

// Create makes a key for a caller, who is created with the first one. Nothing but the answer ever
// holds the key in clear. A repeat makes another key: a caller may have several, to change them
// without a gap.
func (k *Keys) Create(ctx context.Context, callerID string, scopes Scopes) (Key, error) {
	if err := CheckName(callerID); err != nil {
		return Key{}, err
	}
	if _, err := ParseScopes(scopes.names()); err != nil {
		return Key{}, err
	}
	key, err := newKey(rand.Reader)
	if err != nil {
		return Key{}, err
	}
	hash := key.hash()
	// One transaction: a caller without a key would be of no use to anybody.
	err = pgx.BeginFunc(ctx, k.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `
			INSERT INTO callers (caller_id)
			VALUES ($1)
			ON CONFLICT (caller_id) DO NOTHING`, callerID); err != nil {
			return fmt.Errorf("inserting caller %s: %w", callerID, err)
		}
		if _, err := tx.Exec(ctx, `
			INSERT INTO api_keys (key_id, caller_id, secret_hash, scopes)
			VALUES ($1, $2, $3, $4)`, key.id, callerID, hash[:], scopes.names()); err != nil {
			return fmt.Errorf("inserting API key %s: %w", key.id, err)
		}
		return nil
	})
	if err != nil {
		return Key{}, fmt.Errorf("creating an API key for caller %s: %w", callerID, err)
	}
	return key, nil
}

// List returns every key, revoked ones too, oldest first for each caller.
func (k *Keys) List(ctx context.Context) ([]KeyInfo, error) {
	rows, err := k.pool.Query(ctx, `
		SELECT key_id,
		       caller_id,
		       scopes,
		       created_at,
		       revoked_at
		FROM api_keys
		ORDER BY caller_id, created_at, key_id`)
	if err != nil {
		return nil, fmt.Errorf("listing API keys: %w", err)
	}
	infos, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (KeyInfo, error) {
		var info KeyInfo
		err := row.Scan(&info.ID, &info.CallerID, &info.Scopes, &info.CreatedAt, &info.RevokedAt)
		return info, err
	})
	if err != nil {
		return nil, fmt.Errorf("listing API keys: %w", err)
	}
	return infos, nil
}

// Revoke ends a key for good. Revoking it again changes nothing and is no error: the first time
// stays on record.
func (k *Keys) Revoke(ctx context.Context, keyID string) error {
	tag, err := k.pool.Exec(ctx, `
		UPDATE api_keys
		SET revoked_at = coalesce(revoked_at, now())
		WHERE key_id = $1`, keyID)
	if err != nil {
		return fmt.Errorf("revoking API key %s: %w", keyID, err)
	}
	if tag.RowsAffected() != 1 {
		return fmt.Errorf("revoking API key %q: %w", keyID, ErrUnknownKey)
	}
	return nil
}
