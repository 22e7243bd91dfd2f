// Package service is what the long-running services share: how they open the database, log, and
// show themselves to an operator. It knows nothing of labels.
package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"waybill/internal/durable"
)

// Database says where the database is. It is embedded in a command's settings.
type Database struct {
	DatabaseURL string `env:"DATABASE_URL" required:"" placeholder:"postgres://USER:PASSWORD@HOST/NAME" help:"The Postgres database. Parameters of the connection pool may follow, e.g. ?pool_max_conns=20 (default 16)."`
	DBPooler    string `name:"db-pooler" env:"WAYBILL_DB_POOLER" default:"none" enum:"none,transaction" help:"What stands between us and Postgres: none, or transaction for PgBouncer in transaction mode (no prepared statements, no LISTEN)."`
}

// defaultConns is the size of a pool unless the URL says otherwise: batches need few connections,
// and Postgres on a small machine is fastest with few.
const defaultConns = 16

// PoolConfig reads the settings. Errors never show the password.
func (d Database) PoolConfig() (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(d.DatabaseURL)
	if err != nil {
		return nil, complainOf(d.DatabaseURL, err)
	}
	if !strings.Contains(d.DatabaseURL, "pool_max_conns") {
		cfg.MaxConns = defaultConns
	}
	durable.Configure(cfg.ConnConfig)
	if d.ThroughPooler() {
		// A pooler hands each transaction another session, which knows none of our statements.
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return cfg, nil
}

// complainOf says what is wrong with a connection string without a word of it. pgx repeats the string,
// and takes out the password only where it recognises one: not in "password = secret", nor where a
// password that holds a slash makes a port of its first half.
func complainOf(connString string, err error) error {
	if _, broken := url.Parse(connString); broken != nil && strings.Contains(connString, "://") {
		return errors.New("DATABASE_URL is not a URL; in a password write % as %25, / as %2F, : as %3A, @ as %40")
	}
	text := err.Error()
	_, complaint, found := strings.Cut(text[max(strings.LastIndexByte(text, '`'), 0):], "`: ")
	if !found {
		return errors.New("DATABASE_URL is not a connection string")
	}
	return errors.New("DATABASE_URL: " + complaint)
}

// ThroughPooler is true if sessions are not ours to keep.
func (d Database) ThroughPooler() bool { return d.DBPooler == "transaction" }

// Validate is called by kong before the command runs: before anything is opened.
func (d Database) Validate() error {
	_, err := d.PoolConfig()
	return err
}

// Open makes a pool and proves that the database answers.
func (d Database) Open(ctx context.Context) (*pgxpool.Pool, error) {
	cfg, err := d.PoolConfig()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("reaching the database: %w", err)
	}
	return pool, nil
}

// NewLogger writes JSON lines of at least the given level.
func NewLogger(level string, w io.Writer) (*zap.Logger, error) {
	least, err := zapcore.ParseLevel(level)
	if err != nil {
		return nil, errors.New("WAYBILL_LOG_LEVEL must be debug, info, warn or error")
	}
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	return zap.New(zapcore.NewCore(
		zapcore.NewJSONEncoder(encoding), zapcore.Lock(zapcore.AddSync(w)), least)), nil
}
