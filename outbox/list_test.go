package outbox

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// plant inserts a purchased intent and its label as they were at some moment, which a test chooses.
func (b *testBundle) plant(callerID string, orderID int64, parcelNo int, boughtAt time.Time) uuid.UUID {
	b.t.Helper()
	id := uuid.New()
	b.exec(`
		WITH intent AS (
			INSERT INTO label_intents (intent_id, caller_id, idem_key, request_hash, request_id, order_id, parcel_no,
				label_version, carrier, reference, request, state, label_id, created_at, finished_at)
			VALUES ($1, $2, $1::uuid::text, decode(repeat('00', 32), 'hex'), 'r', $3, $4, 1, 'sim',
				upper(replace($1::uuid::text, '-', '')), '{}', 'purchased', $1, $5, $5)
			RETURNING *
		)
		INSERT INTO labels (label_id, intent_id, caller_id, order_id, parcel_no, label_version, carrier, account,
			service, tracking_no, cost_cents, currency, label_format, created_by_key, carrier_key, reference,
			carrier_label_id, learned_by, bought_at)
		SELECT label_id, intent_id, caller_id, order_id, parcel_no, label_version, carrier, 'A-1', 'ground',
			'T' || order_id, 1, 'USD', 'pdf', idem_key, idem_key, reference, reference, 'call', created_at
		FROM intent`, id, callerID, orderID, parcelNo, boughtAt)
	return id
}

// page reads one page of labels.
func (b *testBundle) page(callerID string, f LabelFilter, p Page) (ids []uuid.UUID, more bool) {
	b.t.Helper()
	labels, more, err := b.box.Labels(b.t.Context(), callerID, f, p)
	require.NoError(b.t, err)
	require.LessOrEqual(b.t, len(labels), p.Limit)
	for _, label := range labels {
		ids = append(ids, label.ID)
	}
	return ids, more
}

// TestPagesProperty: however labels are spread over pages and moments, and whatever is bought between
// the pages, each that was there is listed exactly once, and none twice.
func TestPagesProperty(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		callerID := "caller-" + itoa(orders.Add(1))
		order := orders.Add(1)
		parcels := 0
		// Few moments, so that many labels share one; and of few orders.
		plant := func(what string) uuid.UUID {
			parcels++
			at := day.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, what)) * time.Microsecond)
			return b.plant(callerID, order, parcels, at)
		}
		there := map[uuid.UUID]bool{}
		for range rapid.IntRange(0, 12).Draw(t, "labels") {
			there[plant("moment")] = true
		}
		filter := rapid.SampledFrom([]LabelFilter{{}, {OrderID: order}, {From: day, To: day.Add(time.Hour)}, {Carrier: "sim"}, {TrackingNo: "T" + itoa(order)}}).
			Draw(t, "filter")
		page := Page{Limit: rapid.IntRange(1, 5).Draw(t, "limit")}
		listed := map[uuid.UUID]int{}
		for more := true; more; {
			var ids []uuid.UUID
			ids, more = b.page(callerID, filter, page)
			for _, id := range ids {
				listed[id]++
				page.After = id
			}
			if parcels < 30 && rapid.Bool().Draw(t, "another") {
				plant("moment of another")
			}
		}
		for id := range there {
			require.Equal(t, 1, listed[id])
		}
		for _, times := range listed {
			require.Equal(t, 1, times)
		}
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

	t.Run("FiltersByAllThatIsAsked", func(t *testing.T) {
		t.Parallel()
		order := orders.Add(2)
		first := b.plant("filters", order, 2, day)
		second := b.plant("filters", order, 1, day.Add(time.Second))
		voided := b.plant("filters", order-1, 1, day.Add(2*time.Second))
		b.exec(`UPDATE labels SET void_state = 'voided', voided_at = now() WHERE label_id = $1`, voided)
		for _, tt := range []struct {
			filter LabelFilter
			want   []uuid.UUID
		}{
			{LabelFilter{}, []uuid.UUID{first, second, voided}},
			{LabelFilter{OrderID: order}, []uuid.UUID{second, first}}, // by parcel
			{LabelFilter{VoidState: "voided"}, []uuid.UUID{voided}},
			{LabelFilter{VoidState: "none"}, []uuid.UUID{first, second}},
			{LabelFilter{Carrier: "dhl"}, nil},
			{LabelFilter{TrackingNo: "T" + itoa(order)}, []uuid.UUID{first, second}},
			{LabelFilter{From: day.Add(time.Second)}, []uuid.UUID{second, voided}},
			{LabelFilter{To: day.Add(time.Second)}, []uuid.UUID{first}},
			{LabelFilter{OrderID: order, From: day.Add(time.Second), Carrier: "sim"}, []uuid.UUID{second}},
		} {
			ids, more := b.page("filters", tt.filter, Page{Limit: 3})
			require.Equal(t, tt.want, ids, "%+v", tt.filter)
			require.False(t, more)
			ids, _ = b.page("nobody", tt.filter, Page{Limit: 3})
			require.Empty(t, ids)
		}
	})

	t.Run("GoesOnBehindNobodyElsesRow", func(t *testing.T) {
		t.Parallel()
		theirs := b.plant("they", orders.Add(1), 1, day)
		b.plant("we", orders.Add(1), 1, day)
		for _, after := range []uuid.UUID{theirs, uuid.New()} {
			_, _, err := b.box.Labels(t.Context(), "we", LabelFilter{}, Page{After: after, Limit: 1})
			require.ErrorIs(t, err, ErrNoSuchPlace)
			_, _, err = b.box.Intents(t.Context(), "we", IntentFilter{InDoubt: true}, Page{After: after, Limit: 1})
			require.ErrorIs(t, err, ErrNoSuchPlace)
		}
	})

	// An intent that is settled between two pages is no longer in the list, and the list goes on.
	t.Run("OfIntentsInDoubtGoesOnBehindOneThatIsNoMore", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		var ids []uuid.UUID
		for range 5 {
			_, id := b.accepted()
			b.exec(`UPDATE label_intents SET state = 'in_doubt', settled_by = 'person' WHERE intent_id = $1`, id)
			ids = append(ids, id)
		}
		b.accepted()
		intents := func(p Page) (listed []uuid.UUID, more bool) {
			found, more, err := b.box.Intents(t.Context(), "fulfilment", IntentFilter{InDoubt: true}, p)
			require.NoError(t, err)
			for _, i := range found {
				require.Equal(t, InDoubt, i.State)
				listed = append(listed, i.ID)
			}
			return listed, more
		}
		listed, more := intents(Page{Limit: 2})
		require.Equal(t, ids[:2], listed)
		require.True(t, more)
		require.NoError(t, b.box.Settle(t.Context(), Settlement{IntentID: ids[1], Verdict: VerdictGiveUp, Actor: "ops", Why: "asked"}))
		listed, more = intents(Page{Limit: 3, After: ids[1]})
		require.Equal(t, ids[2:], listed)
		require.False(t, more)
	})

	t.Run("OfIntentsIsOfSomething", func(t *testing.T) {
		t.Parallel()
		_, _, err := b.box.Intents(t.Context(), "we", IntentFilter{Carrier: "sim"}, Page{Limit: 1})
		require.ErrorContains(t, err, "of one order, or of those in doubt")
	})
}

// TestListsReadAnIndex: every list has its index, on tables with and without statistics, and the one
// that may be long is read on in its order from where the last page ended, and never sorted.
func TestListsReadAnIndex(t *testing.T) {
	t.Parallel()
	db, ear := overheard(t)
	b := setupOn(t, db, newFakeCarrier(t, keyed))
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	order, after := int64(0), uuid.Nil
	for n := range 40 {
		order = orders.Add(1)
		after = b.plant("fulfilment", order, 1, day.Add(time.Duration(n)*time.Second))
	}
	// A backlog, a few in doubt, a few voided.
	for n := range 60 {
		if _, id := b.accepted(); n%10 == 0 {
			b.exec(`UPDATE label_intents SET state = 'in_doubt', settled_by = 'person' WHERE intent_id = $1`, id)
		}
	}
	b.exec(`UPDATE labels SET void_state = 'voided', voided_at = now() WHERE order_id % 10 = 0`)
	lists := map[string]func(Page) error{
		"labels_listed": func(p Page) error {
			_, _, err := b.box.Labels(t.Context(), "fulfilment", LabelFilter{From: day, Carrier: "sim"}, p)
			return err
		},
		"labels_parcel": func(p Page) error {
			_, _, err := b.box.Labels(t.Context(), "fulfilment", LabelFilter{OrderID: order}, p)
			return err
		},
		"labels_listed_by_tracking": func(p Page) error {
			_, _, err := b.box.Labels(t.Context(), "fulfilment", LabelFilter{TrackingNo: "T" + itoa(order)}, p)
			return err
		},
		"labels_listed_by_void": func(p Page) error {
			_, _, err := b.box.Labels(t.Context(), "fulfilment", LabelFilter{VoidState: "voided"}, p)
			return err
		},
		"label_intents_in_doubt": func(p Page) error {
			_, _, err := b.box.Intents(t.Context(), "fulfilment", IntentFilter{InDoubt: true}, p)
			return err
		},
		"label_intents_parcel": func(p Page) error {
			_, _, err := b.box.Intents(t.Context(), "fulfilment", IntentFilter{OrderID: order}, p)
			return err
		},
	}
	for _, known := range []bool{false, true} {
		if known {
			b.exec(`ANALYZE labels, label_intents`)
		}
		for index, list := range lists {
			for _, p := range []Page{{Limit: 10}, {Limit: 10, After: after}} {
				before := len(ear.heard())
				require.NoError(t, list(p))
				explained := 0
				for _, s := range ear.heard()[before:] {
					if !strings.Contains(s.sql, "ORDER BY") {
						continue
					}
					explained++
					plan := b.explain(s)
					require.Contains(t, plan, index+" ", "statistics: %v\n%s\n%s", known, s.sql, plan)
					require.NotContains(t, plan, "Seq Scan")
					if index == "labels_listed" {
						require.NotContains(t, plan, "Sort", "statistics: %v\n%s\n%s", known, s.sql, plan)
					}
				}
				require.Equal(t, 1, explained)
			}
		}
	}
}
