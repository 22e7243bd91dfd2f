package neutral_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/reconcile/invoice"
	"waybill/reconcile/neutral"
)

const header = "invoice_no,invoice_date,carrier,account,currency,line_no,kind,tracking_no,reference,ship_date,description,amount,invoice_total\n"

// good is one row that nothing is wrong with.
const good = "I-1,2026-03-31,sim,00042,USD,1,freight,SIM0001,WB00000000E1JM400000G0000004,2026-03-30,Ground,8.40,8.40\n"

// kept is a sink that keeps everything.
type kept struct {
	lines    []invoice.Line
	rejected []invoice.Rejection
	ignored  []string
}

func (k *kept) Line(l invoice.Line) error { k.lines = append(k.lines, l); return nil }

func (k *kept) Reject(r invoice.Rejection) error { k.rejected = append(k.rejected, r); return nil }

func (k *kept) Ignored(columns []string) { k.ignored = append(k.ignored, columns...) }

func read(t *testing.T, file string) *kept {
	t.Helper()
	var k kept
	require.NoError(t, neutral.Dialect{}.Read(strings.NewReader(file), &k))
	return &k
}

func TestReadKeepsEveryField(t *testing.T) {
	t.Parallel()
	date, err := invoice.ParseDate("2026-03-31")
	require.NoError(t, err)
	want := invoice.Line{
		Source:      invoice.Source{Row: 2},
		Carrier:     "sim",
		Account:     "00042",
		InvoiceNo:   "I-1",
		InvoiceDate: date,
		LineNo:      "1",
		Kind:        invoice.Freight,
		TrackingNo:  "SIM0001",
		Reference:   "WB00000000E1JM400000G0000004",
		ShipDate:    date - 1,
		Text:        "Ground",
		Amount:      carrier.Money{Cents: 840, Currency: "USD"},
		StatedCents: 840,
	}
	for name, file := range map[string]string{
		"Plain":         header + good,
		"ByteOrderMark": "\xef\xbb\xbf" + header + good,
		"CRLF":          strings.ReplaceAll(header+good, "\n", "\r\n"),
		"NoLastNewline": header + strings.TrimSuffix(good, "\n"),
		"DecimalCommas": strings.ReplaceAll(strings.ReplaceAll(header+good, ",", ";"), ".", ","),
		"Western":       header + strings.Replace(good, "WB00000000E1JM400000G0000004", "\xa0WB00000000E1JM400000G0000004", 1),
		"OtherOrder": "Amount, Invoice_Total,description,ship_date,reference,tracking_no,kind,line_no,currency,account,carrier,invoice_date,invoice_no\n" +
			"8.40,8.40,Ground,2026-03-30,WB00000000E1JM400000G0000004,SIM 0001,freight,'1,USD,\"=\"\"00042\"\"\",sim,2026-03-31,I-1\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := read(t, file)
			require.Empty(t, k.rejected)
			require.Empty(t, cmp.Diff([]invoice.Line{want}, k.lines))
		})
	}
}

func TestReadListsColumnsItDoesNotKnow(t *testing.T) {
	t.Parallel()
	file := "recipient," + header + "Jane Doe," + good
	k := read(t, file)
	require.Equal(t, []string{"recipient"}, k.ignored)
	require.Len(t, k.lines, 1)
}

func TestReadRejectsARowAndGoesOn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, from, to string
		fault          invoice.Fault
		column         string
	}{
		{"ScientificTracking", "SIM0001", "7.94E+11", invoice.IDCorrupted, "tracking_no"},
		{"ScientificAccount", "00042", "4.2E+10", invoice.IDCorrupted, "account"},
		{"LongTracking", "SIM0001", strings.Repeat("R", 65), invoice.FieldTooLong, "tracking_no"},
		{"NUL", "SIM0001", "SIM\x000001", invoice.TextDamaged, "tracking_no"},
		{"NeitherUTF8NorWestern", "Ground", "Gr\x81nd", invoice.TextDamaged, "description"},
		{"EmptyInvoiceNo", "I-1", " ", invoice.FieldMissing, "invoice_no"},
		{"QuotesOnlyAccount", "00042", "'", invoice.FieldMissing, "account"},
		{"EmptyAmount", "8.40,8.40", ",8.40", invoice.FieldMissing, "amount"},
		{"AmountComma", "8.40,8.40", "\"8,40\",8.40", invoice.FieldUnreadable, "amount"},
		{"TotalGrouped", "8.40,8.40", "8.40,1 008.40", invoice.FieldUnreadable, "invoice_total"},
		{"ThirdDecimal", "8.40,8.40", "8.401,8.40", invoice.FieldUnreadable, "amount"},
		{"Date", "2026-03-31", "03/31/2026", invoice.FieldUnreadable, "invoice_date"},
		{"Kind", "freight", "petrol", invoice.FieldUnreadable, "kind"},
		{"Currency", "USD", "usd", invoice.FieldUnreadable, "currency"},
		{"PositiveVoidCredit", "freight", "void_credit", invoice.FieldUnreadable, "amount"},
		{"TooFewFields", ",Ground", "", invoice.RowBroken, ""},
		{"TooManyFields", "Ground", "Ground,to the door", invoice.RowBroken, ""},
		{"BareQuote", "Ground", "Gro\"und", invoice.RowBroken, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(good, tt.from, tt.to, 1)
			require.NotEqual(t, good, bad)
			k := read(t, header+good+bad+good)
			require.Len(t, k.lines, 2, "the rows around it are read")
			require.Equal(t, []int{2, 4}, []int{k.lines[0].Source.Row, k.lines[1].Source.Row})
			require.Len(t, k.rejected, 1)
			got := k.rejected[0]
			require.Equal(t, tt.fault, got.Fault)
			require.Equal(t, tt.column, got.Column)
			require.Equal(t, 3, got.Source.Row)
			require.NotEmpty(t, got.Advice)
		})
	}
}

func TestReadRefusesAFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file string
		fault      invoice.Fault
		says       string
	}{
		{"Empty", "", invoice.FileEmpty, "empty"},
		{"MarkOnly", "\xef\xbb\xbf", invoice.FileEmpty, "empty"},
		{"UTF16", "\xff\xfei\x00n\x00", invoice.FileUnreadable, "UTF-16"},
		{"MissingColumns", strings.NewReplacer("amount,", "", "line_no,", "").Replace(header), invoice.ColumnMissing, "line_no, amount"},
		{"ColumnTwice", "amount," + header, invoice.ColumnMissing, "amount twice"},
		{"Bars", strings.ReplaceAll(header, ",", "|"), invoice.ColumnMissing, "separated by commas"},
		{"HeaderNoCSV", "a\"b,c\n", invoice.FileUnreadable, "not CSV"},
		{"NeverClosedQuote", header + "\"" + strings.Repeat(good, 3000), invoice.FileUnreadable, "quotation mark"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := neutral.Dialect{}.Read(strings.NewReader(tt.file), &kept{})
			var refused *invoice.FileError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, tt.fault, refused.Fault)
			require.Contains(t, refused.Advice, tt.says)
		})
	}
}

func TestReadStopsAtTheSinksError(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	err := neutral.Dialect{}.Read(strings.NewReader(header+good+good), failing{full})
	require.ErrorIs(t, err, full)
}

type failing struct{ err error }

func (f failing) Line(invoice.Line) error        { return f.err }
func (f failing) Reject(invoice.Rejection) error { return f.err }
func (failing) Ignored([]string)                 {}

func TestReadPassesOnAnErrorOfTheReader(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk is gone")
	for _, have := range []string{"", header, header + good} {
		r := io.MultiReader(strings.NewReader(have), failingReader{broken})
		require.ErrorIs(t, neutral.Dialect{}.Read(r, &kept{}), broken)
	}
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

func TestDetect(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		header + good:             true,
		"\xef\xbb\xbf" + header:   true,
		"x,y," + header:           true,
		"":                        false,
		"2.1,0000012345,US\n":     false,
		"\"unclosed,invoice_no\n": false,
	} {
		require.Equal(t, want, neutral.Dialect{}.Detect([]byte(file)), "%q", file)
	}
}

// FuzzRead holds the parser to its promises whatever it is fed: it never panics, and every row
// that CSV has in the file comes out once, as a line or as a rejection with an advice.
func FuzzRead(f *testing.F) {
	f.Add([]byte(header + good))
	f.Add([]byte("\xef\xbb\xbf" + header + good + good))
	f.Add([]byte(header + "\"a\"\"b\n" + good))
	f.Add([]byte(header + strings.Replace(good, "8.40", "1E+05", 1)))
	f.Fuzz(func(t *testing.T, file []byte) {
		var k kept
		err := neutral.Dialect{}.Read(bytes.NewReader(file), &k)
		var refused *invoice.FileError
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("an error that is no advice: %v", err)
		}
		last := 1
		for _, l := range k.lines {
			if l.Source.Row <= last || l.InvoiceNo == "" || l.Account == "" || invoice.Corrupted(l.TrackingNo) ||
				invoice.Damaged(l.TrackingNo) || !carrier.IsCurrency(l.Amount.Currency) {
				t.Fatalf("a line that is none: %+v", l)
			}
			last = l.Source.Row
		}
		for _, r := range k.rejected {
			if r.Source.Row < 2 || r.Advice == "" {
				t.Fatalf("a rejection without place or advice: %+v", r)
			}
		}
		if rows := countRows(file); err == nil && !bytes.ContainsAny(file, ";\t\x80") && len(k.lines)+len(k.rejected) != rows {
			t.Fatalf("%d rows in, %d lines and %d rejections out", rows, len(k.lines), len(k.rejected))
		}
	})
}
