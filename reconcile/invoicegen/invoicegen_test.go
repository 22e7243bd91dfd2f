package invoicegen_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"

	"waybill/reconcile/invoicegen"
)

// worlds makes a few worlds of each dialect, everything planted in them.
func worlds(t *testing.T, each int, test func(*testing.T, invoicegen.World)) {
	t.Helper()
	for _, dialect := range invoicegen.Dialects() {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			for seed := range each {
				test(t, invoicegen.New(invoicegen.Options{
					Seed: uint64(seed), Slot: seed, Dialect: dialect, Labels: 40, Workbooks: true,
				}))
			}
		})
	}
}

// TestSameOptionsSameBytes: a failure of the proof can be seen again.
func TestSameOptionsSameBytes(t *testing.T) {
	t.Parallel()
	worlds(t, 5, func(t *testing.T, w invoicegen.World) {
		t.Helper()
		again := invoicegen.New(w.Options)
		require.Equal(t, w.Files, again.Files)
		require.Equal(t, w.Findings, again.Findings)
	})
}

// TestEveryPlantIsSown: nothing that a dialect can express is left out.
func TestEveryPlantIsSown(t *testing.T) {
	t.Parallel()
	worlds(t, 3, func(t *testing.T, w invoicegen.World) {
		t.Helper()
		for _, p := range invoicegen.Plants(w.Options.Dialect) {
			require.Contains(t, w.Planted, p)
		}
	})
}

// TestOneAtATime: each plant alone makes a world, with findings of its own and of no other.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	for _, dialect := range invoicegen.Dialects() {
		for _, p := range invoicegen.Plants(dialect) {
			w := invoicegen.New(invoicegen.Options{
				Seed: 1, Dialect: dialect, Labels: 2, Plants: []invoicegen.Plant{invoicegen.Honest, p},
			})
			for _, f := range w.Findings {
				if dialect == invoicegen.EasyPostInvoice && f.Plant == invoicegen.Honest {
					continue
				}
				require.Equal(t, p, f.Plant, "%s: %+v", dialect, f)
			}
		}
	}
}

// TestPeopleAreInTheFiles: the canaries are where they must not get out of.
func TestPeopleAreInTheFiles(t *testing.T) {
	t.Parallel()
	worlds(t, 5, func(t *testing.T, w invoicegen.World) {
		t.Helper()
		if strings.HasPrefix(string(w.Options.Dialect), "easypost") {
			return
		}
		all := ""
		for _, f := range w.Files {
			for _, row := range readRows(t, f) {
				all += strings.Join(row, "\x00")
			}
		}
		found := 0
		for _, c := range w.Canaries {
			if strings.Contains(all, c) {
				found++
			}
		}
		require.Greater(t, found, 20)
	})
}

// columns are where the money is, by dialect: the invoice, its total, the amount.
var columns = map[invoicegen.Dialect][3]string{
	invoicegen.Neutral:   {"invoice_no", "invoice_total", "amount"},
	invoicegen.FedEx:     {"Invoice Number", "Original Amount Due", "Net Charge Amount"},
	invoicegen.FedExIntl: {"FedEx Invoice Number", "Original Amount Due", "Air Waybill Total Amount"},
	invoicegen.DHL:       {"Invoice Number", "", "Total amount (incl. VAT)"},
	invoicegen.USPS:      {"EPS Account #", "ACH Withdrawal Amount", "Transaction Amount"},
}

// TestInvoicesFootByThemselves adds up what is printed, in its own way, and finds the total that the
// truth says is printed; only where a plant says so, it is another.
func TestInvoicesFootByThemselves(t *testing.T) {
	t.Parallel()
	worlds(t, 15, func(t *testing.T, w invoicegen.World) {
		t.Helper()
		if strings.HasPrefix(string(w.Options.Dialect), "easypost") {
			require.Len(t, w.Files, 1)
			return
		}
		for _, inv := range w.Invoices {
			if len(inv.Billings) == 0 {
				continue
			}
			i := slices.IndexFunc(w.Files, func(f invoicegen.File) bool {
				return strings.Contains(f.Name, inv.No) && holds(f, w, inv) && !strings.Contains(f.Name, "again")
			})
			require.GreaterOrEqual(t, i, 0)
			stated, sum := foot(t, w.Options.Dialect, readRows(t, w.Files[i]), inv)
			require.Equal(t, inv.Stated, stated, "%d: what %s states", w.Options.Seed, inv.No)
			require.Equal(t, inv.Cents(), sum, "%d: the lines of %s", w.Options.Seed, inv.No)
			if inv.Stated != inv.Cents() {
				require.True(t, slices.ContainsFunc(w.Findings, func(f invoicegen.Finding) bool {
					return f.InvoiceNo == inv.No && max(f.Difference.Cents, -f.Difference.Cents) == max(inv.Cents()-inv.Stated, inv.Stated-inv.Cents())
				}), "%d: nothing tells that %s does not foot", w.Options.Seed, inv.No)
			}
		}
	})
}

// holds tells whether a file is of an invoice's account, where its name says so: what has no invoices has no
// numbers of them. A part in another currency is in a file of its own.
func holds(f invoicegen.File, w invoicegen.World, inv invoicegen.Invoice) bool {
	if w.Options.Dialect == invoicegen.USPS && !strings.Contains(f.Name, inv.Account) {
		return false
	}
	return strings.Contains(f.Name, inv.No+"_CHF") == inv.Second
}

// foot adds up one invoice's file.
func foot(t *testing.T, d invoicegen.Dialect, rows [][]string, inv invoicegen.Invoice) (stated, sum int64) {
	t.Helper()
	if d == invoicegen.UPS {
		return footUPS(t, rows, inv)
	}
	header, names := rows[0], columns[d]
	at := func(name string) int {
		i := slices.Index(header, name)
		require.GreaterOrEqual(t, i, 0, name)
		return i
	}
	for _, row := range rows[1:] {
		require.Len(t, row, len(header))
		cents := minor(t, row[at(names[2])])
		switch {
		case d == invoicegen.DHL && row[0] == "I":
			stated = cents
			continue
		case d != invoicegen.DHL:
			stated = minor(t, row[at(names[1])])
		}
		if d == invoicegen.USPS && row[6] == "Label Refund" && cents > 0 {
			cents = -cents
		}
		sum += cents
	}
	return stated, sum
}

// footUPS adds up by position; a row that only informs counts where the total says so.
func footUPS(t *testing.T, rows [][]string, inv invoicegen.Invoice) (stated, sum int64) {
	t.Helper()
	var informed int64
	for _, row := range rows {
		if row[0] == "Version" {
			continue
		}
		require.Equal(t, "2.1", row[0])
		require.GreaterOrEqual(t, len(row), 53)
		require.LessOrEqual(t, len(row), 250)
		require.Equal(t, inv.No, row[5])
		stated = minor(t, row[10])
		if row[43] == "INF" {
			informed += minor(t, row[52])
		} else {
			sum += minor(t, row[52])
		}
	}
	if sum+informed == inv.Cents() {
		sum += informed
	}
	return stated, sum
}

// minor reads an amount with two decimals and either mark.
func minor(t *testing.T, s string) int64 {
	t.Helper()
	s = strings.Replace(s, ",", ".", 1)
	require.Regexp(t, `^-?\d+\.\d\d$`, s)
	n, err := strconv.ParseInt(strings.Replace(s, ".", "", 1), 10, 64)
	require.NoError(t, err)
	return n
}

// readRows reads a file in the plainest way there is.
func readRows(t *testing.T, f invoicegen.File) [][]string {
	t.Helper()
	if strings.HasSuffix(f.Name, ".xlsx") {
		return readWorkbook(t, f.Content)
	}
	content := bytes.TrimPrefix(f.Content, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(content) {
		wide, err := charmap.Windows1252.NewDecoder().Bytes(content)
		require.NoError(t, err)
		content = wide
	}
	r := csv.NewReader(bytes.NewReader(content))
	r.FieldsPerRecord = -1
	first, _, _ := bytes.Cut(content, []byte("\n"))
	if bytes.Count(first, []byte(";")) > bytes.Count(first, []byte(",")) {
		r.Comma = ';'
	}
	rows, err := r.ReadAll()
	require.NoError(t, err)
	return rows
}

// readWorkbook reads the cells of a workbook's sheet.
func readWorkbook(t *testing.T, content []byte) [][]string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	part, err := archive.Open("xl/worksheets/sheet1.xml")
	require.NoError(t, err)
	text, err := io.ReadAll(part)
	require.NoError(t, err)
	require.NoError(t, part.Close())
	var sheet struct {
		Rows []struct {
			Cells []struct {
				Name string `xml:"r,attr"`
				Text string `xml:"is>t"`
			} `xml:"c"`
		} `xml:"sheetData>row"`
	}
	require.NoError(t, xml.Unmarshal(text, &sheet))
	var rows [][]string
	for n, r := range sheet.Rows {
		row := make([]string, len(sheet.Rows[0].Cells))
		for _, c := range r.Cells {
			letters, ok := strings.CutSuffix(c.Name, strconv.Itoa(n+1))
			require.True(t, ok, c.Name)
			column := 0
			for _, letter := range letters {
				column = column*26 + int(letter-'A') + 1
			}
			row[column-1] = c.Text
		}
		rows = append(rows, row)
	}
	return rows
}

// TestWorldsDoNotMeet: no two slots share an account, an order or a tracking number.
func TestWorldsDoNotMeet(t *testing.T) {
	t.Parallel()
	for _, dialect := range invoicegen.Dialects() {
		seen := make(map[string]int)
		for slot := range 50 {
			w := invoicegen.New(invoicegen.Options{Seed: 7, Slot: slot, Dialect: dialect})
			for _, l := range w.Labels {
				ids := []string{l.Account, l.TrackingNo, l.Reference, fmt.Sprint(l.OrderID)}
				if l.Account == "easypost" {
					ids = ids[1:]
				}
				for _, id := range ids {
					other, known := seen[id]
					require.True(t, !known || other == slot, "%s: %s", dialect, id)
					seen[id] = slot
				}
			}
		}
	}
}
