package workbook_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"waybill/reconcile/invoice"
	"waybill/reconcile/workbook"
)

// book is a workbook with the cells of one sheet; a value may be text, a number or a day.
func book(t *testing.T, since1904 bool, cells map[string]any) *bytes.Buffer {
	t.Helper()
	f := excelize.NewFile()
	defer func() { require.NoError(t, f.Close()) }()
	require.NoError(t, f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &since1904}))
	format := "dd.mm.yyyy"
	for at, value := range cells {
		require.NoError(t, f.SetCellValue("Sheet1", at, value))
		if _, isDay := value.(time.Time); isDay {
			style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
			require.NoError(t, err)
			require.NoError(t, f.SetCellStyle("Sheet1", at, at, style))
		}
	}
	var b bytes.Buffer
	require.NoError(t, f.Write(&b))
	return &b
}

func text(t *testing.T, r io.Reader) string {
	t.Helper()
	rows, err := workbook.OrText(r)
	require.NoError(t, err)
	content, err := io.ReadAll(rows)
	require.NoError(t, err)
	require.NoError(t, rows.Close())
	return string(content)
}

func TestTextPassesThrough(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "a,b\n1,2\n", "PK"} {
		require.Equal(t, s, text(t, strings.NewReader(s)))
	}
}

func TestCellsAreWhatTheWorkbookHolds(t *testing.T) {
	t.Parallel()
	for _, since1904 := range []bool{false, true} {
		got := text(t, book(t, since1904, map[string]any{
			"A1": "tracking", "B1": "day", "C1": "amount", "D1": "account", "E1": "note",
			"A2": "9400100000000000000123", "B2": time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC), "C2": 8.4, "D2": "00042", "E2": "two\nlines",
			"A4": 9.4001e+21, "B4": "2026-03-31", "C4": 8.4000000000000004, "D4": 46112,
		}))
		require.Equal(t, "tracking,day,amount,account,note\n"+
			"9400100000000000000123,2026-03-31,8.4,00042,two lines\n,,,,\n"+
			"9.4001E+21,2026-03-31,8.4,46112,\n", got)
	}
}

func TestRefusesAWorkbook(t *testing.T) {
	t.Parallel()
	two := func() *bytes.Buffer {
		f := excelize.NewFile()
		defer func() { require.NoError(t, f.Close()) }()
		_, err := f.NewSheet("Other")
		require.NoError(t, err)
		require.NoError(t, f.SetCellValue("Sheet1", "A1", "x"))
		require.NoError(t, f.SetCellValue("Other", "B2", "y"))
		var b bytes.Buffer
		require.NoError(t, f.Write(&b))
		return &b
	}
	for name, tt := range map[string]struct {
		file io.Reader
		says string
	}{
		"SeveralSheets": {two(), "several sheets"},
		"Empty":         {book(t, false, nil), "empty"},
		"AnotherZIP":    {strings.NewReader("PK\x03\x04 and nothing of the kind"), "no workbook"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := workbook.OrText(tt.file)
			var refused *invoice.FileError
			require.ErrorAs(t, err, &refused)
			require.Contains(t, refused.Advice, tt.says)
		})
	}
}
