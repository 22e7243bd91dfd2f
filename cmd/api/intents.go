package main

import (
	"encoding/json/v2"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"waybill/internal/problem"
	"waybill/outbox"
)

// intentBody is a label intent as its caller sees it.
type intentBody struct {
	IntentID       string         `json:"intent_id"`
	State          outbox.State   `json:"state"`
	SettledBy      outbox.Settler `json:"settled_by,omitzero"`
	OrderID        int64          `json:"order_id"`
	ParcelNo       int32          `json:"parcel_no"`
	LabelVersion   int32          `json:"label_version"`
	Carrier        string         `json:"carrier"`
	Reference      string         `json:"reference"`
	Attempts       int            `json:"attempts"`
	Calls          int            `json:"calls"`
	LabelID        string         `json:"label_id,omitzero"`
	CarrierCode    string         `json:"carrier_code,omitzero"`
	CarrierMessage string         `json:"carrier_message,omitzero"`
	CreatedAt      time.Time      `json:"created_at"`
	FinishedAt     *time.Time     `json:"finished_at,omitzero"`

	// Timeline is shown of an intent that is read by itself, not in lists.
	Timeline []eventBody `json:"timeline,omitempty"`
}

// eventBody is one event of an intent's timeline.
type eventBody struct {
	At          time.Time `json:"at"`
	Kind        string    `json:"kind"`
	Outcome     string    `json:"outcome"`
	Reason      string    `json:"reason,omitzero"`
	CarrierCode string    `json:"carrier_code,omitzero"`
}

// intent is GET /v1/intents/{intent_id}.
func (a *api) intent(w http.ResponseWriter, r *request) error {
	id, err := pathID(r, "intent_id")
	if err != nil {
		return err
	}
	found, err := a.outbox.Intent(r.Context(), r.caller.ID, id)
	if err != nil {
		return fmt.Errorf("reading label intent %s: %w", id, err)
	}
	return a.writeIntent(w, r, found)
}

// intentByKey is GET /v1/intents?idempotency_key=…, for a client that lost every answer.
func (a *api) intentByKey(w http.ResponseWriter, r *request) error {
	key, err := parseIdempotencyKey(r.URL.Query()["idempotency_key"])
	if err != nil {
		return err
	}
	found, err := a.outbox.IntentByKey(r.Context(), r.caller.ID, key)
	if err != nil {
		return fmt.Errorf("reading a label intent by key: %w", err)
	}
	return a.writeIntent(w, r, found)
}

func newIntentBody(i outbox.Intent) intentBody {
	body := intentBody{
		IntentID:       i.ID.String(),
		State:          i.State,
		SettledBy:      i.SettledBy,
		OrderID:        i.Parcel.OrderID,
		ParcelNo:       i.Parcel.ParcelNo,
		LabelVersion:   i.Parcel.LabelVersion,
		Carrier:        i.Carrier,
		Reference:      i.Reference,
		Attempts:       i.Attempts,
		Calls:          i.Calls,
		LabelID:        idString(i.LabelID),
		CarrierCode:    i.CarrierCode,
		CarrierMessage: i.CarrierMessage,
		CreatedAt:      i.CreatedAt.UTC(),
	}
	if i.FinishedAt != nil {
		finished := i.FinishedAt.UTC()
		body.FinishedAt = &finished
	}
	return body
}

func (a *api) writeIntent(w http.ResponseWriter, r *request, i outbox.Intent) error {
	events, err := a.outbox.Timeline(r.Context(), r.caller.ID, i.ID)
	if err != nil {
		return fmt.Errorf("reading the timeline of label intent %s: %w", i.ID, err)
	}
	body := newIntentBody(i)
	for _, e := range events {
		body.Timeline = append(body.Timeline, eventBody{
			At: e.At.UTC(), Kind: e.Kind, Outcome: e.Outcome, Reason: e.Reason, CarrierCode: e.CarrierCode,
		})
	}
	switch i.State {
	case outbox.Pending:
		setRetryAfter(w.Header(), retryInProgress)
	case outbox.InDoubt:
		setRetryAfter(w.Header(), retryInDoubt)
	case outbox.Purchased, outbox.Rejected, outbox.Failed:
	}
	return writeJSON(w, http.StatusOK, body)
}

// idString spells an id; the nil id, which names nothing, is left out of answers.
func idString(id uuid.UUID) string {
	if id == uuid.Nil {
		return ""
	}
	return id.String()
}

// pathID reads an id from the path. What is no id names nothing: the same answer as for an id of
// somebody else.
func pathID(r *request, name string) (uuid.UUID, error) {
	text := r.PathValue(name)
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		return uuid.Nil, fmt.Errorf("reading %s: %w", name, outbox.ErrNotFound)
	}
	return id, nil
}

func writeJSON(w http.ResponseWriter, status int, body any) error {
	b, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		return refuse(problem.Internal, "").because(fmt.Errorf("encoding an answer: %w", err))
	}
	writeBody(w, status, b)
	return nil
}
