package simserver

import (
	"errors"
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
		p.dialect.refuse(w, undeliverable)
	case RateLimited:
		w.Header().Set("Retry-After", strconv.Itoa(retryAfterSeconds))
		p.dialect.refuse(w, tooMany)
	case ErrorBeforeCharge:
		p.dialect.refuse(w, broken)
	case ResetBeforeCharge:
		reset(w)
	case HangBeforeCharge:
		s.hang(r)
	case ChargeLate:
		delay := milliseconds(s.faults.show().LateMS)
		s.late.Go(func() { s.chargeLate(p, delay) })
		p.dialect.refuse(w, timedOut)
	default:
		return false
	}
	return true
}

func (s *Server) chargeLate(p purchase, delay time.Duration) {
	s.pause(delay)
	// What was sold meanwhile is not sold again.
	if _, err := s.charge(p); err != nil && !errors.Is(err, errSold) {
		s.cfg.Logger.Error("late charge is not in the ledger", zap.Error(err))
	}
}

// deliver answers with the label, or with what the fault leaves of it. The charge is on disk.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, charge record, p purchase) {
	whole := func() []byte { return encode(p.dialect.label(r, charge)) }
	switch p.fault {
	case ErrorAfterCharge:
		p.dialect.refuse(w, broken)
		return
	case ResetAfterCharge:
		reset(w)
	case HangAfterCharge:
		s.hang(r)
	case Malformed:
		body := whole()
		writeRaw(w, p.dialect.status, len(body)-1, body[:len(body)-1]) // without the closing brace
		return
	case Truncated:
		body := whole()
		writeRaw(w, p.dialect.status, len(body), body[:len(body)/2])
		panic(http.ErrAbortHandler)
	case WrongReference:
		charge.Reference = "X" + charge.Reference[min(1, len(charge.Reference)):] + "X"
	case NoTracking:
		charge.TrackingNo = ""
	default: // no fault, or one that has done its work before
	}
	reply(w, p.dialect.status, p.dialect.label(r, charge))
}

func writeRaw(w http.ResponseWriter, status, announced int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(announced))
	w.WriteHeader(status)
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
