package outbox

import (
	"encoding/json/v2"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"waybill/internal/problem"
)

// savedAnswer is the answer that a final intent's key stands for: status and exact bytes. It depends
// on nothing that can change later, so that it can be made again after the key was purged.
func savedAnswer(
	state State, intentID uuid.UUID, requestID, carrierCode, carrierMessage string, label *Label,
) (int, []byte) {
	var doc problem.Document
	switch state {
	case Purchased:
		return http.StatusCreated, label.Encode()
	case Rejected:
		doc = problem.New(problem.CarrierRejected,
			"The carrier refused the shipment for good; nothing was bought. Correct it and order it as "+
				"a new label_version with a new key.")
	case Failed:
		doc = problem.New(problem.CarrierUnavailable,
			"The carrier could not be reached in any of the attempts, and nothing was bought. Order it "+
				"again as a new label_version with a new key.")
	case Pending, InDoubt:
		panic(fmt.Sprintf("outbox: label intent %s is %s and has no answer yet", intentID, state))
	}
	doc.Instance = requestID
	doc.IntentID = intentID.String()
	doc.CarrierCode = carrierCode
	doc.CarrierMessage = carrierMessage
	return doc.Status, doc.Encode()
}

// Label is what was bought, as its caller may see it.
type Label struct {
	ID         uuid.UUID
	IntentID   uuid.UUID
	Parcel     Parcel
	Carrier    string
	Account    string
	Service    string
	TrackingNo string
	CostCents  int64
	Currency   string
	Format     string
	BoughtAt   time.Time

	// What follows changes after the purchase and is therefore no part of the saved answer.
	VoidState string

	// VoidCode and VoidMessage are what the carrier said of the void; empty before it has.
	VoidCode    string
	VoidMessage string

	Held            bool
	Note            string
	CustomReference string

	// WeightG is what the caller has declared since; 0: nothing but what was ordered.
	WeightG int64

	// Revision is 1 when the label is bought, and raised with every change of what it shows. It is 0
	// where it was not read.
	Revision int64
}

// FirstRevision is that of a label as it was bought, which the saved answer shows.
const FirstRevision = 1

// labelBody fixes the members and their order. Members that can change after the purchase come last
// and are left out of the saved answer.
type labelBody struct {
	LabelID      uuid.UUID `json:"label_id"`
	IntentID     uuid.UUID `json:"intent_id"`
	State        State     `json:"state"`
	OrderID      int64     `json:"order_id"`
	ParcelNo     int32     `json:"parcel_no"`
	LabelVersion int32     `json:"label_version"`
	Carrier      string    `json:"carrier"`
	Account      string    `json:"account"`
	Service      string    `json:"service"`
	TrackingNo   string    `json:"tracking_no"`
	CostCents    int64     `json:"cost_cents"`
	Currency     string    `json:"currency"`
	LabelFormat  string    `json:"label_format"`
	Document     string    `json:"document"`
	BoughtAt     time.Time `json:"bought_at"`

	Changeable *changeable `json:",embed"`
}

// changeable are the members that are left out of the saved answer.
type changeable struct {
	VoidState       string `json:"void_state"`
	VoidCode        string `json:"void_code,omitzero"`
	VoidMessage     string `json:"void_message,omitzero"`
	Held            bool   `json:"held"`
	Note            string `json:"note,omitzero"`
	CustomReference string `json:"custom_reference,omitzero"`
	WeightG         int64  `json:"weight_g,omitzero"`
	Revision        int64  `json:"revision"`
}

func (l *Label) body() labelBody {
	return labelBody{
		LabelID:      l.ID,
		IntentID:     l.IntentID,
		State:        Purchased,
		OrderID:      l.Parcel.OrderID,
		ParcelNo:     l.Parcel.ParcelNo,
		LabelVersion: l.Parcel.LabelVersion,
		Carrier:      l.Carrier,
		Account:      l.Account,
		Service:      l.Service,
		TrackingNo:   l.TrackingNo,
		CostCents:    l.CostCents,
		Currency:     l.Currency,
		LabelFormat:  l.Format,
		Document:     "/v1/labels/" + l.ID.String() + "/document",
		BoughtAt:     dbTime(l.BoughtAt),
	}
}

// Encode is the body of the 201 that the purchase was and will be answered with.
func (l *Label) Encode() []byte { return encodeBody(l.body()) }

// EncodeCurrent is Encode with what may have changed since.
func (l *Label) EncodeCurrent() []byte {
	body := l.body()
	body.Changeable = &changeable{
		VoidState:       l.VoidState,
		VoidCode:        l.VoidCode,
		VoidMessage:     l.VoidMessage,
		Held:            l.Held,
		Note:            l.Note,
		CustomReference: l.CustomReference,
		WeightG:         l.WeightG,
		Revision:        l.Revision,
	}
	return encodeBody(body)
}

func encodeBody(body labelBody) []byte {
	b, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("outbox: encoding label %s: %v", body.LabelID, err)) // plain values only
	}
	return b
}

// dbTime is a time as every answer spells it: UTC, microseconds, as Postgres keeps it.
func dbTime(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// labelColumns are what never changes of a label l, which may be an outer join's empty side: then label_id
// is the nil UUID.
const labelColumns = `
	coalesce(l.label_id, '00000000-0000-0000-0000-000000000000'),
	coalesce(l.intent_id, '00000000-0000-0000-0000-000000000000'),
	coalesce(l.order_id, 0), coalesce(l.parcel_no, 0), coalesce(l.label_version, 0),
	coalesce(l.carrier, ''), coalesce(l.account, ''), coalesce(l.service, ''),
	coalesce(l.tracking_no, ''), coalesce(l.cost_cents, 0), coalesce(l.currency, ''),
	coalesce(l.label_format, ''), coalesce(l.bought_at, 'epoch')`

// targets are where labelColumns are scanned to.
func (l *Label) targets() []any {
	return []any{
		&l.ID, &l.IntentID, &l.Parcel.OrderID, &l.Parcel.ParcelNo, &l.Parcel.LabelVersion,
		&l.Carrier, &l.Account, &l.Service, &l.TrackingNo, &l.CostCents, &l.Currency,
		&l.Format, &l.BoughtAt,
	}
}

// currentColumns are labelColumns and what may have changed since the purchase, of a label l that is
// there.
const currentColumns = labelColumns + `,
	l.void_state, l.void_code, l.void_message, l.held, l.note, l.custom_reference, coalesce(l.weight_g, 0), l.revision`

// currentTargets are where currentColumns are scanned to.
func (l *Label) currentTargets() []any {
	return append(l.targets(),
		&l.VoidState, &l.VoidCode, &l.VoidMessage, &l.Held, &l.Note, &l.CustomReference, &l.WeightG, &l.Revision)
}
