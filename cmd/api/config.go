package main

import (
	"errors"
	"fmt"
	"net"
	"time"

	"waybill/internal/service"
)

// commands is the command line. Every setting is a flag and an environment variable, and --help says
// what it means.
type commands struct {
	Serve   serveCommand   `cmd:"" help:"Answer the HTTP API until SIGTERM or SIGINT, then finish what was begun and exit."`
	Migrate migrateCommand `cmd:"" help:"Bring the database's tables to the state this version needs. Safe to repeat, and to run from many places at once."`
	Keys    keysCommands   `cmd:"" help:"Make, list and revoke the API keys with which callers authenticate."`
	Settle  settleCommand  `cmd:"" help:"Decide about an intent in doubt that waits for a person."`

	Recovery recoveryCommands `cmd:"" help:"Frame the time after a restore from a backup."`
}

type keysCommands struct {
	Create createKeyCommand `cmd:"" help:"Make an API key and print it, alone, on standard output. It is shown this once; only a hash is stored."`
	List   listKeysCommand  `cmd:"" help:"List all API keys (without their secrets), revoked ones too."`
	Revoke revokeKeyCommand `cmd:"" help:"Revoke an API key for good. It stops working everywhere within two seconds."`
}

// serveCommand is the configuration of "api serve".
type serveCommand struct {
	service.Database `embed:""`

	APIAddr    string        `name:"api-addr" env:"WAYBILL_API_ADDR" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where callers reach the API (default ${default})."`
	AdminAddr  string        `name:"admin-addr" env:"WAYBILL_ADMIN_ADDR" default:"127.0.0.1:9080" placeholder:"HOST:PORT" help:"Where operators reach /metrics, /healthz, /readyz and /debug/pprof/ (default ${default}). Keep it private."`
	Carriers   string        `env:"WAYBILL_CARRIERS" required:"" placeholder:"FILE" help:"Path of carriers.yaml: the carriers and their limits, the default carrier, the default sender."`
	CallerRate float64       `name:"caller-rate" env:"WAYBILL_CALLER_RATE" default:"5000" placeholder:"N" help:"POST /v1/labels a second that one caller may send, with a burst of twice as many (default ${default}). More are answered 429."`
	AcceptWait time.Duration `name:"accept-wait" env:"WAYBILL_ACCEPT_WAIT" default:"100ms" placeholder:"DURATION" help:"How long a POST /v1/labels should wait for its commit at most (default ${default}). As many are let in as are committed within this time, and 128 in any case; one caller may have as many under way as there is room left. More are answered 503 at once."`
	MaxWaiting int           `name:"max-waiting" env:"WAYBILL_MAX_WAITING" default:"2000" placeholder:"N" help:"Requests that may wait for their label at once (Prefer: wait), each with some memory (default ${default}). More are answered as if they had not asked to wait."`
	LogLevel   string        `name:"log-level" env:"WAYBILL_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"Least level that is logged: debug, info, warn or error (default ${default}). Requests are info."`
}

type migrateCommand struct {
	service.Database `embed:""`
}

type createKeyCommand struct {
	service.Database `embed:""`

	Caller string   `required:"" placeholder:"NAME" help:"The client's name, 1 to 64 characters of a-z, 0-9, '-' and '_', e.g. fulfilment. Idempotency keys are scoped to it."`
	Scopes []string `required:"" placeholder:"SCOPE" help:"What the key may do: labels:write (order labels), labels:read (read the caller's own intents, labels, documents), finance:read, operator. None implies another."`
}

type listKeysCommand struct {
	service.Database `embed:""`
}

type revokeKeyCommand struct {
	service.Database `embed:""`

	KeyID string `arg:"" name:"key-id" help:"The key's id: the 8 characters after wb_live_, as \"api keys list\" shows them."`
}

// Validate reports everything that is wrong with the settings at once.
func (c serveCommand) Validate() error {
	return errors.Join(
		c.Database.Validate(),
		checkAddr("WAYBILL_API_ADDR", c.APIAddr),
		checkAddr("WAYBILL_ADMIN_ADDR", c.AdminAddr),
		checkRate(c.CallerRate),
		checkAcceptWait(c.AcceptWait),
		checkMaxWaiting(c.MaxWaiting),
	)
}

func checkAddr(name, addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("%s: %q is no HOST:PORT, e.g. 127.0.0.1:8080", name, addr)
	}
	return nil
}

func checkRate(perSecond float64) error {
	if !(perSecond > 0 && perSecond <= 1e6) {
		return fmt.Errorf("WAYBILL_CALLER_RATE: %v is not between 0 and 1,000,000 requests a second", perSecond)
	}
	return nil
}

func checkAcceptWait(d time.Duration) error {
	if d < time.Millisecond || d > time.Minute {
		return fmt.Errorf("WAYBILL_ACCEPT_WAIT: %s is not between 1ms and 1m", d)
	}
	return nil
}

func checkMaxWaiting(n int) error {
	if n < 0 || n > 1e6 {
		return fmt.Errorf("WAYBILL_MAX_WAITING: %d is not between 0 and 1,000,000", n)
	}
	return nil
}

// Limits of time on the main listener. A header that takes longer is an attack; a body of 64 KiB
// arrives in ten seconds over any line that is worth printing labels on; the longest wait for a
// label must fit into the time for the answer.
const (
	headerTimeout = 5 * time.Second
	bodyTimeout   = 10 * time.Second
	answerTimeout = headerTimeout + bodyTimeout + maxWait*time.Second + 15*time.Second
	idleTimeout   = 2 * time.Minute

	// maxHeader is all the header fields of a request; net/http adds 4 KiB of slack.
	maxHeader = 16 << 10

	// stopTimeout is how long requests may take to end once the process was asked to stop.
	stopTimeout = 20 * time.Second
)
