package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// demoCmd plays the story of a label that is bought once although everything around it fails.
type demoCmd struct{}

// Help is shown by --help.
func (*demoCmd) Help() string {
	return "Starts the real programs on free ports, with a private Postgres server, or with a database " +
		"of its own on the server that DATABASE_URL names. Exits with 0 only if every step showed " +
		"what it should, and leaves nothing behind; after a failure it keeps the logs."
}

// The demonstration's clocks are short, so that nobody waits for them. A real service uses 30 s
// and 20 s.
const (
	demoLease   = 3 * time.Second
	demoTimeout = 2 * time.Second
)

// errStory is the exit of a demonstration whose story did not come true; what went wrong was told.
var errStory = exitError{status: 1}

// Run plays the demonstration and cleans up, also after Ctrl-C.
func (*demoCmd) Run(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	began := time.Now()
	dir, err := os.MkdirTemp("", "waybill-demo-")
	if err != nil {
		return fmt.Errorf("making a folder for the demonstration: %w", err)
	}
	t := &teller{out: os.Stdout}
	err = playAndCleanUp(ctx, t, dir)
	interrupted := ctx.Err() != nil
	if err == nil && t.failed == 0 || interrupted {
		if removeErr := os.RemoveAll(dir); removeErr != nil {
			return fmt.Errorf("removing the demonstration's folder: %w", removeErr)
		}
	}
	switch {
	case interrupted:
		fmt.Fprintln(t.out, "\nInterrupted; everything was stopped and removed.")
		return exitError{status: 130}
	case err != nil:
		fmt.Fprintf(t.out, "\n✗ The demonstration broke off: %v\n", err)
		if os.Remove(dir) != nil { // there is something in it
			fmt.Fprintf(t.out, "  The logs are kept in %s\n", dir)
		}
		return errStory
	case t.failed > 0:
		fmt.Fprintf(t.out, "\n✗ %d of %d checks did not show what they should. The logs are kept in %s\n",
			t.failed, t.checked, dir)
		return errStory
	}
	fmt.Fprintf(t.out, "\n✓ All %d checks held, in %.0f s. Everything was stopped and removed.\n",
		t.checked, time.Since(began).Seconds())
	return nil
}

// playAndCleanUp starts the services, tells the story, and stops everything in reverse.
func playAndCleanUp(ctx context.Context, t *teller, dir string) (err error) {
	alive := context.WithoutCancel(ctx)
	t.say("Waybill buys a shipping label exactly once, whatever fails on the way. Here it proves that",
		"against a simulated carrier, which writes down on its own disk what it charges.", "")
	t.say("Starting Postgres…")
	db, err := demoDatabase(ctx, os.Stderr)
	if err != nil {
		return err
	}
	defer func() {
		if (err != nil || t.failed > 0) && db.log != "" {
			err = errors.Join(err, copyFile(db.log, filepath.Join(dir, "postgres.log")))
		}
		err = errors.Join(err, db.close(alive))
	}()
	carriers := filepath.Join(dir, "carriers.yaml")
	s, err := newStack(dir, map[string]string{
		"DATABASE_URL":            db.url,
		"WAYBILL_CARRIERS":        carriers,
		"WAYBILL_LEASE":           demoLease.String(),
		"WAYBILL_CARRIER_TIMEOUT": demoTimeout.String(),
		"FEDEX_SECRET":            "demo", // The simulator takes any.
	}, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	st := &story{teller: t, stack: s, db: db}
	if err := st.start(ctx, carriers); err != nil {
		return err
	}
	if err := st.play(ctx); err != nil {
		return err
	}
	return st.summarise(ctx)
}

// demoCarriers is a carriers.yaml with two carriers, both played by the simulator: one that honours
// keys, and FedEx, which honours none and shows nothing.
const demoCarriers = `default_carrier: sim
default_ship_from: {name: Dispatch, street1: 1 Dock Road, city: Reno, state: NV, postal_code: "89501", country: US, phone: "7755550100"}
carriers:
  - {name: sim, kind: sim, base_url: "%[1]s", account: SIM-1, currency: USD, class: keyed}
  - name: fedex
    kind: fedex
    base_url: "%[1]s/fedex"
    account: "` + fedexAccount + `"
    currency: USD
    class: blind
    secret_env: FEDEX_SECRET
    options: {client_id: demo, pickup_type: USE_SCHEDULED_PICKUP}
`

const fedexAccount = "740561073"

const anyPort = "127.0.0.1:0"

// start brings the service up: tables, a caller's API key, carrier, worker, API.
func (s *story) start(ctx context.Context, carriers string) error {
	s.say("Starting the carrier, the worker and the API…")
	if _, err := s.stack.api(ctx, "migrate"); err != nil {
		return err
	}
	key, err := s.stack.api(ctx, "keys", "create", "--caller", caller, "--scopes", "labels:write,labels:read")
	if err != nil {
		return err
	}
	s.client.key = strings.TrimSpace(string(key))
	ledger := filepath.Join(s.stack.dir, "ledger.jsonl")
	if s.client.carrier, err = s.stack.startCarrier(ctx, anyPort, ledger); err != nil {
		return err
	}
	text := fmt.Sprintf(demoCarriers, s.client.carrier)
	if err := os.WriteFile(carriers, []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing the carriers' file: %w", err)
	}
	if s.worker, err = s.stack.startWorker(ctx, "worker-1", anyPort); err != nil {
		return err
	}
	s.client.api, err = s.stack.startAPI(ctx, anyPort, anyPort)
	return err
}

// teller tells the story and counts what did not come true.
type teller struct {
	out     io.Writer
	steps   int
	checked int
	failed  int
}

// say prints lines as they are.
func (t *teller) say(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(t.out, line)
	}
}

// step begins the next step.
func (t *teller) step(title string, lines ...string) {
	t.steps++
	fmt.Fprintf(t.out, "\n%d. %s\n", t.steps, title)
	for _, line := range lines {
		fmt.Fprintf(t.out, "   %s\n", line)
	}
}

// check says whether something is as it should be.
func (t *teller) check(what string, expected, seen any) {
	t.checked++
	want, got := fmt.Sprint(expected), fmt.Sprint(seen)
	if want == got {
		fmt.Fprintf(t.out, "   ✓ %s: %s\n", what, got)
		return
	}
	t.failed++
	fmt.Fprintf(t.out, "   ✗ %s: expected %s, saw %s\n", what, want, got)
}
