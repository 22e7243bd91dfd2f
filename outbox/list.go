package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Lists are read page by page, oldest first, each page from where the last one ended: what was there
// when the first page was read is in the list exactly once, and what came since at most once. Labels of
// one order come by parcel and version.

// ErrNoSuchPlace means that a list is to go on behind a row that is not there, or is another caller's.
var ErrNoSuchPlace = errors.New("no such place in the list")

// LabelFilter says which of a caller's labels to list; zero values ask for all.
type LabelFilter struct {
	OrderID    int64
	VoidState  string
	Carrier    string
	TrackingNo string

	// From and To bound when the label was bought: at From or later, and before To.
	From, To time.Time
}

// IntentFilter says which of a caller's intents to list: those in doubt, or those of one order, or
// both. One of the two must be given; nothing else has an index, on purpose, because every order pays
// for it.
type IntentFilter struct {
	OrderID int64
	InDoubt bool
	Carrier string

	// From and To bound when the intent was accepted: at From or later, and before To.
	From, To time.Time
}

// Page is a part of a list.
type Page struct {
	// After is the last row of the page before; the zero id begins the list.
	After uuid.UUID

	// Limit is how many rows the page has at most.
	Limit int
}

// Labels returns a page of the caller's labels, and whether there are more behind it.
func (o *Outbox) Labels(ctx context.Context, callerID string, f LabelFilter, page Page) ([]Label, bool, error) {
	l := listing{table: "labels AS l", id: "label_id", at: "bought_at"}
	l.where("caller_id = ?", callerID)
	if f.OrderID != 0 {
		l.where("order_id = ?", f.OrderID)
		l.byParcel = true
	}
	if f.VoidState != "" {
		l.where("void_state = ?", f.VoidState)
	}
	if f.VoidState != "" && f.VoidState != "none" {
		l.where("void_state <> 'none'") // in the words of the index
	}
	if f.Carrier != "" {
		l.where("carrier = ?", f.Carrier)
	}
	if f.TrackingNo != "" {
		l.where("tracking_no = ?", f.TrackingNo)
	}
	l.between(f.From, f.To)
	return listed(ctx, o, l, page, currentColumns, func(row pgx.CollectableRow) (Label, error) {
		var label Label
		err := row.Scan(label.currentTargets()...)
		return label, err
	})
}

// Intents returns a page of the caller's intents, and whether there are more behind it.
func (o *Outbox) Intents(ctx context.Context, callerID string, f IntentFilter, page Page) ([]Intent, bool, error) {
	if f.OrderID == 0 && !f.InDoubt {
		return nil, false, errors.New("a list of intents is of one order, or of those in doubt")
	}
	l := listing{table: "label_intents AS i", id: "intent_id", at: "created_at"}
	l.where("caller_id = ?", callerID)
	if f.OrderID != 0 {
		l.where("order_id = ?", f.OrderID)
		l.byParcel = true
	}
	if f.InDoubt {
		// It says the same, by a constraint, and only the index over those in doubt answers to it: another
		// one holds the whole backlog too.
		l.where("settled_by IS NOT NULL")
	}
	if f.Carrier != "" {
		l.where("carrier = ?", f.Carrier)
	}
	l.between(f.From, f.To)
	return listed(ctx, o, l, page, intentColumns, func(row pgx.CollectableRow) (Intent, error) {
		var i Intent
		err := row.Scan(i.targets()...)
		return i, err
	})
}

// listing is a list being asked for.
type listing struct {
	table, id, at string
	byParcel      bool
	conditions    []string
	args          []any
}

// where adds a condition; question marks stand for the values, in their order.
func (l *listing) where(condition string, values ...any) {
	for _, v := range values {
		l.args = append(l.args, v)
		condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(l.args)), 1)
	}
	l.conditions = append(l.conditions, condition)
}

func (l *listing) between(from, to time.Time) {
	if !from.IsZero() {
		l.where(l.at+" >= ?", from)
	}
	if !to.IsZero() {
		l.where(l.at+" < ?", to)
	}
}

// order is what the list is sorted by: unique in the list, and never changed.
func (l *listing) order() string {
	if l.byParcel {
		return "parcel_no, label_version"
	}
	return l.at + ", " + l.id
}

// behind lets the list go on after a row: its place is read, so that the statement which reads the page
// begins there in the index.
func (l *listing) behind(ctx context.Context, o *Outbox, callerID any, id uuid.UUID) error {
	var at time.Time
	var parcelNo, version int32
	err := o.db.QueryRow(ctx, `
		SELECT `+l.at+`, parcel_no, label_version FROM `+l.table+`
		WHERE caller_id = $1 AND `+l.id+` = $2`, callerID, id).Scan(&at, &parcelNo, &version)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNoSuchPlace
	case err != nil:
		return readError("place in a list", err)
	case l.byParcel:
		l.where("("+l.order()+") > (?, ?)", parcelNo, version)
	default:
		l.where("("+l.order()+") > (?, ?)", at, id)
	}
	return nil
}

// listed reads a page, and one row more, to know whether there is one.
func listed[T any](
	ctx context.Context, o *Outbox, l listing, page Page, columns string, scan pgx.RowToFunc[T],
) ([]T, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if page.After != uuid.Nil {
		if err := l.behind(ctx, o, l.args[0], page.After); err != nil {
			return nil, false, err
		}
	}
	l.args = append(l.args, page.Limit+1)
	rows, err := o.db.Query(ctx, fmt.Sprintf(`
		SELECT %s
		FROM %s
		WHERE %s
		ORDER BY %s
		LIMIT $%d`, columns, l.table, strings.Join(l.conditions, " AND "), l.order(), len(l.args)), l.args...)
	if err != nil {
		return nil, false, readError("list", err)
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, false, readError("list", err)
	}
	more := len(found) > page.Limit
	return found[:min(len(found), page.Limit)], more, nil
}
