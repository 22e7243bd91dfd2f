package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

// workbookText is what a workbook shows: each sheet, each row, its cells as they are formatted.
func workbookText(t *testing.T, content string) string {
	t.Helper()
	book := openWorkbook(t, content)
	var out strings.Builder
	for _, name := range book.GetSheetList() {
		fmt.Fprintf(&out, "[%s]\n", name)
		rows, err := book.GetRows(name)
		require.NoError(t, err)
		for _, cells := range rows {
			out.WriteString(strings.TrimRight(strings.Join(cells, " | "), " |"))
			out.WriteByte('\n')
		}
	}
	return out.String()
}

func openWorkbook(t *testing.T, content string) *excelize.File {
	t.Helper()
	book, err := excelize.OpenReader(strings.NewReader(content))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, book.Close()) })
	return book
}
