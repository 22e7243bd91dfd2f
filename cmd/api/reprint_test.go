package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/internal/problem"
	"waybill/outbox"
)

// reprint is the next version of an order's label.
func (o order) reprint() order {
	return order{id: o.id, body: strings.Replace(o.body, `"label_version": 1`, `"label_version": 2`, 1), key: strings.Replace(o.key, ":v1", ":v2", 1)}
}

func TestReprint(t *testing.T) {
	t.Parallel()
	b := setup(t)

	t.Run("WaitsForTheEndOfTheVersionBefore", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		again := o.reprint()
		b.post(t, again).requireProblem(t, problem.LabelVersionConflict)
		id := b.accepted(t, o)
		b.post(t, again).requireProblem(t, problem.LabelVersionConflict)
		b.doubt(t, id)
		b.post(t, again).requireProblem(t, problem.LabelVersionConflict)
		intents, jobs := b.stored(t, o)
		require.Equal(t, []int{1, 1}, []int{intents, jobs}, "a refusal has no effect")
	})

	t.Run("OfWhatWasBoughtIsAnIntentOfItsOwn", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		first := b.accepted(t, o)
		b.purchase(t, first, "")
		require.NotEqual(t, first, b.accepted(t, o.reprint()))
		intents, _ := b.stored(t, o)
		require.Equal(t, 2, intents)
	})

	t.Run("OfWhatFailedIsFree", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		b.end(t, b.accepted(t, o), outbox.Failed, problem.CarrierUnavailable)
		b.accepted(t, o.reprint())
	})

	t.Run("OfAnotherCallersParcelSaysNothing", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		b.purchase(t, b.accepted(t, o), "")
		got := b.post(t, o.reprint(), as(b.other))
		require.Empty(t, got.requireProblem(t, problem.LabelVersionConflict).IntentID)
	})

	// A key that was taken before there was this rule keeps its answer.
	t.Run("ThatWasOrderedKeepsItsAnswer", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		b.purchase(t, b.accepted(t, o), "")
		again := o.reprint()
		id := b.accepted(t, again)
		saved, _ := b.purchase(t, id, "")
		_, err := b.pool.Exec(t.Context(), `
			UPDATE label_intents SET label_version = 7 WHERE order_id = $1 AND label_version = 1`, o.id)
		require.NoError(t, err)
		got := b.post(t, again)
		require.Equal(t, http.StatusCreated, got.status, got.body)
		require.Equal(t, saved, got.body)
	})
}
