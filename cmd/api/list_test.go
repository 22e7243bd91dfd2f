package main

import (
	"encoding/json/v2"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"waybill/caller"
	"waybill/internal/problem"
)

// listed is a page of a list.
type listed struct {
	Labels []struct {
		ID uuid.UUID `json:"label_id"`
	} `json:"labels"`
	Intents []struct {
		ID    uuid.UUID `json:"intent_id"`
		State string    `json:"state"`
	} `json:"intents"`
	Next string `json:"next_cursor"`
}

func (a answer) listed(t *testing.T) listed {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	var page listed
	require.NoError(t, json.Unmarshal([]byte(a.body), &page))
	return page
}

func TestListLabels(t *testing.T) {
	t.Parallel()
	b := setup(t)
	reader := as(b.newKey(t, "lister", caller.LabelsRead, caller.LabelsWrite))
	var ids []uuid.UUID
	for range 5 {
		_, id := b.purchase(t, b.accepted(t, b.order(), reader), "")
		ids = append(ids, id)
	}

	t.Run("PageByPage", func(t *testing.T) {
		t.Parallel()
		for _, filter := range []string{"", "&carrier=sim", "&state=none&created_from=2000-01-01T00:00:00Z"} {
			var found []uuid.UUID
			path, pages := labelsPath+"?limit=2"+filter, 0
			for cursor := ""; pages == 0 || cursor != ""; pages++ {
				page := b.get(t, path+map[bool]string{true: "&cursor="}[cursor != ""]+cursor, reader).listed(t)
				for _, label := range page.Labels {
					found = append(found, label.ID)
				}
				cursor = page.Next
			}
			require.Equal(t, ids, found)
			require.Equal(t, 3, pages)
		}
		require.Len(t, b.get(t, labelsPath, reader).listed(t).Labels, 5)
		require.Len(t, b.get(t, labelsPath+"?limit=5", reader).listed(t).Labels, 5)
		require.Empty(t, b.get(t, labelsPath+"?limit=5", reader).listed(t).Next)
	})

	t.Run("ShowsEachAsItIsAlone", func(t *testing.T) {
		t.Parallel()
		alone := b.get(t, labelsPath+"/"+ids[0].String(), reader).body
		require.Contains(t, b.get(t, labelsPath+"?tracking_no=SIM"+ids[0].String(), reader).body, `{"labels":[`+alone+`]}`)
		require.Empty(t, b.get(t, labelsPath+"?state=voided", reader).listed(t).Labels)
		require.Empty(t, b.get(t, labelsPath+"?created_to=2000-01-01T00:00:00Z", reader).listed(t).Labels)
		require.Empty(t, b.get(t, labelsPath, as(b.newKey(t, "newcomer", caller.LabelsRead))).listed(t).Labels)
	})

	t.Run("ACursorIsOfOneListAndOneCaller", func(t *testing.T) {
		t.Parallel()
		next := b.get(t, labelsPath+"?limit=2", reader).listed(t).Next
		require.NotContains(t, next, "=")
		made := cursor{after: uuid.New(), list: newListID("=labels")}.String()
		for _, query := range []string{
			"?limit=2&carrier=sim&cursor=" + next, "?cursor=" + next[1:], "?cursor=" + next + "A", "?cursor=" + made,
			"?cursor=" + strings.ToUpper(next), "?cursor=" + next[:len(next)-1] + "%21", "?cursor=%00", "?cursor=x",
		} {
			require.Contains(t, b.get(t, labelsPath+query, reader).requireProblem(t, problem.InvalidRequest).Detail, "cursor")
		}
		b.get(t, intentsPath+"?state=in_doubt&cursor="+next, reader).requireProblem(t, problem.InvalidRequest)
		// The same place in the same list of another caller is no place of theirs.
		b.get(t, labelsPath+"?limit=2&cursor="+next, as(b.other)).requireProblem(t, problem.InvalidRequest)
		require.Len(t, b.get(t, labelsPath+"?limit=4&cursor="+next, reader).listed(t).Labels, 3)
	})

	t.Run("RefusesWhatItDoesNotUnderstand", func(t *testing.T) {
		t.Parallel()
		for _, query := range []string{
			"?void_state=none", "?state=purchased", "?state=", "?limit=0", "?limit=501", "?limit=-1", "?limit=1e2", "?limit=1&limit=1",
			"?created_from=yesterday", "?created_from=2026-03-01", "?created_to=1969-12-31T23:59:59Z", "?carrier=" + strings.Repeat("x", 65),
			"?carrier=%00", "?carrier=%ff", "?tracking_no=" + strings.Repeat("1", 101), "?order_id=0", "?State=none", "?order_id=1;limit=1", "?%zz",
			"?idempotency_key=k", "?created_from=0001-01-01T00:00:00Z",
		} {
			b.get(t, labelsPath+query, reader).requireProblem(t, problem.InvalidRequest)
		}
		for _, query := range []string{"?limit=500", "?carrier=nobody", "?tracking_no=" + url.QueryEscape("É 1"), "?created_from=9999-12-31T23:59:59Z"} {
			b.get(t, labelsPath+query, reader).listed(t)
		}
	})
}

func TestListIntents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var ids []uuid.UUID
	o := b.order()
	for n := range 3 {
		parcel := order{o.id, strings.Replace(o.body, `"parcel_no": 1`, fmt.Sprintf(`"parcel_no": %d`, n+1), 1), fmt.Sprint(o.key, n)}
		id := b.accepted(t, parcel)
		b.doubt(t, id)
		ids = append(ids, id)
	}
	b.accepted(t, b.order())

	page := b.get(t, intentsPath+"?state=in_doubt&limit=2").listed(t)
	require.Len(t, page.Intents, 2)
	rest := b.get(t, intentsPath+"?state=in_doubt&limit=2&cursor="+page.Next).listed(t)
	require.Equal(t, ids[2], rest.Intents[0].ID)
	require.Empty(t, rest.Next)
	ofOrder := b.get(t, intentsPath+"?order_id="+strconv.FormatInt(o.id, 10)).listed(t)
	require.Len(t, ofOrder.Intents, 3)
	require.Equal(t, ids[0], ofOrder.Intents[0].ID)
	require.Empty(t, b.get(t, intentsPath+"?state=in_doubt", as(b.other)).listed(t).Intents)
	require.Equal(t, `{"intents":[]}`, b.get(t, intentsPath+"?state=in_doubt&carrier=dhl").body)

	for _, query := range []string{
		"?state=pending", "?limit=1", "?state=in_doubt&tracking_no=1", "?cursor=x&state=in_doubt", "?state=in_doubt&created_to=now",
		"?state=in_doubt&state=in_doubt", "?order_id=0",
	} {
		b.get(t, intentsPath+query).requireProblem(t, problem.InvalidRequest)
	}
}
