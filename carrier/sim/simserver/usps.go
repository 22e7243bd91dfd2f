package simserver

import (
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// usps is what the USPS keeps outside the ledger: how often a label was printed again.
type usps struct {
	mu        sync.Mutex
	reprinted map[string]int
}

func (s *Server) routeUSPS() {
	s.usps.reprinted = map[string]int{}
	s.mux.HandleFunc("POST /usps/oauth2/v3/token", s.uspsToken)
	s.mux.HandleFunc("POST /usps/payments/v3/payment-authorization", s.uspsBearer(s.uspsPayment))
	for pattern, handle := range map[string]http.HandlerFunc{
		"POST /usps/labels/v3/label":                          s.uspsBuy,
		"DELETE /usps/labels/v3/label":                        s.uspsCancelByKey,
		"DELETE /usps/labels/v3/label/{trackingNumber}":       s.uspsCancel,
		"POST /usps/labels/v3/label-reprint":                  s.uspsReprintByKey,
		"POST /usps/labels/v3/label-reprint/{trackingNumber}": s.uspsReprint,
	} {
		s.mux.HandleFunc(pattern, s.uspsBearer(s.uspsPayer(handle)))
	}
}

// How long the carrier's tokens last.
const (
	uspsTokenLasts   = 8*time.Hour - time.Second
	uspsPaymentLasts = 8 * time.Hour
)

// oauthError is the error body of RFC 6749.
type oauthError struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

func (s *Server) uspsToken(w http.ResponseWriter, r *http.Request) {
	g, err := readGrant(w, r, true)
	complaint := s.complaint(g)
	switch {
	case err != nil:
		reply(w, http.StatusBadRequest, oauthError{"invalid_request", "The body could not be read."})
	case complaint == "invalid_client":
		reply(w, http.StatusUnauthorized, oauthError{complaint, "The client credentials are not valid."})
	case complaint != "":
		reply(w, http.StatusBadRequest, oauthError{complaint, "The request for a token is not complete."})
	default:
		reply(w, http.StatusOK, struct {
			AccessToken string `json:"access_token"`
			TokenType   string `json:"token_type"`
			IssuedAt    int64  `json:"issued_at"`
			ExpiresIn   int64  `json:"expires_in"`
			Status      string `json:"status"`
			Scope       string `json:"scope"`
		}{s.issue("usps", uspsTokenLasts), "Bearer", s.cfg.Now().UnixMilli(), int64(uspsTokenLasts.Seconds()), "approved", "labels payments"})
	}
}

func (s *Server) uspsBearer(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.honoured("usps", bearer(r)) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			uspsRefuse(w, http.StatusUnauthorized, "", "Authorization", "The access token is missing or has run out.")
			return
		}
		next(w, r)
	}
}

// uspsPayer checks the second token, which says who pays.
func (s *Server) uspsPayer(next http.HandlerFunc) http.HandlerFunc {
	const header = "X-Payment-Authorization-Token"
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.honoured("uspspay", r.Header.Get(header)) {
			uspsRefuse(w, http.StatusUnauthorized, "", header, "The payment token is missing or has run out.")
			return
		}
		next(w, r)
	}
}

// uspsRole is one party to the payment.
type uspsRole struct {
	RoleName      string `json:"roleName"`
	CRID          string `json:"CRID"`
	MID           string `json:"MID,omitzero"`
	ManifestMID   string `json:"manifestMID,omitzero"`
	AccountType   string `json:"accountType,omitzero"`
	AccountNumber string `json:"accountNumber,omitzero"`
	PermitNumber  string `json:"permitNumber,omitzero"`
	PermitZIP     string `json:"permitZIP,omitzero"`
}

var mailerID = regexp.MustCompile(`^(\d{6}|\d{9})$`)

// complaint names the first member of the role that is missing or makes no sense.
func (r uspsRole) complaint() string {
	switch {
	case len(r.CRID) < 2 || len(r.CRID) > 18:
		return "CRID"
	case r.RoleName == "LABEL_OWNER" && !mailerID.MatchString(r.MID):
		return "MID"
	case r.RoleName == "LABEL_OWNER" && !mailerID.MatchString(r.ManifestMID):
		return "manifestMID"
	case r.RoleName == "PAYER" && r.AccountType == "":
		return "accountType"
	case r.RoleName == "PAYER" && r.AccountType == "EPS" && r.AccountNumber == "":
		return "accountNumber"
	case r.RoleName == "PAYER" && r.AccountType == "PERMIT" && (r.PermitNumber == "" || r.PermitZIP == ""):
		return "permitNumber"
	}
	return ""
}

// uspsPayment hands out a payment token to those who name a payer and the owner of the label.
func (s *Server) uspsPayment(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Token string     `json:"paymentAuthorizationToken,omitzero"`
		Roles []uspsRole `json:"roles"`
	}
	if _, err := readJSON(w, r, &body); err != nil {
		uspsRefuse(w, http.StatusBadRequest, "", "roles", err.Error())
		return
	}
	named := map[string]bool{}
	for _, role := range body.Roles {
		if member := role.complaint(); member != "" {
			uspsRefuse(w, http.StatusBadRequest, "", "roles."+role.RoleName+"."+member, "The role is not complete.")
			return
		}
		named[role.RoleName] = true
	}
	if !named["PAYER"] || !named["LABEL_OWNER"] {
		uspsRefuse(w, http.StatusBadRequest, "", "roles", "PAYER and LABEL_OWNER are required.")
		return
	}
	body.Token = s.issue("uspspay", uspsPaymentLasts)
	reply(w, http.StatusOK, body)
}

// uspsError is the carrier's error body.
type uspsError struct {
	APIVersion string    `json:"apiVersion"`
	Error      uspsFault `json:"error"`
}

type uspsFault struct {
	Code    string       `json:"code"`
	Message string       `json:"message"`
	Errors  []uspsDetail `json:"errors"`
}

type uspsDetail struct {
	Status string     `json:"status"`
	Code   string     `json:"code"`
	Title  string     `json:"title"`
	Detail string     `json:"detail"`
	Source uspsSource `json:"source"`
}

type uspsSource struct {
	Parameter string `json:"parameter"`
	Example   string `json:"example,omitzero"`
}

// uspsRefuse answers with an error. The inner code is the carrier's own; its documents name hardly
// any, and zeros stand for those.
func uspsRefuse(w http.ResponseWriter, status int, code, parameter, detail string) {
	if code == "" {
		code = "0000000"
	}
	title, number := http.StatusText(status), strconv.Itoa(status)
	reply(w, status, uspsError{"/labels/v3", uspsFault{
		Code:    number,
		Message: title,
		Errors:  []uspsDetail{{Status: number, Code: code, Title: title, Detail: detail, Source: uspsSource{Parameter: parameter}}},
	}})
}

var uspsDialect = dialect{
	carrier: "usps",
	status:  http.StatusOK,
	name:    func(r *record) { r.LabelID = r.TrackingNo },
	label:   func(_ *http.Request, charge record) any { return uspsLabelOf(charge, charge.Order.Format) },
	refuse: func(w http.ResponseWriter, f failure) {
		switch f {
		case undeliverable:
			uspsRefuse(w, http.StatusBadRequest, "010005", "toAddress", "Address Not Found.")
		case tooMany:
			uspsRefuse(w, http.StatusTooManyRequests, "", "", "Too many requests.")
		case timedOut:
			uspsRefuse(w, http.StatusServiceUnavailable, "", "", "The service is unavailable.")
		case otherOrder:
			uspsRefuse(w, http.StatusBadRequest, "", uspsKeyHeader, "The key was used with another request.")
		case alreadySold: // nothing is made before it is bought
		case broken:
			uspsRefuse(w, http.StatusInternalServerError, "", "", "Something went wrong.")
		}
	},
}

const uspsKeyHeader = "X-Idempotency-Key"

var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// uspsKey reads the key of a call. Versions of the carrier's interface before 3.9.13 do not know it:
// they are what the modes other than keyed stand for.
func (s *Server) uspsKey(w http.ResponseWriter, r *http.Request) (key string, ok bool) {
	key = r.Header.Get(uspsKeyHeader)
	if key != "" && s.faults.show().Mode == Keyed && !uuid.MatchString(key) {
		uspsRefuse(w, http.StatusBadRequest, "", uspsKeyHeader, "The key must be a UUID.")
		return "", false
	}
	return key, true
}
