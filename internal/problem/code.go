package problem

import "net/http"

// Code names a kind of problem; callers switch on it.
type Code string

// Every code a caller can meet.
const (
	IdempotencyKeyMissing Code = "idempotency_key_missing"
	IdempotencyKeyInvalid Code = "idempotency_key_invalid"
	MalformedJSON         Code = "malformed_json"
	InvalidRequest        Code = "invalid_request"
	Unauthenticated       Code = "unauthenticated"
	Forbidden             Code = "forbidden"
	NotFound              Code = "not_found"
	MethodNotAllowed      Code = "method_not_allowed"
	RequestTimeout        Code = "request_timeout"
	RequestInProgress     Code = "request_in_progress"
	PurchaseInDoubt       Code = "purchase_in_doubt"
	ParcelAlreadyLabelled Code = "parcel_already_labelled"
	LabelVersionConflict  Code = "label_version_conflict"
	PreconditionFailed    Code = "precondition_failed"
	BodyTooLarge          Code = "body_too_large"
	UnsupportedMediaType  Code = "unsupported_media_type"
	IdempotencyKeyReused  Code = "idempotency_key_reused"
	CarrierRejected       Code = "carrier_rejected"
	PreconditionRequired  Code = "precondition_required"
	RateLimited           Code = "rate_limited"
	Internal              Code = "internal"
	CarrierUnavailable    Code = "carrier_unavailable"
	Overloaded            Code = "overloaded"
	Unavailable           Code = "unavailable"
)

type kind struct {
	status int
	title  string
}

// kinds is the one table from code to status.
var kinds = map[Code]kind{
	IdempotencyKeyMissing: {http.StatusBadRequest, "Idempotency-Key is missing"},
	IdempotencyKeyInvalid: {http.StatusBadRequest, "Idempotency-Key is not valid"},
	MalformedJSON:         {http.StatusBadRequest, "The body is not valid JSON"},
	InvalidRequest:        {http.StatusBadRequest, "The request is not valid"},
	Unauthenticated:       {http.StatusUnauthorized, "The API key is missing, unknown or revoked"},
	Forbidden:             {http.StatusForbidden, "The API key lacks the scope"},
	NotFound:              {http.StatusNotFound, "Not found"},
	MethodNotAllowed:      {http.StatusMethodNotAllowed, "Method not allowed"},
	RequestTimeout:        {http.StatusRequestTimeout, "The request took too long to arrive"},
	RequestInProgress:     {http.StatusConflict, "The first request with this key is still in progress"},
	PurchaseInDoubt:       {http.StatusConflict, "The purchase is in doubt"},
	ParcelAlreadyLabelled: {http.StatusConflict, "Another key already names this parcel"},
	LabelVersionConflict:  {http.StatusConflict, "The label version before has no end yet"},
	PreconditionFailed:    {http.StatusPreconditionFailed, "The label is at another revision"},
	BodyTooLarge:          {http.StatusRequestEntityTooLarge, "The body is too large"},
	UnsupportedMediaType:  {http.StatusUnsupportedMediaType, "The body must be application/json"},
	IdempotencyKeyReused:  {http.StatusUnprocessableEntity, "The key was used with another body"},
	CarrierRejected:       {http.StatusUnprocessableEntity, "The carrier refused the shipment"},
	PreconditionRequired:  {http.StatusPreconditionRequired, "If-Match is missing"},
	RateLimited:           {http.StatusTooManyRequests, "Too many requests"},
	Internal:              {http.StatusInternalServerError, "Internal error"},
	CarrierUnavailable:    {http.StatusBadGateway, "The carrier could not be reached; nothing was bought"},
	Overloaded:            {http.StatusServiceUnavailable, "Overloaded"},
	Unavailable:           {http.StatusServiceUnavailable, "Temporarily unavailable"},
}

// Codes lists every code, in no particular order.
func Codes() []Code {
	codes := make([]Code, 0, len(kinds))
	for code := range kinds {
		codes = append(codes, code)
	}
	return codes
}
