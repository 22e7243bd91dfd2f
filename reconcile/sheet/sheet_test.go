package sheet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/reconcile/invoice"
	"waybill/reconcile/invoice/invoicetest"
	"waybill/reconcile/sheet"
)

// plain reads a file of the columns id, day, text and amount (USD).
type plain struct{ slashed bool }

func (p plain) read(t require.TestingT, file string) *invoicetest.Kept {
	var k invoicetest.Kept
	rows, err := sheet.Open(strings.NewReader(file))
	require.NoError(t, err)
	h, err := rows.Header()
	require.NoError(t, err)
	id, day, text, amount := h.Need("id"), h.Optional("day"), h.Optional("text"), h.Optional("amount")
	require.NoError(t, h.Check())
	require.NoError(t, rows.LearnMoney(amount))
	require.NoError(t, rows.LearnDays(day))
	require.NoError(t, rows.Each(&k, func(r *sheet.Row, lines []invoice.Line) []invoice.Line {
		l := invoice.Line{InvoiceNo: r.NeedID(id), Text: r.Words(text), Amount: r.Money(amount, "USD")}
		if p.slashed {
			l.ShipDate = r.Slashed(day)
		} else {
			l.ShipDate = r.Date(day, "2006-01-02", "02-Jan-2006")
		}
		return append(lines, l)
	}))
	return &k
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ file, want string }{
		"UTF8":           {"id,text\n1,Zuschläge €\n", "Zuschläge €"},
		"ByteOrderMark":  {"\xef\xbb\xbfid,text\n1,ä\n", "ä"},
		"Western":        {"id,text\n1,Zuschl\xe4ge \x80\n", "Zuschläge €"},
		"WesternLate":    {"id,text\n" + strings.Repeat("1,x\n", 5000) + "1,\xe4\n", "ä"},
		"SplitCharacter": {"id,text\n" + strings.Repeat("1,x\n", 1021) + "1,xxx\u20ac\n", "xxx€"},
		"Tabs":           {"id\ttext\n1\ta,b\n", "a,b"},
		"Semicolons":     {"id;text\n1;a,b\n", "a,b"},
		"QuotedOthers":   {"id,\"text\",\";;;;\"\n1,a,\n", "a"},
		"NewlineInside":  {"id,text\n1,\"a\nb\"\n", "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := plain{}.read(t, tt.file)
			require.Empty(t, k.Rejects)
			require.Equal(t, tt.want, k.Lines[len(k.Lines)-1].Text)
		})
	}
}

func TestDamagedText(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"UTF8ThenNot":     "id,text\n1,ä\n2,\xe4\n",
		"NothingInThere":  "id,text\n1,a\n2,\x81\n",
		"ControlSequence": "id,text\n1,a\n2,\x1b[2J\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := plain{}.read(t, file)
			require.Len(t, k.Lines, 1)
			require.Len(t, k.Rejects, 1)
			require.Equal(t, invoice.TextDamaged, k.Rejects[0].Fault)
			require.Equal(t, "text", k.Rejects[0].Column)
		})
	}
}

func TestNoText(t *testing.T) {
	t.Parallel()
	for start, says := range map[string]string{
		"PK\x03\x04": "unpack", "\xd0\xcf\x11\xe0": "XLSX", "%PDF-1.7": "printed", "\x1f\x8b\x08": "compressed",
		"\xff\xfei\x00": "UTF-16", "": "empty",
	} {
		_, err := sheet.Open(strings.NewReader(start))
		var refused *invoice.FileError
		require.ErrorAs(t, err, &refused)
		require.Contains(t, refused.Advice, says)
	}
}

func TestRowNumbersAreAnEditorsLines(t *testing.T) {
	t.Parallel()
	k := plain{}.read(t, "id,text\n1,\"two\nlines\"\n\n,\n2,x\n3,a\"b\n4,x,y\n5,x,,\n6\n")
	var rows, rejected []int
	for _, l := range k.Lines {
		rows = append(rows, l.Source.Row)
	}
	for _, r := range k.Rejects {
		require.Equal(t, invoice.RowBroken, r.Fault)
		rejected = append(rejected, r.Source.Row)
	}
	require.Equal(t, []int{2, 6, 9}, rows, "empty rows say nothing; empty fields too many do no harm")
	require.Equal(t, []int{7, 8, 10}, rejected)
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		amounts []string
		want    []string // a decimal, or a word of the complaint
	}{
		"Points":           {[]string{"12.40", "-1,234.56", "1,234", "7"}, []string{"12.40", "-1234.56", "1234.00", "7.00"}},
		"Commas":           {[]string{"12,40", "-1.234,56", "1.234", "7"}, []string{"12.40", "-1234.56", "1234.00", "7.00"}},
		"Late":             {[]string{"1,234", "12.40"}, []string{"1234.00", "12.40"}},
		"ZeroIsZero":       {[]string{"0.00", "12,40", "0,00"}, []string{"0.00", "12.40", "0.00"}},
		"Undecided":        {[]string{"1,234", "7"}, []string{"says whether", "7.00"}},
		"GroupsDecide":     {[]string{"1,234,567", "1.5"}, []string{"1234567.00", "1.50"}},
		"MostDecide":       {[]string{"12.40", "3,10", "1.10"}, []string{"12.40", "other mark", "1.10"}},
		"IdleZeros":        {[]string{"8.40000", "8.00"}, []string{"8.40", "8.00"}},
		"TooExact":         {[]string{"8.40100", "8.00"}, []string{"more decimals", "8.00"}},
		"NoZeroInAGroup":   {[]string{"0.005"}, []string{"more decimals"}},
		"FalseGroups":      {[]string{"12,34.50", "1.00"}, []string{"digits", "1.00"}},
		"NeitherSignNorE":  {[]string{"$8.40", "8E2", "(8.40)", "8.40-"}, []string{"digits", "digits", "digits", "digits"}},
		"MarkAndNothing":   {[]string{"8.", ".8", "."}, []string{"digits", "digits", "digits"}},
		"TwoDecimalMarks":  {[]string{"1.2.3", "1,2,3"}, []string{"digits", "digits"}},
		"BeyondAllAmounts": {[]string{"99,999,999,999.00"}, []string{"beyond"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := "id;amount\n"
			for _, a := range tt.amounts {
				file += "1;" + a + "\n"
			}
			k := plain{}.read(t, file)
			require.Len(t, tt.want, len(k.Lines)+len(k.Rejects))
			for i, want := range tt.want {
				require.Contains(t, said(k, i+2), want)
			}
		})
	}
}

// said is the amount that a row was read as, or the complaint about it.
func said(k *invoicetest.Kept, row int) string {
	for _, l := range k.Lines {
		if l.Source.Row == row {
			return l.Amount.Decimal()
		}
	}
	for _, r := range k.Rejects {
		if r.Source.Row == row {
			return r.Advice
		}
	}
	return "nothing"
}

// TestAmountsRoundTrip: whatever the amount and the habit, it is read as it was meant or refused.
func TestAmountsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfN(rapid.Int64Range(-1e9, 1e9), 1, 20).Draw(t, "cents")
		marks := rapid.SampledFrom([]string{".,", ",."}).Draw(t, "marks")
		grouped := rapid.Bool().Draw(t, "grouped")
		file := "id;amount\n"
		for _, cents := range amounts {
			file += "1;" + written(cents, marks, grouped) + "\n"
		}
		k := plain{}.read(t, file)
		if len(k.Rejects) > 0 {
			t.Fatalf("two decimals leave no doubt: %+v", k.Rejects[0])
		}
		for i, l := range k.Lines {
			if l.Amount.Cents != amounts[i] {
				t.Fatalf("%d read as %d", amounts[i], l.Amount.Cents)
			}
		}
	})
}

func written(cents int64, marks string, grouped bool) string {
	whole, fraction, _ := strings.Cut(carrier.Money{Cents: cents, Currency: "USD"}.Decimal(), ".")
	sign := ""
	if whole[0] == '-' {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; grouped && i > 0; i -= 3 {
		whole = whole[:i] + marks[1:] + whole[i:]
	}
	return sign + whole + marks[:1] + fraction
}

func TestDays(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ days, want []string }{
		"DayFirst":   {[]string{"03/04/2026", "31/03/2026", "1/2/26"}, []string{"2026-04-03", "2026-03-31", "2026-02-01"}},
		"MonthFirst": {[]string{"03/04/2026", "3/31/26"}, []string{"2026-03-04", "2026-03-31"}},
		"ISO":        {[]string{"2026-03-04"}, []string{"2026-03-04"}},
		"Undecided":  {[]string{"03/04/2026"}, nil},
		"Both":       {[]string{"31/03/2026", "03/31/2026"}, nil},
		"NoSuchDay":  {[]string{"31/02/2026"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := plain{slashed: true}.read(t, "id,day\n1,"+strings.Join(tt.days, "\n1,")+"\n")
			var got []string
			for _, l := range k.Lines {
				got = append(got, l.ShipDate.String())
			}
			require.Equal(t, tt.want, got)
			require.Len(t, k.Rejects, len(tt.days)-len(tt.want))
		})
	}
}

// TestSemicolonsPutTheDayFirst: no date of the file shows it, what parts its fields does; a date that shows the
// contrary counts more.
func TestSemicolonsPutTheDayFirst(t *testing.T) {
	t.Parallel()
	k := plain{slashed: true}.read(t, "id;day\n1;10/11/2025\n")
	require.Empty(t, k.Rejects)
	require.Equal(t, "2025-11-10", k.Lines[0].ShipDate.String())
	k = plain{slashed: true}.read(t, "id;day\n1;10/11/2025\n1;10/13/2025\n")
	require.Empty(t, k.Rejects)
	require.Equal(t, "2025-10-11", k.Lines[0].ShipDate.String())
}

func TestHeader(t *testing.T) {
	t.Parallel()
	h := sheet.NewHeader([]string{" Invoice  NUMBER", "Charge Description", "Charge Amount", "Charge Description.1", "Charge Amount.1", "charge description (2)", "Charge Amount_2", "Notes"})
	require.True(t, h.Need("Invoice Number").Present())
	require.False(t, h.Optional("Reference").Present())
	require.Len(t, h.Pairs("Charge Description", "Charge Amount"), 3)
	require.Equal(t, []string{"Notes"}, h.Ignored())
	require.NoError(t, h.Check())

	h.Need("Net")
	require.ErrorContains(t, h.Check(), "lacks Net")
	twice := sheet.NewHeader([]string{"Net", "net"})
	twice.Need("Net")
	require.ErrorContains(t, twice.Check(), "Net twice")
	require.ErrorContains(t, func() error { h := sheet.NewHeader([]string{"x"}); h.Need("Net"); return h.Check() }(), "must name the columns")
}

func TestOurReferencePassesOverWhatIsNoIdentifier(t *testing.T) {
	t.Parallel()
	const ours = "WB00000000E1JM400000G0000004"
	rows, err := sheet.Open(strings.NewReader(strings.Join([]string{"7.94E+11", strings.Repeat("x", 80), "a\x00", ours}, ",") + "\n"))
	require.NoError(t, err)
	row, err := rows.First()
	require.NoError(t, err)
	require.Equal(t, ours, row.OurReference(sheet.At(1, "a"), sheet.At(2, "b"), sheet.At(3, "c"), sheet.At(4, "d"), sheet.At(5, "e")))
	require.False(t, row.Rejected())
}

func TestHeadOfWhatIsNone(t *testing.T) {
	t.Parallel()
	require.Nil(t, sheet.FirstRow(nil))
	require.Nil(t, sheet.FirstRow([]byte("%PDF")))
	require.False(t, sheet.Head([]byte("\"never closed")).Has("x"))
}

func TestARowWithoutEnd(t *testing.T) {
	t.Parallel()
	rows, err := sheet.Open(strings.NewReader("a,\"" + strings.Repeat("x\n", 200_000)))
	require.NoError(t, err)
	_, err = rows.Header()
	var refused *invoice.FileError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Advice, "quotation mark")
}

// FuzzRows: whatever the bytes, rows come out in order, and what is neither a line nor a complaint is
// an error with an advice.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{
		"id,day,text,amount\n1,2026-03-31,x,1.00\n", "id;amount\n1;1.234,00\n", "\xef\xbb\xbfid\tamount\n1\t2\n",
		"id,text\n1,\xe4\n", "id,\"x\n", "id,day\n1,03/04/2026\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if err := readAny(file); err != nil {
			var refused *invoice.FileError
			if !errors.As(err, &refused) || refused.Advice == "" {
				t.Fatalf("an error that is no advice: %v", err)
			}
		}
	})
}

func readAny(file []byte) error {
	rows, err := sheet.Open(strings.NewReader(string(file)))
	if err != nil {
		return err
	}
	first := sheet.At(1, "first")
	if err := errors.Join(rows.LearnMoney(first), rows.LearnDays(first)); err != nil {
		return err
	}
	last := 0
	var k invoicetest.Kept
	err = rows.Each(&k, func(r *sheet.Row, lines []invoice.Line) []invoice.Line {
		if r.No <= last {
			panic(fmt.Sprintf("row %d after %d", r.No, last))
		}
		last = r.No
		return append(lines, invoice.Line{InvoiceNo: r.ID(first), ShipDate: r.Slashed(first), Amount: r.Money(first, "USD")})
	})
	return err
}
