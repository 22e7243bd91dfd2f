package simserver

import (
	"net"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"
)

// retryAfterSeconds is what a rate-limited caller is told.
const retryAfterSeconds = 1

// spoilBefore applies the faults that come before the charge, and reports whether one did.
func (s *Server) spoilBefore(w http.ResponseWriter, r *http.Request, p purchase) bool {
	switch p.fault {
	case Refuse:
		refuse(w, http.StatusUnprocessableEntity, "address_undeliverable", "No delivery to this address.")
	case RateLimited:
		w.Header().Set("Retry-After", strconv.Itoa(retryAfterSeconds))
		refuse(w, http.StatusTooManyRequests, "rate_limited", "Too many requests.")
	case ErrorBeforeCharge:
		refuse(w, http.StatusInternalServerError, "internal", "Something went wrong.")
	case ResetBeforeCharge:
		reset(w)
	case HangBeforeCharge:
		s.hang(r)
	case ChargeLate:
		delay := milliseconds(s.faults.show().LateMS)
		s.late.Go(func() { s.chargeLate(p, delay) })
		refuse(w, http.StatusGatewayTimeout, "timeout", "The carrier's system did not answer in time.")
	default:
		return false
	}
	return true
}

func (s *Server) chargeLate(p purchase, delay time.Duration) {
	s.pause(delay)
	if _, err := s.charge(p); err != nil {
		s.cfg.Logger.Error("late charge is not in the ledger", zap.Error(err))
	}
}

// deliver answers with the label, or with what the fault leaves of it. The charge is on disk.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, charge record, fault Fault) {
	answer := newLabel(charge)
	switch fault {
	case ErrorAfterCharge:
		refuse(w, http.StatusInternalServerError, "internal", "Something went wrong.")
		return
	case ResetAfterCharge:
		reset(w)
	case HangAfterCharge:
		s.hang(r)
	case Malformed:
		body := encode(answer)
		writeRaw(w, len(body)-1, body[:len(body)-1]) // without the closing brace
		return
	case Truncated:
		body := encode(answer)
		writeRaw(w, len(body), body[:len(body)/2])
		panic(http.ErrAbortHandler)
	case WrongReference:
		answer.Reference = "X" + answer.Reference[1:] + "X"
	case NoTracking:
		answer.TrackingNo = ""
	default: // no fault, or one that has done its work before
	}
	reply(w, http.StatusCreated, answer)
}

func writeRaw(w http.ResponseWriter, announced int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(announced))
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(body)
	_ = http.NewResponseController(w).Flush() // so that the half arrives
}

// hang holds the call until whoever made it gives up, and answers nothing.
func (s *Server) hang(r *http.Request) {
	if s.cfg.OnHang != nil {
		s.cfg.OnHang()
	}
	select {
	case <-r.Context().Done():
	case <-s.draining:
	}
	panic(http.ErrAbortHandler)
}

// reset drops the connection: with a TCP reset where it can.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2: the stream is reset
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
	panic(http.ErrAbortHandler)
}
