package main

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// client is a client of the API and an onlooker at the carrier's.
type client struct {
	api     string
	key     string
	carrier string
}

// answer is what the API said.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// patience is longer than any answer may take: a wait of 30 s and something to spare.
const patience = 40 * time.Second

// submit orders a label. A wait of 0 does not wait for it.
func (c *client) submit(ctx context.Context, key, body string, wait int) (answer, error) {
	headers := map[string]string{
		"Authorization":   "Bearer " + c.key,
		"Content-Type":    "application/json",
		"Idempotency-Key": key,
	}
	if wait > 0 {
		headers["Prefer"] = "wait=" + strconv.Itoa(wait)
	}
	return send(ctx, http.MethodPost, c.api+"/v1/labels", headers, body)
}

// void asks for a label's void.
func (c *client) void(ctx context.Context, labelID string) (answer, error) {
	return send(ctx, http.MethodDelete, c.api+"/v1/labels/"+labelID, map[string]string{"Authorization": "Bearer " + c.key}, "")
}

// read asks the API for something that was stored.
func (c *client) read(ctx context.Context, path string) (answer, error) {
	return send(ctx, http.MethodGet, c.api+path, map[string]string{"Authorization": "Bearer " + c.key}, "")
}

// entry is one line of the carrier's ledger.
type entry struct {
	Kind        string    `json:"kind"`
	CarrierKey  string    `json:"carrier_key"`
	Reference   string    `json:"reference"`
	TrackingNo  string    `json:"tracking_no"`
	AmountCents int64     `json:"amount_cents"`
	Currency    string    `json:"currency"`
	At          time.Time `json:"at"`
}

// charges are what the carrier has charged for: the ledger is its own, on its own disk.
func (c *client) charges(ctx context.Context) ([]entry, error) {
	a, err := send(ctx, http.MethodGet, c.carrier+"/_sim/ledger", nil, "")
	if err != nil {
		return nil, err
	}
	var charges []entry
	for line := range bytes.Lines(a.body) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("reading the carrier's ledger: %w", err)
		}
		if e.Kind == "charge" {
			charges = append(charges, e)
		}
	}
	return charges, nil
}

// fail makes the carrier's next purchase go wrong.
func (c *client) fail(ctx context.Context, fault string) error {
	rules := `{"rules": [{"fault": "` + fault + `", "count": 1}]}`
	a, err := send(ctx, http.MethodPut, c.carrier+"/_sim/faults", nil, rules)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("setting a fault of the carrier: status %d: %s", a.status, a.body)
	}
	return err
}

// invoice is the carrier's bill for its ledger, with mistakes planted on it.
func (c *client) invoice(ctx context.Context, planted string) ([]byte, error) {
	a, err := send(ctx, http.MethodGet, c.carrier+"/_sim/invoice?format=neutral&plant="+planted, nil, "")
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("fetching the carrier's invoice: status %d: %s", a.status, a.body)
	}
	return a.body, err
}

func send(ctx context.Context, method, url string, headers map[string]string, body string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, fmt.Errorf("reading the answer of %s %s: %w", method, url, err)
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: text}, nil
}

// label is what the demonstration reads of a bought label.
type label struct {
	IntentID   string `json:"intent_id"`
	LabelID    string `json:"label_id"`
	VoidState  string `json:"void_state"`
	TrackingNo string `json:"tracking_no"`
	CostCents  int64  `json:"cost_cents"`
	Currency   string `json:"currency"`
}

// decode reads members of a body; what is not there stays empty, and the checks see it.
func decode[T any](a answer) T {
	var v T
	_ = json.Unmarshal(a.body, &v)
	return v
}
