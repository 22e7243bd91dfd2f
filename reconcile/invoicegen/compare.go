package invoicegen

import (
	"fmt"
	"slices"
	"strings"
)

// matter is what findings are about. Findings of one matter are added up.
type matter struct {
	kind, account, invoiceNo, trackingNo, currency, file string
}

// Compare says what was found otherwise than it should: what is missing, what nobody planted, and where
// the money is another. Nothing if all is well.
func Compare(want, got []Finding) []string {
	wanted, found := addUp(want), addUp(got)
	var out []string
	for m, cents := range wanted {
		if other, ok := found[m]; !ok {
			out = append(out, fmt.Sprintf("missing: %s of %d", m, cents))
		} else if other != cents {
			out = append(out, fmt.Sprintf("other money: %s of %d instead of %d", m, other, cents))
		}
	}
	for m, cents := range found {
		if _, ok := wanted[m]; !ok {
			out = append(out, fmt.Sprintf("not planted: %s of %d", m, cents))
		}
	}
	slices.Sort(out)
	return out
}

func (m matter) String() string {
	return strings.Join(strings.Fields(strings.Join([]string{
		m.kind, m.account, m.invoiceNo, m.trackingNo, m.currency, m.file,
	}, " ")), " ")
}

func addUp(findings []Finding) map[matter]int64 {
	sums := make(map[matter]int64)
	for _, f := range findings {
		m, cents := f.matter()
		sums[m] += cents
	}
	return sums
}

// matter is what a finding is about, and what it adds to it: money, or rows where rows are refused, or
// nothing where the finding itself is all that it says.
func (f Finding) matter() (matter, int64) {
	m := matter{
		kind: f.Kind, account: strings.TrimLeft(f.Account, "0"), invoiceNo: f.InvoiceNo, trackingNo: f.TrackingNo,
		currency: f.Difference.Currency,
	}
	switch f.Kind {
	case "id_corrupted", "row_rejected":
		return matter{kind: f.Kind, file: f.File}, int64(f.Rows)
	case "ambiguous_match", "currency_mismatch", "invoice_resent", "invoice_changed":
		m.currency = ""
		return m, 0
	}
	return m, f.Difference.Cents
}
