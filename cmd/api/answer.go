package main

import (
	"fmt"
	"net/http"
	"strconv"

	"waybill/internal/problem"
	"waybill/outbox"
)

// writeAnswer writes what a submission is told. A saved answer that is not the first one written is
// marked as a replay; its bytes are those of the first.
func writeAnswer(w http.ResponseWriter, s outbox.Submission, answer outbox.Answer, replayed bool) error {
	switch answer.Kind {
	case outbox.Accepted:
		return writeAccepted(w, s, answer)
	case outbox.Final:
		if replayed {
			w.Header().Set("Idempotent-Replayed", "true")
		}
		if answer.Status == http.StatusCreated {
			w.Header().Set("Location", labelsPath+"/"+answer.LabelID.String())
			// Of the label as the body shows it, whatever has become of it: a repeat bears the same.
			w.Header().Set("ETag", etag(outbox.FirstRevision))
		}
		writeBody(w, answer.Status, answer.Body)
		return nil
	case outbox.InProgress:
		return ofIntent(answer, refuse(problem.RequestInProgress,
			"Repeat the request with the same key later, or follow the intent.").after(retryInProgress))
	case outbox.Doubtful:
		return ofIntent(answer, refuse(problem.PurchaseInDoubt,
			"The carrier may or may not have sold the label; it is being found out. Repeat the request "+
				"with the same key later, and never send another key for this parcel.").after(retryInDoubt))
	case outbox.KeyReused:
		return ofIntent(answer, refuse(problem.IdempotencyKeyReused,
			"The key names another request, and does so for ever: keys are never free again. Use a new "+
				"key for a new intent; nothing was stored."))
	case outbox.ParcelLabelled:
		return ofIntent(answer, refuse(problem.ParcelAlreadyLabelled,
			"A label for this order, parcel and version was already ordered. Raise label_version to "+
				"buy another one."))
	case outbox.NoSuchKey:
	}
	return fmt.Errorf("no answer for %q", answer.Kind)
}

// ofIntent names the intent a refusal is about, where that may be told.
func ofIntent(answer outbox.Answer, refused *refusal) error {
	refused.document.IntentID = idString(answer.IntentID)
	return refused
}

// acceptedBody is the answer to a new intent.
type acceptedBody struct {
	IntentID     string       `json:"intent_id"`
	State        outbox.State `json:"state"`
	OrderID      int64        `json:"order_id"`
	ParcelNo     int32        `json:"parcel_no"`
	LabelVersion int32        `json:"label_version"`
	Carrier      string       `json:"carrier"`
}

func writeAccepted(w http.ResponseWriter, s outbox.Submission, answer outbox.Answer) error {
	w.Header().Set("Location", intentsPath+"/"+answer.IntentID.String())
	w.Header().Set("Retry-After", strconv.Itoa(int(retryInProgress.Seconds())))
	return writeJSON(w, http.StatusAccepted, acceptedBody{
		IntentID:     answer.IntentID.String(),
		State:        outbox.Pending,
		OrderID:      s.Parcel.OrderID,
		ParcelNo:     s.Parcel.ParcelNo,
		LabelVersion: s.Parcel.LabelVersion,
		Carrier:      s.Carrier,
	})
}
