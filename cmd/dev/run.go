package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// runCmd keeps the service up in the foreground. Its state stays in a folder between runs.
type runCmd struct {
	Dir             string `default:"run" help:"Folder of the state: database, ledger, API key, logs."`
	APIAddr         string `name:"api-addr" env:"WAYBILL_API_ADDR" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"The API (default ${default})."`
	APIAdminAddr    string `name:"api-admin-addr" env:"WAYBILL_API_ADMIN_ADDR" default:"127.0.0.1:9080" placeholder:"HOST:PORT" help:"Metrics and health of the API (default ${default})."`
	WorkerAdminAddr string `name:"worker-admin-addr" env:"WAYBILL_WORKER_ADMIN_ADDR" default:"127.0.0.1:9081" placeholder:"HOST:PORT" help:"Metrics and health of the worker (default ${default})."`
	CarrierAddr     string `name:"carrier-addr" env:"CARRIERSIM_ADDR" default:"127.0.0.1:8090" placeholder:"HOST:PORT" help:"The simulated carrier (default ${default})."`
	Carriers        string `env:"WAYBILL_CARRIERS" default:"carriers.yaml" placeholder:"FILE" help:"The carriers' file (default ${default})."`
}

// Help is shown by --help.
func (*runCmd) Help() string {
	return "Stores in the database that DATABASE_URL names, else on a Postgres server of its own. " +
		"Settings of the services (WAYBILL_…) are passed on to them."
}

// Run starts everything, says what to try, and stops everything at Ctrl-C.
func (c *runCmd) Run(ctx context.Context) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := c.checkPorts(ctx); err != nil {
		return err
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return fmt.Errorf("finding the folder of the state: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of the state: %w", err)
	}
	cluster, err := clusterDir(dir)
	if err != nil {
		return err
	}
	db, err := keptDatabase(ctx, cluster, os.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close(context.WithoutCancel(ctx))) }()
	s, err := newStack(dir, passedOn(), false)
	if err != nil {
		return err
	}
	s.env["DATABASE_URL"] = db.url
	defer func() { err = errors.Join(err, s.stop()) }()
	guide, err := c.start(ctx, s)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	fmt.Print(guide)
	if p := s.firstToEnd(ctx); p != nil {
		return fmt.Errorf("%s ended (%s): %s\nIts log is %s; everything is stopped",
			p.name, p.cmd.ProcessState, p.lastWords(), p.log)
	}
	fmt.Println("\nStopping: calls under way are finished first…")
	return nil
}

// start brings the service up and returns what to try with it.
func (c *runCmd) start(ctx context.Context, s *stack) (string, error) {
	if _, err := s.api(ctx, "migrate"); err != nil {
		return "", err
	}
	// Not the file that a carriersim takes by default: one that was started by hand charges for another
	// database, and what it charged would be unexplained in this one.
	carrier, err := s.startCarrier(ctx, c.CarrierAddr, filepath.Join(s.dir, "ledger.jsonl"))
	if err != nil {
		return "", err
	}
	carriers, err := c.carriersFile(s.dir, carrier)
	if err != nil {
		return "", err
	}
	s.env["WAYBILL_CARRIERS"] = carriers
	if _, err := s.startWorker(ctx, "worker", c.WorkerAdminAddr); err != nil {
		return "", err
	}
	api, err := s.startAPI(ctx, c.APIAddr, c.APIAdminAddr)
	if err != nil {
		return "", err
	}
	key, err := keptKey(ctx, s, api)
	if err != nil {
		return "", err
	}
	return guide(guideValues{
		API: api, Key: key, Carrier: carrier, DatabaseURL: s.env["DATABASE_URL"], Dir: c.Dir,
		APIAdmin: "http://" + c.APIAdminAddr, WorkerAdmin: "http://" + c.WorkerAdminAddr,
	})
}

// checkPorts finds a taken port before anything is started.
func (c *runCmd) checkPorts(ctx context.Context) error {
	var errs []error
	for _, port := range []struct{ what, addr, variable string }{
		{"the API", c.APIAddr, "WAYBILL_API_ADDR"},
		{"the API's metrics", c.APIAdminAddr, "WAYBILL_API_ADMIN_ADDR"},
		{"the worker's metrics", c.WorkerAdminAddr, "WAYBILL_WORKER_ADMIN_ADDR"},
		{"the simulated carrier", c.CarrierAddr, "CARRIERSIM_ADDR"},
	} {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", port.addr)
		if err == nil {
			err = listener.Close()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s cannot listen on %s (%w): stop what listens there, or choose "+
				"another address: %s=127.0.0.1:PORT make run", port.what, port.addr, err, port.variable))
		}
	}
	return errors.Join(errs...)
}

// standardCarrier is where carriers.yaml expects the simulated carrier.
const standardCarrier = "http://127.0.0.1:8090"

// carriersFile is the carriers' file itself, or a copy that looks for the simulated carrier where it is.
func (c *runCmd) carriersFile(dir, carrier string) (string, error) {
	if carrier == standardCarrier {
		return filepath.Abs(c.Carriers)
	}
	text, err := os.ReadFile(c.Carriers)
	if err != nil {
		return "", fmt.Errorf("reading the carriers' file: %w", err)
	}
	path := filepath.Join(dir, "carriers.yaml")
	moved := strings.ReplaceAll(string(text), standardCarrier, carrier)
	if err := os.WriteFile(path, []byte(moved), 0o600); err != nil {
		return "", fmt.Errorf("writing the carriers' file: %w", err)
	}
	return path, nil
}

// passedOn are the services' settings out of our own environment.
func passedOn() map[string]string {
	settings := map[string]string{}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "WAYBILL_") || strings.HasPrefix(name, "CARRIERSIM_") {
			settings[name] = value
		}
	}
	return settings
}

// keptKey returns the API key of earlier runs, or makes one if there is none that works.
func keptKey(ctx context.Context, s *stack, api string) (string, error) {
	path := filepath.Join(s.dir, "api-key")
	if text, err := os.ReadFile(path); err == nil {
		kept := client{api: api, key: strings.TrimSpace(string(text))}
		if a, err := kept.read(ctx, "/v1/labels?order_id=1"); err == nil && a.status == http.StatusOK {
			return kept.key, nil
		}
	}
	made, err := s.api(ctx, "keys", "create", "--caller", caller, "--scopes", "labels:write,labels:read")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, made, 0o600); err != nil {
		return "", fmt.Errorf("keeping the API key: %w", err)
	}
	return strings.TrimSpace(string(made)), nil
}

// clusterDir is where the database server keeps its files: in dir, unless we are root. The server then
// runs as another user, who cannot reach a folder under /root, so that dir only holds a link.
func clusterDir(dir string) (string, error) {
	link := filepath.Join(dir, "postgres")
	if os.Geteuid() != 0 {
		return link, nil
	}
	name := sha256.Sum256([]byte(dir))
	kept := filepath.Join("/var/lib/waybill-run", hex.EncodeToString(name[:4]))
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		return "", fmt.Errorf("making the database server's folder: %w", err)
	}
	err := os.Symlink(kept, link)
	switch {
	case errors.Is(err, os.ErrExist):
		return kept, nil
	case err != nil:
		return "", fmt.Errorf("linking to the database server's folder: %w", err)
	}
	// The link is new, and so is all the other state: a database that a folder of this name had before it
	// was deleted would know labels that nobody's ledger knows.
	if err := os.RemoveAll(kept); err != nil {
		return "", fmt.Errorf("removing the database of a folder that was deleted: %w", err)
	}
	return kept, nil
}
