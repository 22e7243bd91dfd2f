package main

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"waybill/caller"
	"waybill/internal/problem"
	"waybill/outbox"
)

// How long a client is asked to leave us alone. Long enough not to be a burden, short enough not to
// keep a parcel waiting; a person's decision takes longer than a look-up.
const (
	retryBusy       = 1 * time.Second
	retryInProgress = 1 * time.Second
	retryInDoubt    = 30 * time.Second
)

// refusal is an error that a caller may read: a problem document, and when to come back.
type refusal struct {
	document   problem.Document
	retryAfter time.Duration

	// cause is for the log alone.
	cause error
}

func (r *refusal) Error() string { return string(r.document.Code) + ": " + r.document.Detail }

func (r *refusal) Unwrap() error { return r.cause }

// refuse makes the error that is answered with the problem of a code.
func refuse(code problem.Code, detail string) *refusal {
	return &refusal{document: problem.New(code, detail)}
}

func (r *refusal) after(d time.Duration) *refusal {
	r.retryAfter = d
	return r
}

func (r *refusal) because(err error) *refusal {
	r.cause = err
	return r
}

// toRefusal is the one place where an error becomes an answer. What it does not know is internal,
// and its text stays in the log.
func toRefusal(err error) *refusal {
	var known *refusal
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, caller.ErrUnauthenticated):
		return refuse(problem.Unauthenticated, "Send a valid API key: Authorization: Bearer wb_live_….")
	case errors.Is(err, outbox.ErrNoDocument):
		return refuse(problem.NotFound, "The label was bought, and its document is not kept here, as when an operator "+
			"settled its purchase. Print it from the carrier's portal, by its tracking number; do not order it again.")
	case errors.Is(err, outbox.ErrNotFound):
		return refuse(problem.NotFound, "There is nothing of yours under this name.")
	case errors.Is(err, outbox.ErrOverloaded), errors.Is(err, caller.ErrBusy):
		return refuse(problem.Overloaded, "Nothing was stored. Repeat the request, with the same key, later.").
			after(retryBusy).because(err)
	case errors.Is(err, outbox.ErrUnavailable), errors.Is(err, context.Canceled), databaseAway(err):
		return refuse(problem.Unavailable, "The database did not answer in time. What was asked may or may not "+
			"have been done: repeat the request as it was, with the same key, which tells and never buys twice.").
			after(retryBusy).because(err)
	default:
		return refuse(problem.Internal, "Repeat the request with the same key; nothing is bought twice.").
			because(err)
	}
}

// databaseAway tells errors that pass by themselves from faults of ours.
func databaseAway(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	var server *pgconn.PgError
	switch {
	case errors.As(err, &server):
		return outbox.Passes(server)
	case errors.As(err, &connect), errors.As(err, &network):
		return true
	default:
		return errors.Is(err, context.DeadlineExceeded) ||
			errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
	}
}
