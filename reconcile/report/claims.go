package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// claimHeader is the columns of a dispute file.
var claimHeader = []string{
	"finding_id", "tracking_no", "invoice_no", "invoice_date", "line_no", "amount_claimed", "currency",
	"reason", "evidence", "voided_at", "other_invoice_no", "billed", "expected", "charge_text", "reference",
	"dispute_by", "state",
}

// claimant is whom claims are made by, and to: each has a file of its own.
type claimant struct {
	carrier string
	account string
}

// claimTotal is the claims of one file in one currency.
type claimTotal struct {
	reconcile.Sum
	// disputeBy is the first day on which one of them lapses; 0 if none does.
	disputeBy invoice.Date
}

type claimKey struct {
	claimant
	currency string
}

// claims are the dispute files in the making. A file is begun with its first claim, so that there is
// none for an account without any.
type claims struct {
	files      *files
	parameters Parameters
	tables     map[claimant]*table
	totals     map[claimKey]*claimTotal
}

func newClaims(to *files, p Parameters) *claims {
	return &claims{
		files: to, parameters: p,
		tables: make(map[claimant]*table), totals: make(map[claimKey]*claimTotal),
	}
}

// isClaim tells whether a finding is money to ask back from the carrier. A charge whose reference
// names an intent of ours is none: that label is ours, and settles the intent.
func isClaim(f reconcile.Finding) bool {
	switch {
	case guideTo(f.Kind).claim == "", f.Severity == reconcile.Info, f.Difference.Cents <= 0, settled(f):
		return false
	case f.Why == reconcile.ReferenceOfIntent, f.Why == reconcile.ReferenceOfLabel:
		return false
	default:
		return true
	}
}

// add takes a finding, and writes it down if it is a claim.
func (c *claims) add(f reconcile.Finding) error {
	if !isClaim(f) {
		return nil
	}
	who := claimant{f.Carrier, f.Account}
	t := c.tables[who]
	if t == nil {
		var err error
		if t, err = c.files.createTable(who.fileName(), claimHeader); err != nil {
			return err
		}
		c.tables[who] = t
	}
	key := claimKey{who, f.Difference.Currency}
	total := c.totals[key]
	if total == nil {
		total = new(claimTotal)
		c.totals[key] = total
	}
	total.Count++
	total.Cents += f.Difference.Cents
	if f.DisputeBy != 0 && (total.disputeBy == 0 || f.DisputeBy < total.disputeBy) {
		total.disputeBy = f.DisputeBy
	}
	return t.write(c.cells(f))
}

func (c *claims) cells(f reconcile.Finding) []cell {
	var voided string
	if !f.VoidedAt.IsZero() {
		voided = f.VoidedAt.In(c.parameters.Zone).Format(time.RFC3339)
	}
	return []cell{
		textCell(f.ID), textCell(f.TrackingNo), textCell(f.InvoiceNo), dateCell(f.InvoiceDate),
		textCell(f.LineNo), moneyCell(f.Difference), textCell(f.Difference.Currency),
		textCell(guideTo(f.Kind).claim), textCell(evidence(f, voided)), textCell(voided),
		textCell(f.OtherInvoiceNo), moneyCell(f.Billed), moneyCell(f.Expected), textCell(f.Text),
		textCell(f.Reference), dateCell(f.DisputeBy), textCell(string(f.State)),
	}
}

// evidence is what the carrier can check, in a sentence.
func evidence(f reconcile.Finding, voided string) string {
	switch {
	case f.Kind == reconcile.PossibleDuplicateLine, f.OtherInvoiceNo != "" && f.OtherInvoiceNo == f.InvoiceNo:
		return "This invoice charges the same shipment more than once"
	case f.OtherInvoiceNo != "":
		return "The same shipment is charged on invoice " + f.OtherInvoiceNo
	case voided != "":
		return "The label was cancelled, and you confirmed it by " + voided
	case f.Kind == reconcile.OverBilled:
		return fmt.Sprintf("Agreed at purchase: %s %s", f.Expected.Decimal(), f.Expected.Currency)
	case f.Kind == reconcile.Chargeback:
		return "Please show why the payer named at shipping did not pay"
	case f.Kind == reconcile.BilledNoLabel:
		return "We bought no label with this tracking number on this account: please show the shipment"
	default:
		return ""
	}
}

// close ends all files.
func (c *claims) close() error {
	for _, who := range slices.SortedFunc(maps.Keys(c.tables), claimant.compare) {
		if err := c.tables[who].close(); err != nil {
			return err
		}
	}
	return nil
}

func (c claimant) compare(o claimant) int {
	return cmp.Or(cmp.Compare(c.carrier, o.carrier), cmp.Compare(c.account, o.account))
}

const (
	disputesPrefix = "disputes-"
	disputesSuffix = ".csv"
	// maxNamePart keeps a file's name below what file systems take, whatever an account is called.
	maxNamePart = 80
)

// fileName is the name of the claimant's dispute file. Accounts come from files of others: what is
// no letter, digit or point is written as its bytes, so that a name leads nowhere else and no two
// claimants share one. The end of a long one is its hash.
func (c claimant) fileName() string {
	return disputesPrefix + namePart(c.carrier, "._") + "-" + namePart(c.account, "._-") + disputesSuffix
}

// namePart spells s with letters, digits and marks, and all else as bytes. The carrier's part has no
// hyphen, so that the first one parts it from the account.
func namePart(s, marks string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', strings.IndexByte(marks, c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	name := b.String()
	if len(name) > maxNamePart {
		sum := sha256.Sum256([]byte(s))
		name = name[:maxNamePart] + "~" + hex.EncodeToString(sum[:8])
	}
	return name
}

// isDisputes tells whether a file's name is one that fileName makes.
func isDisputes(name string) bool {
	return strings.HasPrefix(name, disputesPrefix) && strings.HasSuffix(name, disputesSuffix) &&
		!strings.ContainsAny(name, `/\`)
}
