package simserver

import (
	"net/http"
	"time"
)

func (s *Server) routeFedEx() {
	s.mux.HandleFunc("POST /fedex/oauth/token", s.fedexToken)
	s.mux.HandleFunc("POST /fedex/ship/v1/shipments", s.fedexBearer(s.fedexBuy))
	s.mux.HandleFunc("PUT /fedex/ship/v1/shipments/cancel", s.fedexBearer(s.fedexCancel))
}

// fedexTokenLasts is how long the carrier's tokens last.
const fedexTokenLasts = time.Hour - time.Second

func (s *Server) fedexToken(w http.ResponseWriter, r *http.Request) {
	g, err := readGrant(w, r, false)
	switch complaint := s.complaint(g); {
	case err != nil:
		fedexRefuse(w, r, http.StatusBadRequest, "BAD.REQUEST.ERROR", "The form could not be read.")
	case complaint == "invalid_client":
		fedexRefuse(w, r, http.StatusUnauthorized, "NOT.AUTHORIZED.ERROR", "The given client credentials were not valid.")
	case complaint != "":
		fedexRefuse(w, r, http.StatusBadRequest, "BAD.REQUEST.ERROR", "The form is not complete.")
	default:
		reply(w, http.StatusOK, struct {
			AccessToken string `json:"access_token"`
			TokenType   string `json:"token_type"`
			ExpiresIn   int64  `json:"expires_in"`
			Scope       string `json:"scope"`
		}{s.issue("fedex", fedexTokenLasts), "bearer", int64(fedexTokenLasts.Seconds()), "CXS"})
	}
}

func (s *Server) fedexBearer(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.honoured("fedex", bearer(r)) {
			fedexRefuse(w, r, http.StatusUnauthorized, "NOT.AUTHORIZED.ERROR", "Access token expired.")
			return
		}
		next(w, r)
	}
}

// fedexEnvelope is around every answer: the caller's own id for the call comes back in it.
type fedexEnvelope struct {
	TransactionID         string       `json:"transactionId"`
	CustomerTransactionID string       `json:"customerTransactionId,omitzero"`
	Output                any          `json:"output,omitzero"`
	Errors                []fedexFault `json:"errors,omitzero"`
}

type fedexFault struct {
	Code          string           `json:"code"`
	ParameterList []fedexParameter `json:"parameterList"`
	Message       string           `json:"message"`
}

type fedexParameter struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

const fedexTransaction = "x-customer-transaction-id"

func fedexRefuse(w http.ResponseWriter, r *http.Request, status int, code, message string, about ...fedexParameter) {
	reply(w, status, fedexEnvelope{
		TransactionID:         newID(""),
		CustomerTransactionID: r.Header.Get(fedexTransaction),
		Errors:                []fedexFault{{Code: code, ParameterList: about, Message: message}},
	})
}

// fedexInvalid refuses an order for one of its members.
func fedexInvalid(w http.ResponseWriter, r *http.Request, member, message string) {
	fedexRefuse(w, r, http.StatusBadRequest, "INVALID.INPUT.EXCEPTION", message, fedexParameter{Key: member})
}

// fedexDialect answers one call: even an error bears the id that the caller gave it.
func fedexDialect(r *http.Request) dialect {
	return dialect{
		carrier: "fedex",
		status:  http.StatusOK,
		name:    func(r *record) { r.LabelID = r.TrackingNo },
		label:   func(_ *http.Request, charge record) any { return fedexShipmentOf(charge) },
		refuse: func(w http.ResponseWriter, f failure) {
			switch f {
			case undeliverable:
				fedexRefuse(w, r, http.StatusBadRequest, "SHIP.RECIPIENT.POSTALCITY.MISMATCH", "Recipient Postal-City Mismatch.")
			case tooMany:
				fedexRefuse(w, r, http.StatusTooManyRequests, "TOO.MANY.REQUESTS.ERROR", "Too many requests.")
			case timedOut:
				fedexRefuse(w, r, http.StatusServiceUnavailable, "SERVICE.UNAVAILABLE.ERROR", "The service is currently unavailable.")
			case otherOrder, alreadySold: // no key is honoured, and nothing is made before it is bought
			case broken:
				fedexRefuse(w, r, http.StatusInternalServerError, "INTERNAL.SERVER.ERROR", "An unexpected error was encountered.")
			}
		},
	}
}

// fedexCancellation is the body of PUT /shipments/cancel.
type fedexCancellation struct {
	AccountNumber     fedexAccount `json:"accountNumber"`
	EmailShipment     any          `json:"emailShipment"`
	SenderCountryCode string       `json:"senderCountryCode"`
	DeletionControl   string       `json:"deletionControl"`
	TrackingNumber    string       `json:"trackingNumber"`
}

type fedexCancelled struct {
	CancelledShipment bool   `json:"cancelledShipment"`
	CancelledHistory  bool   `json:"cancelledHistory"`
	SuccessMessage    string `json:"successMessage"`
}

// fedexCancel cancels a label of the account that bought it. A second cancellation cancels nothing,
// and says that one has been: cancelledShipment is false and cancelledHistory true.
func (s *Server) fedexCancel(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	var body fedexCancellation
	if _, err := readJSON(w, r, &body); err != nil {
		fedexInvalid(w, r, "body", err.Error())
		return
	}
	if body.DeletionControl != "" && body.DeletionControl != "DELETE_ALL_PACKAGES" {
		fedexInvalid(w, r, "deletionControl", "It must be DELETE_ALL_PACKAGES.")
		return
	}
	charge, _, found := s.ledger.chargeByLabel(body.TrackingNumber)
	if !found || charge.Dialect != "fedex" {
		fedexRefuse(w, r, http.StatusNotFound, "NOT.FOUND.ERROR", "The tracking number was not found.")
		return
	}
	if remembered[fedexOrder](charge).AccountNumber != body.AccountNumber {
		fedexRefuse(w, r, http.StatusBadRequest, "SHIPMENT.USER.UNAUTHORIZED", "The shipment is not of this account.")
		return
	}
	answer, err := s.giveBack(charge.LabelID)
	if err != nil {
		fedexDialect(r).refuse(w, broken)
		return
	}
	out := fedexCancelled{CancelledShipment: true, CancelledHistory: true, SuccessMessage: "Shipment is successfully cancelled"}
	if answer.Status != "voided" {
		out.CancelledShipment = false
		out.SuccessMessage = "Shipment Delete was requested for a tracking number already in a deleted state."
	}
	reply(w, http.StatusOK, fedexEnvelope{
		TransactionID: newID(""), CustomerTransactionID: r.Header.Get(fedexTransaction), Output: out,
	})
}
