package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"waybill/internal/problem"
	"waybill/outbox"
)

// submit is POST /v1/labels: it orders one label, once, however often it is called.
func (a *api) submit(w http.ResponseWriter, r *request) error {
	if err := a.limits.take(r.caller.ID); err != nil {
		return err
	}
	if a.outbox.Full(r.caller.ID) {
		return outbox.ErrOverloaded // before anything is read or checked that would be for nothing
	}
	key, err := idempotencyKey(r.Header)
	if err != nil {
		return err
	}
	if err := checkMediaType(r.Header); err != nil {
		return err
	}
	submission, fingerprint, err := a.readSubmission(w, r, key)
	if err != nil {
		return a.answerOfKnownKey(w, r, key, fingerprint, err)
	}
	if err := a.mayOrder(r, submission); err != nil {
		return a.answerOfKnownKey(w, r, key, fingerprint, err)
	}
	started := a.now()
	answer, err := a.outbox.Accept(r.Context(), submission)
	if err != nil {
		return fmt.Errorf("accepting: %w", err)
	}
	a.metrics.accept.Observe(a.now().Sub(started).Seconds())
	return a.answer(w, r, submission, answer)
}

// mayOrder refuses a reprint of what is not known to have an end.
func (a *api) mayOrder(r *request, s outbox.Submission) error {
	err := a.outbox.MayOrder(r.Context(), r.caller.ID, s.Parcel)
	if errors.Is(err, outbox.ErrVersionConflict) {
		return refuse(problem.LabelVersionConflict, fmt.Sprintf(
			"Version %d of this parcel's label was not ordered, or is under way, or in doubt. Repeat its own request until it "+
				"is answered, and then order version %d. Nothing was stored.", s.Parcel.LabelVersion-1, s.Parcel.LabelVersion))
	}
	return err
}

// readSubmission reads, decodes and validates. With an error comes the fingerprint, if the body is
// at least a request that may have been valid under other rules.
func (a *api) readSubmission(w http.ResponseWriter, r *request, key string) (
	submission outbox.Submission, fingerprint *[32]byte, err error,
) {
	body, err := a.readBody(w, r)
	if err != nil {
		return outbox.Submission{}, nil, err
	}
	var wire labelRequest
	found, err := decodeStrict(body, &wire)
	if err != nil {
		return outbox.Submission{}, nil, err
	}
	hash := wire.fingerprint()
	if len(found) == 0 {
		fingerprint = &hash
	}
	wire.validate(&found, a.carriers)
	if len(found) > 0 {
		refused := refuse(problem.InvalidRequest, "Correct the members named in errors; nothing was stored.")
		refused.document.Errors = found
		return outbox.Submission{}, fingerprint, refused
	}
	return outbox.Submission{
		CallerID:    r.caller.ID,
		Key:         key,
		Fingerprint: hash,
		RequestID:   r.id,
		Parcel:      wire.parcel(),
		Carrier:     valueOr(wire.Carrier, a.carriers.DefaultCarrier),
		Shipment:    wire.shipment(a.carriers.DefaultShipFrom),
	}, fingerprint, nil
}

// answerOfKnownKey looks a refused request up by its key before it is refused: a repeat of what was
// accepted under older rules gets its answer, and another body under a known key hears that first.
// What says nothing about the body (it came too slowly) is refused as it is.
func (a *api) answerOfKnownKey(
	w http.ResponseWriter, r *request, key string, fingerprint *[32]byte, cause error,
) error {
	var refused *refusal
	if !errors.As(cause, &refused) {
		return cause
	}
	switch refused.document.Code {
	case problem.MalformedJSON, problem.InvalidRequest, problem.BodyTooLarge, problem.LabelVersionConflict:
	default:
		return cause
	}
	answer, err := a.outbox.Lookup(r.Context(), r.caller.ID, key, fingerprint)
	switch {
	case err != nil:
		return fmt.Errorf("looking up a refused request: %w", err)
	case answer.Kind == outbox.NoSuchKey:
		return cause
	}
	return a.answer(w, r, outbox.Submission{}, answer)
}

// answer waits, if the client asked for it and there is something to wait for, and writes.
func (a *api) answer(w http.ResponseWriter, r *request, s outbox.Submission, answer outbox.Answer) error {
	r.intent = answer.IntentID
	replayed := answer.Kind != outbox.Accepted
	if wait, ok := preferredWait(r.Header); ok && a.waiting.take() {
		defer a.waiting.leave()
		w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(wait))
		switch answer.Kind {
		case outbox.Accepted, outbox.InProgress, outbox.Doubtful:
			answer = a.wait(r.Context(), wait, answer)
		case outbox.Final, outbox.KeyReused, outbox.ParcelLabelled, outbox.NoSuchKey:
		}
	}
	if err := r.Context().Err(); err != nil {
		return fmt.Errorf("client is gone: %w", err)
	}
	return writeAnswer(w, s, answer, replayed)
}

// wait returns what became of the intent, or the same answer again if nothing did in time. It ends
// early when the process stops. Whatever keeps it from knowing is no error for the client: the
// intent is accepted, and the answer says so.
func (a *api) wait(ctx context.Context, n int, answer outbox.Answer) outbox.Answer {
	if n == 0 {
		return answer
	}
	waiting, cancel := context.WithTimeout(ctx, time.Duration(n)*time.Second)
	defer cancel()
	defer context.AfterFunc(a.stopping, cancel)()
	later, err := a.outbox.Wait(waiting, answer.IntentID)
	switch {
	case err != nil && waiting.Err() == nil:
		a.logger.Warn("wait ended early", zap.Stringer("intent_id", answer.IntentID), zap.Error(err))
		return answer
	case err != nil, later.Kind == outbox.InProgress:
		return answer
	}
	return later
}
