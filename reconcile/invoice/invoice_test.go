package invoice_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/reconcile/invoice"
)

func TestCorrupted(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"7.94E+11": true, "7,94E+11": true, "1E+12": true, "1.2e-05": true,
		"0000376E74425": false, "1Z999AA10123456784": false, "12E7": false, "79E+11": false, "": false,
	} {
		require.Equal(t, want, invoice.Corrupted(id), id)
	}
}

func TestCleanID(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"  0012 ":               "0012",
		`="0012"`:               "0012",
		"'0012":                 "0012",
		"9400 1000\u00a00000 1": "9400100000001",
		"0012.0":                "0012.0",
		`="0012`:                `="0012`,
		"":                      "",
	} {
		require.Equal(t, want, invoice.CleanID(in), in)
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	d, err := invoice.ParseDate("2026-02-28")
	require.NoError(t, err)
	require.Equal(t, "2026-03-01", (d + 1).String())
	for _, s := range []string{"", "2026-2-28", "28.02.2026", "02/28/2026", "2026-02-30", "1969-12-31", "20260228"} {
		_, err := invoice.ParseDate(s)
		require.Error(t, err, s)
	}

	chicago, err := time.LoadLocation("America/Chicago")
	require.NoError(t, err)
	late := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	require.Equal(t, "2026-02-28", invoice.DateOf(late, chicago).String(), "nine in the evening in Chicago")
	require.Equal(t, "2026-03-01", invoice.DateOf(late, time.UTC).String())
	require.Equal(t, "2026-02-28T06:00:00Z", d.Start(chicago).UTC().Format(time.RFC3339))
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	require.False(t, invoice.Damaged("Zürich\t1"))
	for _, s := range []string{"a\x00b", "a\xffb", "a\x1bb", strings.Repeat("x", 9) + "\x7f"} {
		require.True(t, invoice.Damaged(s), "%q", s)
	}
}

func TestOurReference(t *testing.T) {
	t.Parallel()
	const ours = "WB00000000E1JM400000G0000004"
	require.Equal(t, ours, invoice.OurReference("", "PO 4711", " "+ours))
	require.Empty(t, invoice.OurReference("", "PO 4711", "WB17", "Jane Doe", ours+"X"))
	require.Empty(t, invoice.OurReference("", " "))
}
