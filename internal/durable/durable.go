// Package durable makes a COMMIT that was answered mean what the service promises with it: what was
// committed is on every server that the commit was to wait for.
//
// With a synchronous standby Postgres breaks that in three cases, and says so in none of them by an
// error. A commit whose wait is cancelled is answered with success and a warning. After that, and
// after a restart of the primary, everyone sees the rows although the standby may lack them; and a
// transaction that only reads them waits for nobody.
package durable

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Commit ends a transaction. One that wrote nothing writes a word here, where there are standbys to
// wait for: its own commit then waits until they have everything before it, and so all that it read.
const Commit = `SELECT pg_logical_emit_message(true, 'waybill', '')
WHERE pg_current_xact_id_if_assigned() IS NULL AND current_setting('synchronous_standby_names') <> '';
commit`

// watched is where a connection keeps who is to hear of its warnings.
const watched = "waybill_watched"

// keepAlive finds a peer that vanished without a word: within 15 seconds, not the minutes of the
// system's defaults.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 5}

// Configure readies connections before they are made: their warnings are told to [Watch], and a
// server that vanished is noticed.
func Configure(config *pgx.ConnConfig) {
	config.OnNotice = note
	config.DialFunc = (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext
}

func note(conn *pgconn.PgConn, n *pgconn.Notice) {
	w, ok := conn.CustomData()[watched].(*Warnings)
	// The severity that is never translated. Postgres has no code of its own for a wait that was
	// cancelled, and nothing else warns at a commit.
	if ok && n.SeverityUnlocalized == "WARNING" {
		w.came.Store(true)
	}
}

// Warnings are what a server warns of while a connection is watched.
type Warnings struct{ came atomic.Bool }

// Watch begins to watch a connection, in place of whoever watched it before. The connection must be
// the caller's own.
func Watch(conn *pgx.Conn) *Warnings {
	w := &Warnings{}
	conn.PgConn().CustomData()[watched] = w
	return w
}

// Came is true once the server has warned. Asked after a COMMIT that succeeded, it means that the
// commit may not be where it was to be. The connection may be somebody else's by then.
func (w *Warnings) Came() bool { return w.came.Load() }
