package easypost

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Codes of a shipment that was made, and is not bought.
const (
	codeNoRate       = "rate_unavailable" // the carrier does not offer the service for it
	codeNoRates      = "rating_failed"    // the carrier has rated nothing at all
	codeRateTooDear  = "rate_over_limit"
	codeRateCurrency = "rate_in_another_currency"
)

var (
	shipmentPattern = regexp.MustCompile(`^shp_[A-Za-z0-9]{1,64}$`)
	ratePattern     = regexp.MustCompile(`^rate_[A-Za-z0-9]{1,64}$`)
)

// Prepare implements [carrier.Preparer]: it makes a shipment and finds the rate of the ordered service
// in it. A rate above the price limit goes no further: nothing has been bought yet.
func (a *Adapter) Prepare(ctx context.Context, p carrier.Purchase) carrier.Preparation {
	order, err := encodeOrder(p)
	if err != nil {
		return refused(carrier.Rejected, carrierhttp.CodeUnencodable, "the shipment holds text that is not UTF-8")
	}
	req, err := a.newRequest(ctx, http.MethodPost, "shipments")
	if err != nil {
		return refused(carrier.NotBought, carrierhttp.CodeNotSent, "the request could not be prepared")
	}
	answer, failed := a.client.SendOnce(req, carrierhttp.JSON, order)
	if failed != nil {
		return refused(carrier.NotBought, failed.Code, failed.Message)
	}
	return a.judgePrepared(p, answer)
}

func refused(outcome carrier.Outcome, code, message string) carrier.Preparation {
	return carrier.Preparation{Refusal: carrier.Result{Outcome: outcome, Code: code, Message: message}}
}

// judgePrepared never knows an unknown: a shipment that may or may not have been made costs nothing. One
// that comes back sold, which nothing that is sent asks for, is paid for all the same: it is looked up.
func (a *Adapter) judgePrepared(p carrier.Purchase, answer carrierhttp.Answer) carrier.Preparation {
	if answer.Status != http.StatusCreated && answer.Status != http.StatusOK {
		c := readComplaint(answer)
		refusal := c.result(p, answer)
		refusal.Outcome, refusal.AboutOrder = classifyPrepared(answer.Status, c.Code)
		return carrier.Preparation{Refusal: refusal}
	}
	var s shipment
	if !answer.Decode(&s) || !shipmentPattern.MatchString(s.ID) {
		return refused(carrier.NotBought, carrierhttp.CodeMalformed, "the carrier's answer is not a shipment")
	}
	if s.Reference != p.Reference {
		return refused(carrier.NotBought, codeWrongReference, "the shipment is for another reference")
	}
	if s.PostageLabel != nil {
		return carrier.Preparation{RemoteID: s.ID + "," + s.soldRate(), Sold: true}
	}
	return a.judgeRates(p, s)
}

// soldRate is the id of the rate that a shipment was sold at. A look-up needs the shipment's alone, so that
// a sold one which does not say is none the less to be looked up.
func (s shipment) soldRate() string {
	if s.SelectedRate != nil && ratePattern.MatchString(s.SelectedRate.ID) {
		return s.SelectedRate.ID
	}
	return "rate_unknown"
}

func (a *Adapter) judgeRates(p carrier.Purchase, s shipment) carrier.Preparation {
	offered, cost, ok := a.choose(s.Rates, p.Shipment.Service)
	limit := p.Shipment.MaxCostCents
	switch {
	case !ok && a.rated(s.Rates):
		return refused(carrier.Rejected, codeNoRate, "the carrier does not offer this service for the shipment")
	case !ok:
		// What kept the carrier from rating may be the shipment, or an outage of its own: so nothing is
		// final. EasyPost itself is well, and other orders must not wait for this one.
		unrated := refused(carrier.NotBought, codeNoRates, carrierhttp.Redact(a.reason(s.Messages), p.Shipment))
		unrated.Refusal.AboutOrder = true
		return unrated
	case cost.Currency != a.cfg.Currency:
		return refused(carrier.Rejected, codeRateCurrency, "the rate is not in the account's currency")
	case limit != nil && cost.Cents > *limit:
		return refused(carrier.Rejected, codeRateTooDear, "the rate is above the price limit; nothing was bought")
	}
	return carrier.Preparation{RemoteID: s.ID + "," + offered.ID}
}

// ours tells whether the rate is of the configured carrier, at the configured account if there is one.
func (a *Adapter) ours(r rate) bool {
	return r.Carrier == a.cfg.Carrier && (a.cfg.CarrierAccount == "" || r.CarrierAccountID == a.cfg.CarrierAccount)
}

func (a *Adapter) rated(rates []rate) bool { return slices.ContainsFunc(rates, a.ours) }

// choose returns the cheapest rate of the service: there are several only if the carrier has several
// accounts. Equal ones are told apart by their ids.
func (a *Adapter) choose(rates []rate, service string) (chosen rate, cost carrier.Money, ok bool) {
	for _, r := range rates {
		c, priced := r.cost()
		if !a.ours(r) || r.Service != service || !priced || !ratePattern.MatchString(r.ID) {
			continue
		}
		if !ok || cmp.Or(cmp.Compare(c.Cents, cost.Cents), cmp.Compare(r.ID, chosen.ID)) < 0 {
			chosen, cost, ok = r, c, true
		}
	}
	return chosen, cost, ok
}

// reason is what the configured carrier says about having no rates.
func (a *Adapter) reason(messages []message) string {
	for _, m := range messages {
		if said := text(m.Message); m.Carrier == a.cfg.Carrier && said != "" {
			return said
		}
	}
	return "the carrier has rated nothing"
}

// splitRemoteID takes apart what Prepare put together.
func splitRemoteID(id string) (shipmentID, rateID string, ok bool) {
	shipmentID, rateID, _ = strings.Cut(id, ",")
	return shipmentID, rateID, shipmentPattern.MatchString(shipmentID) && ratePattern.MatchString(rateID)
}
