package main

import (
	"errors"
	"fmt"
	"net"
	"time"

	"waybill/internal/service"
)

// settings is the command line. Every setting is a flag and an environment variable.
type settings struct {
	service.Database `embed:""`

	AdminAddr      string        `name:"admin-addr" env:"WAYBILL_ADMIN_ADDR" default:"127.0.0.1:9081" placeholder:"HOST:PORT" help:"Where operators reach /metrics, /healthz, /readyz and /debug/pprof/ (default ${default}). Keep it private."`
	Carriers       string        `env:"WAYBILL_CARRIERS" required:"" placeholder:"FILE" help:"Path of carriers.yaml: the carriers, their accounts and what they honour."`
	Lease          time.Duration `env:"WAYBILL_LEASE" default:"30s" placeholder:"DURATION" help:"How long one attempt may act on an intent; after that another takes over (default ${default}). A carrier may set its own in carriers.yaml."`
	CarrierTimeout time.Duration `name:"carrier-timeout" env:"WAYBILL_CARRIER_TIMEOUT" default:"20s" placeholder:"DURATION" help:"How long one carrier call may take (default ${default}). Must leave room in the lease. A carrier may set its own in carriers.yaml."`
	KeyTTL         time.Duration `name:"key-ttl" env:"WAYBILL_KEY_TTL" default:"24h" placeholder:"DURATION" help:"How long a completed idempotency key is kept (default ${default}). Must be longer than any caller goes on retrying."`
	MaxWorkers     int           `name:"max-workers" env:"WAYBILL_MAX_WORKERS" default:"1000" placeholder:"N" help:"Calls under way at once to one carrier, at most (default ${default}): labels a second times the carrier's latency in seconds, and some to spare. Each carrier has an equal share that no other can take."`
	LogLevel       string        `name:"log-level" env:"WAYBILL_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"Least level that is logged: debug, info, warn or error (default ${default}). Attempts are info."`
}

// Validate reports everything that is wrong with the settings at once, before anything is opened.
func (s settings) Validate() error {
	errs := []error{s.Database.Validate()}
	if _, _, err := net.SplitHostPort(s.AdminAddr); err != nil {
		errs = append(errs, fmt.Errorf("WAYBILL_ADMIN_ADDR: %q is no HOST:PORT, e.g. 127.0.0.1:9081", s.AdminAddr))
	}
	if s.Lease < minLease {
		errs = append(errs, fmt.Errorf("WAYBILL_LEASE: %s is shorter than %s", s.Lease, minLease))
	}
	if s.CarrierTimeout <= 0 || s.CarrierTimeout >= s.Lease {
		errs = append(errs, fmt.Errorf("WAYBILL_CARRIER_TIMEOUT: %s must be more than 0 and less than the lease of %s",
			s.CarrierTimeout, s.Lease))
	}
	if s.KeyTTL < time.Minute {
		errs = append(errs, fmt.Errorf("WAYBILL_KEY_TTL: %s is shorter than a minute; callers' repeats would come late", s.KeyTTL))
	}
	if s.MaxWorkers < 1 || s.MaxWorkers > maxWorkers {
		errs = append(errs, fmt.Errorf("WAYBILL_MAX_WORKERS: %d is not between 1 and %d", s.MaxWorkers, maxWorkers))
	}
	return errors.Join(errs...)
}

const (
	// minLease is what a claim, a call and a commit need at the very least. Tests go that low.
	minLease = 100 * time.Millisecond

	// maxWorkers is River's own limit for a queue.
	maxWorkers = 10_000
)
