package main

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	"waybill/internal/problem"
	"waybill/outbox"
)

// What a caller may write on a label, in characters; the database holds to the same.
const (
	maxNote            = 500
	maxCustomReference = 64
)

// holdRequest is the body of PUT /v1/labels/{label_id}/hold: the whole of it, each time.
type holdRequest struct {
	On *bool `json:"on"`

	Unknown jsontext.Value `json:",embed"`
}

func (r *holdRequest) addUnknown(found *faults) { addUnknown(found, "", r.Unknown) }

func (r *holdRequest) validate(found *faults) {
	if r.On == nil {
		found.add("/on", "is required")
	}
}

func (r *holdRequest) change() outbox.Change { return outbox.Change{Held: r.On} }

// patchRequest is the body of PATCH /v1/labels/{label_id}: the new values of the members it has.
type patchRequest struct {
	Note            *string `json:"note"`
	CustomReference *string `json:"custom_reference"`
	WeightG         *int64  `json:"weight_g"`

	Unknown jsontext.Value `json:",embed"`
}

func (r *patchRequest) addUnknown(found *faults) { addUnknown(found, "", r.Unknown) }

func (r *patchRequest) validate(found *faults) {
	if r.change() == (outbox.Change{}) {
		found.add("", "must have one of note, custom_reference and weight_g, with its new value")
	}
	optionalText(found, "/note", r.Note, maxNote)
	optionalText(found, "/custom_reference", r.CustomReference, maxCustomReference)
	optionalInt(found, "/weight_g", r.WeightG, maxWeightG)
}

func (r *patchRequest) change() outbox.Change {
	return outbox.Change{Note: r.Note, CustomReference: r.CustomReference, WeightG: r.WeightG}
}

func optionalText(found *faults, at string, text *string, most int) {
	if utf8.RuneCountInString(value(text)) > most {
		found.add(at, fmt.Sprintf("must be at most %d characters", most))
	}
}

// holdLabel is PUT /v1/labels/{label_id}/hold. What it writes does not depend on what was there, so it
// needs no If-Match; one that is sent counts.
func (a *api) holdLabel(w http.ResponseWriter, r *request) error {
	return a.revise(w, r, optional, &holdRequest{})
}

// patchLabel is PATCH /v1/labels/{label_id}: what may change after buying, of the revision that the
// client has read.
func (a *api) patchLabel(w http.ResponseWriter, r *request) error {
	return a.revise(w, r, required, &patchRequest{})
}

// voidLabel is DELETE /v1/labels/{label_id}: the carrier is asked to void the label, by a job. The answer is
// 202 while it is being asked, and 200 once it has answered; the label stays, and says what came of it.
func (a *api) voidLabel(w http.ResponseWriter, r *request) error {
	return a.change(w, r, optional, func() (outbox.Change, error) { return outbox.Change{Void: true}, nil })
}

// changeBody is a body that asks for a change of a label.
type changeBody interface {
	wireBody
	validate(found *faults)
	change() outbox.Change
}

// revise carries out the change that the body asks for.
func (a *api) revise(w http.ResponseWriter, r *request, condition readCondition, body changeBody) error {
	return a.change(w, r, condition, func() (outbox.Change, error) {
		err := a.readChange(w, r, body)
		return body.change(), err
	})
}

// readCondition reads the revisions of which a request wants its change made.
type readCondition func(http.Header) (outbox.Condition, error)

// change carries out a change and answers with the label as it then is. A repeat finds nothing to
// change, and is answered alike.
func (a *api) change(
	w http.ResponseWriter, r *request, condition readCondition, read func() (outbox.Change, error),
) error {
	if err := a.limits.take(r.caller.ID); err != nil {
		return err
	}
	id, err := pathID(r, "label_id")
	if err != nil {
		return err
	}
	if len(r.Header.Values("If-None-Match")) > 0 {
		return refuse(problem.InvalidRequest, "If-None-Match is for reading; a change may rest on If-Match.")
	}
	when, err := condition(r.Header)
	if err != nil {
		return err
	}
	wanted, err := read()
	if err != nil {
		return err
	}
	label, err := a.outbox.Revise(r.Context(), r.caller.ID, id, wanted, when)
	if errors.Is(err, outbox.ErrRevised) {
		w.Header().Set("ETag", etag(label.Revision))
		return refuse(problem.PreconditionFailed, fmt.Sprintf(
			"The label is at revision %s. Read it again, and send its ETag with the change. Nothing was changed.",
			etag(label.Revision)))
	}
	if err != nil {
		return fmt.Errorf("changing label %s: %w", id, err)
	}
	w.Header().Set("ETag", etag(label.Revision))
	status := http.StatusOK
	if wanted.Void && label.VoidState == outbox.VoidRequested {
		status = http.StatusAccepted
	}
	writeBody(w, status, label.EncodeCurrent())
	return nil
}

func (a *api) readChange(w http.ResponseWriter, r *request, into changeBody) error {
	if err := checkMediaType(r.Header); err != nil {
		return err
	}
	body, err := a.readBody(w, r)
	if err != nil {
		return err
	}
	found, err := decodeStrict(body, into)
	if err != nil {
		return err
	}
	into.validate(&found)
	if len(found) > 0 {
		refused := refuse(problem.InvalidRequest, "Correct the members named in errors; nothing was changed.")
		refused.document.Errors = found
		return refused
	}
	return nil
}
