package simserver

import (
	"io"
	"net/http"
)

// buy is POST /labels of the reference protocol.
func (s *Server) buy(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxOrder))
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", "The body could not be read.")
		return
	}
	o, err := parseOrder(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if len(key) > 255 {
		refuse(w, http.StatusBadRequest, "invalid_key", "Idempotency-Key is longer than 255 characters.")
		return
	}
	s.sell(w, r, purchase{dialect: reference, order: o, key: key, digest: digest(body)})
}

// reference is how the reference protocol answers.
var reference = dialect{
	status: http.StatusCreated,
	label:  func(_ *http.Request, charge record) any { return newLabel(charge) },
	refuse: func(w http.ResponseWriter, f failure) {
		switch f {
		case undeliverable:
			refuse(w, http.StatusUnprocessableEntity, "address_undeliverable", "No delivery to this address.")
		case tooMany:
			refuse(w, http.StatusTooManyRequests, "rate_limited", "Too many requests.")
		case timedOut:
			refuse(w, http.StatusGatewayTimeout, "timeout", "The carrier's system did not answer in time.")
		case otherOrder:
			refuse(w, http.StatusConflict, "key_mismatch", "The key was used with another body.")
		case alreadySold: // nothing is made before it is bought
		case broken:
			refuse(w, http.StatusInternalServerError, "internal", "Something went wrong.")
		}
	},
}
