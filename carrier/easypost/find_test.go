package easypost

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/carriertest"
)

// talk is an adapter before a carrier that knows these answers, by path and query.
func talk(t *testing.T, answers map[string]string) (*Adapter, *[]string) {
	t.Helper()
	baseURL, asked := carriertest.Talk(t, answers, errorBody(codeNotFound), errorBody("SOME.CODE"))
	cfg := good()
	cfg.BaseURL = baseURL
	a, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return a, asked
}

func TestFindByRemoteID(t *testing.T) {
	t.Parallel()
	const byID, byReference, bought = "GET /shipments/shp_1", "GET /shipments/REF1", "GET /shipments?page_size=100&purchased=true"
	dated := strings.Replace(made, `"object"`, `"created_at": "2026-11-30T20:09:18Z", "object"`, 1)
	const since = "GET /shipments?page_size=100&purchased=true&start_datetime=2026-10-30T20%3A09%3A18Z"
	other := strings.Replace(sold, "shp_1", "shp_2", 1)
	for name, tt := range map[string]struct {
		answers map[string]string
		want    []string // label ids; nil for an error
		asked   int
	}{
		"Sold":                     {map[string]string{byID: sold}, []string{"shp_1"}, 1},
		"SoldUnderOtherReference":  {map[string]string{byID: strings.Replace(sold, "REF1", "REF2", 1)}, []string{"shp_1"}, 1},
		"NotSold":                  {map[string]string{byID: made, byReference: made, bought: list(false)}, []string{}, 3},
		"NotSoldNorListed":         {map[string]string{byID: made, bought: list(false)}, []string{}, 3},
		"AnotherOneIsListed":       {map[string]string{byID: made, byReference: made, bought: list(false, other)}, []string{"shp_2"}, 3},
		"ListedSinceAMonthBefore":  {map[string]string{byID: dated, byReference: made, since: list(false, other)}, []string{"shp_2"}, 3},
		"ListCannotBeRead":         {map[string]string{byID: made, byReference: made, bought: "status 429"}, nil, 3},
		"AnotherOneIsSold":         {map[string]string{byID: made, byReference: other}, []string{"shp_2"}, 2},
		"AnotherUnsoldIsShown":     {map[string]string{byID: made, byReference: strings.Replace(made, "shp_1", "shp_2", 1), bought: list(false, other)}, []string{"shp_2"}, 3},
		"ReferenceOfAnother":       {map[string]string{byID: made, byReference: strings.Replace(made, "REF1", "REF2", 1)}, nil, 2},
		"ReferenceCannotBeAsked":   {map[string]string{byID: made, byReference: "status 500"}, nil, 2},
		"ShipmentIsGone":           {map[string]string{byReference: made}, nil, 1},
		"AnotherShipment":          {map[string]string{byID: other}, nil, 1},
		"DoesNotSayWhetherSold":    {map[string]string{byID: `{"id": "shp_1", "reference": "REF1"}`}, nil, 1},
		"SoldInOtherMoney":         {map[string]string{byID: strings.ReplaceAll(sold, "USD", "CAD")}, nil, 1},
		"SoldWithoutTracking":      {map[string]string{byID: strings.Replace(sold, `"9400100110368070372185"`, "null", 1)}, nil, 1},
		"SoldWithoutSelectedRate":  {map[string]string{byID: strings.Replace(sold, `"selected_rate"`, `"x"`, 1)}, nil, 1},
		"NotAllowed":               {map[string]string{byID: "status 401"}, nil, 1},
		"RateLimitedIsNotAbsence":  {map[string]string{byID: "status 429"}, nil, 1},
		"AnswerIsSomethingElse":    {map[string]string{byID: `[]`}, nil, 1},
		"NotFoundWithoutItsReason": {map[string]string{byID: made, byReference: `{}`}, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, asked := talk(t, tt.answers)
			found, err := a.Find(t.Context(), carrier.Query{Reference: "REF1", RemoteID: "shp_1,rate_1"})
			require.Equal(t, tt.want == nil, err != nil, "%v", err)
			ids := []string{}
			for _, l := range found {
				ids = append(ids, l.ID)
			}
			if tt.want != nil {
				require.Equal(t, tt.want, ids)
			}
			require.Len(t, *asked, tt.asked)
		})
	}
}

// TestFindAdoptsNoLabelOfAnotherAccount: it is there, and we cannot say who has paid for it.
func TestFindAdoptsNoLabelOfAnotherAccount(t *testing.T) {
	t.Parallel()
	const byID, byReference, bought = "GET /shipments/shp_1", "GET /shipments/REF1", "GET /shipments?page_size=100&purchased=true"
	other := strings.Replace(sold, "shp_1", "shp_2", 1)
	for name, answers := range map[string]map[string]string{
		"ByID":        {byID: sold},
		"ByReference": {byID: made, byReference: other},
		"Listed":      {byID: made, byReference: made, bought: list(false, other)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := carrier.Query{Reference: "REF1", RemoteID: "shp_1,rate_1"}
			for _, change := range []func(*Config){
				func(c *Config) { c.CarrierAccount = "ca_2" },
				func(c *Config) { c.Carrier = "UPS" },
			} {
				a, _ := talk(t, answers)
				change(&a.cfg)
				_, err := a.Find(t.Context(), q)
				require.ErrorContains(t, err, "another carrier, or of another account")
			}
			a, _ := talk(t, answers)
			a.cfg.CarrierAccount = "ca_1"
			found, err := a.Find(t.Context(), q)
			require.NoError(t, err)
			require.Len(t, found, 1)
		})
	}
}

func TestFindRefundedIsShownAsVoided(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]bool{"submitted": true, "refunded": true, "rejected": false, "not_applicable": false} {
		body := strings.Replace(sold, `"refund_status": null`, `"refund_status": "`+status+`"`, 1)
		a, _ := talk(t, map[string]string{"GET /shipments/shp_1": body})
		found, err := a.Find(t.Context(), carrier.Query{Reference: "REF1", RemoteID: "shp_1,rate_1"})
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, want, found[0].Voided, status)
	}
}

func list(more bool, shipments ...string) string {
	return fmt.Sprintf(`{"shipments": [%s], "has_more": %t}`, strings.Join(shipments, ","), more)
}

func numbered(body string, n int) string {
	return strings.Replace(body, "shp_1", fmt.Sprintf("shp_%d", n), 1)
}

func TestFindListed(t *testing.T) {
	t.Parallel()
	const first, second = "GET /shipments?page_size=100&purchased=true", "GET /shipments?before_id=shp_8&page_size=100&purchased=true"
	foreign := `{"id": "shp_8", "reference": null, "rates": 7}`
	for name, tt := range map[string]struct {
		answers map[string]string
		want    []string // label ids; nil for an error
	}{
		"None":               {map[string]string{first: list(false)}, []string{}},
		"OneAmongOthers":     {map[string]string{first: list(false, foreign, sold, foreign)}, []string{"shp_1"}},
		"OldestFirst":        {map[string]string{first: list(false, numbered(sold, 3), numbered(sold, 2))}, []string{"shp_2", "shp_3"}},
		"OverTwoPages":       {map[string]string{first: list(true, numbered(sold, 9), foreign), second: list(false, sold)}, []string{"shp_1", "shp_9"}},
		"PagesOverlap":       {map[string]string{first: list(true, sold, numbered(sold, 8)), second: list(false, numbered(sold, 8))}, []string{"shp_8", "shp_1"}},
		"NotSold":            {map[string]string{first: list(false, made)}, []string{}},
		"SecondPageFails":    {map[string]string{first: list(true, sold, foreign), second: "status 429"}, nil},
		"SecondPageIsFirst":  {map[string]string{first: list(true, foreign), second: list(true, foreign)}, nil},
		"MoreAfterNothing":   {map[string]string{first: list(true)}, nil},
		"MoreAfterNoID":      {map[string]string{first: list(true, `{}`)}, nil},
		"NoList":             {map[string]string{first: `{"has_more": false}`}, nil},
		"DoesNotSayHasMore":  {map[string]string{first: `{"shipments": []}`}, nil},
		"IncompleteLabel":    {map[string]string{first: list(false, strings.Replace(sold, `"9400100110368070372185"`, "null", 1))}, nil},
		"UnreadableShipment": {map[string]string{first: list(false, strings.Replace(sold, `"rates"`, `"messages"`, 1))}, nil},
		"DoesNotSaySold":     {map[string]string{first: list(false, strings.Replace(sold, `"postage_label"`, `"x"`, 1))}, nil},
		"NullAmongThem":      {map[string]string{first: list(false, `null`)}, nil},
		"NamelessAmongThem":  {map[string]string{first: list(false, `{"reference": "REF1"}`, foreign)}, nil},
		"NoShipments":        {map[string]string{first: list(false, `7`)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := talk(t, tt.answers)
			found, err := a.Find(t.Context(), carrier.Query{Reference: "REF1"})
			require.Equal(t, tt.want == nil, err != nil, "%v", err)
			if tt.want == nil {
				return
			}
			ids := []string{}
			for _, l := range found {
				ids = append(ids, l.ID)
			}
			require.Equal(t, tt.want, ids)
		})
	}
}

// TestFindGivesUpOnAnEndlessList: what was not seen to its end is not "none".
func TestFindGivesUpOnAnEndlessList(t *testing.T) {
	t.Parallel()
	answers := map[string]string{}
	before := ""
	for n := range maxPages + 1 {
		answers["GET /shipments?"+before+"page_size=100&purchased=true"] = list(true, numbered(`{"id": "shp_1"}`, n))
		before = fmt.Sprintf("before_id=shp_%d&", n)
	}
	a, asked := talk(t, answers)
	_, err := a.Find(t.Context(), carrier.Query{Reference: "REF1"})
	require.ErrorContains(t, err, "not all were seen")
	require.Len(t, *asked, maxPages)
}

func TestFindWithoutLookup(t *testing.T) {
	t.Parallel()
	a := adapter()
	a.cfg.Capabilities.Lookup = nil
	_, err := a.Find(t.Context(), carrier.Query{Reference: "REF1"})
	require.ErrorIs(t, err, carrier.ErrNoLookup)
}

func TestFindByAForeignRemoteIDIsAnError(t *testing.T) {
	t.Parallel()
	_, err := adapter().Find(t.Context(), carrier.Query{Reference: "REF1", RemoteID: "se-1"})
	require.ErrorContains(t, err, "looking up reference REF1")
}
