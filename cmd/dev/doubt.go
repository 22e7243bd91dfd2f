package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// doubt is a carrier that can be asked nothing: it honours no key and shows no labels.
func (s *story) doubt(ctx context.Context) error {
	s.step("A carrier without a key charges, and never answers",
		"FedEx honours no idempotency key and shows nothing by reference. Whoever asks again may pay twice,",
		"so nobody does: the order stands in doubt, and is shown to a person.")
	if err := s.client.fail(ctx, "hang_after_charge"); err != nil {
		return err
	}
	o := newOrder(918277, 900)
	o.body = strings.NewReplacer(`"service": "ground"`, `"service": "FEDEX_GROUND", "carrier": "fedex"`,
		`"country": "US"`, `"country": "US", "phone": "5035550100"`).Replace(o.body)
	a, err := s.client.submit(ctx, o.key, o.body, 0)
	if err != nil {
		return err
	}
	s.check("status (202 means accepted)", http.StatusAccepted, a.status)
	id := decode[intent](a).IntentID
	if err := await(ctx, "the order stands in doubt", func(ctx context.Context) (bool, error) {
		a, err := s.client.read(ctx, "/v1/intents/"+id)
		s.doubtful = decode[intent](a)
		return s.doubtful.State == "in_doubt", err
	}); err != nil {
		return err
	}
	s.check("who settles it", "person", s.doubtful.SettledBy)
	s.check("calls made to the carrier", 1, s.doubtful.Calls)
	return nil
}

// void gives a label back.
func (s *story) void(ctx context.Context) error {
	s.step("A label is given back",
		"DELETE /v1/labels/{label_id}, three times: the carrier is asked once.")
	for range 3 {
		if _, err := s.client.void(ctx, s.crowded.LabelID); err != nil {
			return err
		}
	}
	var l label
	if err := await(ctx, "the label is void", func(ctx context.Context) (bool, error) {
		a, err := s.client.read(ctx, "/v1/labels/"+s.crowded.LabelID)
		l = decode[label](a)
		return l.VoidState != "requested", err
	}); err != nil {
		return err
	}
	s.check("the label", "voided", l.VoidState)
	return nil
}

// reconcileDoubt is the invoice of the carrier that could not be asked, in the form in which FedEx
// Billing Online gives it.
func (s *story) reconcileDoubt(ctx context.Context) error {
	s.step("FedEx's invoice settles what was in doubt",
		"A line bears the reference of the order in doubt, so the label was bought: --settle stores it, at its price.")
	charge, err := s.charged(ctx, s.doubtful.Reference)
	if err != nil {
		return err
	}
	file := filepath.Join(s.stack.dir, "fedex.csv")
	if err := os.WriteFile(file, billingOnline(charge), 0o600); err != nil {
		return fmt.Errorf("writing the invoice: %w", err)
	}
	status, r, _, err := s.reconcileFile(ctx, "fedex", file, "--settle")
	if err != nil {
		return err
	}
	s.check("exit status (0 means clean)", 0, status)
	s.check("intents settled", 1, r.count("intent_settled"))
	s.check("the invoice's lines add up to its total", true, r.foots())
	a, err := s.client.read(ctx, "/v1/intents/"+s.doubtful.IntentID)
	if err != nil {
		return err
	}
	in := decode[intent](a)
	s.check("the order", "purchased", in.State)
	if a, err = s.client.read(ctx, "/v1/labels/"+in.LabelID); err != nil {
		return err
	}
	l := decode[label](a)
	s.check("its label", charge.TrackingNo+", "+money(charge.AmountCents, charge.Currency), l.TrackingNo+", "+money(l.CostCents, l.Currency))
	return nil
}

// charged is the one charge that bears a reference.
func (s *story) charged(ctx context.Context, reference string) (found entry, err error) {
	charges, err := s.client.charges(ctx)
	n := 0
	for _, c := range charges {
		if c.Reference == reference {
			found, n = c, n+1
		}
	}
	s.check("charges in the carrier's ledger", 1, n)
	return found, err
}

// billingOnline is an invoice over one charge.
func billingOnline(e entry) []byte {
	day, amount := e.At.UTC().Format("20060102"), fmt.Sprintf("%d.%02d", e.AmountCents/100, e.AmountCents%100)
	var file bytes.Buffer
	w := csv.NewWriter(&file)
	for _, row := range [][]string{
		{
			"Bill to Account Number", "Invoice Date", "Invoice Number", "Original Amount Due", "Express or Ground Tracking ID",
			"Net Charge Amount", "Service Type", "Shipment Date", "Original Customer Reference",
			"Tracking ID Charge Description", "Tracking ID Charge Amount",
		},
		{
			fedexAccount, time.Now().UTC().Format("20060102"), "900000001", amount, e.TrackingNo,
			amount, "FEDEX_GROUND", day, e.Reference, "Transportation Charge", amount,
		},
	} {
		_ = w.Write(row) // Into memory.
	}
	w.Flush()
	return file.Bytes()
}
