package outbox

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// isDataError tells an error that one row of a batch brought in: a value that does not fit, a
// constraint that is broken, a limit that is exceeded, an exception that a trigger raised.
func isDataError(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	switch pg.Code[:2] {
	case "21", "22", "23", "54", "P0":
		return true
	default:
		return false
	}
}

// isTransient tells an error after which the same transaction may be run again. What the server did
// not refuse in so many words is transient: the connection was lost, before or after COMMIT.
func isTransient(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return !errors.Is(err, errBroken)
	}
	return Passes(pg)
}

// Passes tells whether what the server refused it may grant when it is asked again: it was starting,
// stopping or short of something, another transaction was in the way, a disk failed. Class 25 is a
// server that is read-only for a moment: a standby on its way to be the primary.
func Passes(refused *pgconn.PgError) bool {
	switch refused.Code[:2] {
	case "08", "25", "40", "53", "55", "57", "58":
		return true
	default:
		return false
	}
}
