package invoicegen

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"waybill/carrier"
)

// builder grows a world, one fate after the other.
type builder struct {
	World
	chance   *rand.Rand
	style    style
	accounts []account
	labels   []*Label
	invoices map[invoiceKey]*Invoice

	// plant is the fate that is being sown.
	plant Plant
	// serial counts labels, people canaries.
	serial, people int
	// reports are the plants that change whole invoices, once all is billed.
	reports []func()
}

// account is one of ours at the carrier.
type account struct {
	// printed is how invoices write it, ours how labels do: carriers pad with zeros.
	printed, ours string
	currency      string
	number        int
}

type invoiceKey struct {
	account  string
	no       string
	currency string
}

func (k invoiceKey) compare(o invoiceKey) int {
	return cmp.Or(cmp.Compare(k.account, o.account), cmp.Compare(k.no, o.no), cmp.Compare(k.currency, o.currency))
}

// drawAccounts makes one to three accounts, the second in another currency where the dialect has any.
func (b *builder) drawAccounts() []account {
	var all []account
	most := 3
	if slices.Contains(wallets, b.Options.Dialect) {
		most = 1
	}
	for i := range 1 + b.chance.IntN(most) {
		n := b.Options.Slot*3 + i
		a := account{number: n, currency: "USD"}
		if i == 1 {
			a.currency = "EUR"
		}
		switch b.Options.Dialect {
		case UPS:
			// A digit, an E, digits: no number, whatever a spreadsheet makes of it.
			a.ours = fmt.Sprintf("%03dE%02d", n/100, n%100)
			a.printed = "0000" + a.ours
		case FedEx:
			a.ours, a.currency = fmt.Sprintf("%09d", 100_000_000+n), "USD"
		case FedExIntl:
			a.ours = fmt.Sprintf("%09d", 600_000_000+n)
			a.currency = []string{"GBP", "EUR", "GBP"}[i]
		case DHL:
			a.ours = fmt.Sprintf("%09d", 960_000_000+n)
			a.currency = []string{"EUR", "GBP", "EUR"}[i]
		case USPS:
			a.ours, a.currency = fmt.Sprintf("%010d", 2_000_000_000+n), "USD"
		case EasyPostInvoice, EasyPostLog:
			// A wallet is one account, and its reports do not name it.
			a.ours, a.currency = "easypost", "USD"
		case Neutral:
			a.ours = fmt.Sprintf("ACC-%06d", n)
		}
		a.printed = cmp.Or(a.printed, a.ours)
		all = append(all, a)
	}
	return all
}

// account picks one.
func (b *builder) account() account { return b.accounts[b.chance.IntN(len(b.accounts))] }

// buy makes a label, bought in one of the first weeks.
func (b *builder) buy(a account) *Label {
	id := b.nextID()
	day := monday.AddDate(0, 0, b.chance.IntN(40))
	l := Label{
		Carrier:        b.Options.Dialect.Carrier(),
		Account:        a.ours,
		TrackingNo:     b.number(a, id),
		Reference:      "WB" + base32(id),
		CarrierLabelID: fmt.Sprintf("shp_%032x", id),
		OrderID:        int64(1_000_000 + id),
		ParcelNo:       1,
		Version:        1,
		IdempotencyKey: fmt.Sprintf("order:%d", id),
		Cost:           carrier.Money{Cents: 600 + b.chance.Int64N(9_000), Currency: a.currency},
		// Between nine and fifteen o'clock, so that no time zone of theirs or ours moves the day.
		BoughtAt: day.Add(time.Duration(9*60+b.chance.IntN(6*60)) * time.Minute),
	}
	b.labels = append(b.labels, &l)
	return &l
}

// nextID numbers what no other world has.
func (b *builder) nextID() int {
	b.serial++
	return b.Options.Slot*1000 + b.serial
}

// freshNumber is one that nothing else bears.
func (b *builder) freshNumber(a account) string { return b.number(a, b.nextID()) }

// number is a tracking number as the carrier makes them.
func (b *builder) number(a account, id int) string {
	switch b.Options.Dialect {
	case UPS:
		return fmt.Sprintf("1Z%s03%08d", a.ours, id)
	case FedEx:
		if id%3 == 0 {
			return "96" + fmt.Sprintf("%012d", 700_000_000_000+id)
		}
		return fmt.Sprintf("%012d", 700_000_000_000+id)
	case FedExIntl:
		return fmt.Sprintf("%012d", 800_000_000_000+id)
	case DHL:
		return fmt.Sprintf("%010d", 4_000_000_000+id)
	case USPS:
		return fmt.Sprintf("940011%016d", id)
	case EasyPostInvoice, EasyPostLog:
		return fmt.Sprintf("EZ%010d", id)
	default:
		return fmt.Sprintf("SIM%09d", id)
	}
}

// base32 writes 26 characters of the alphabet of our references.
func base32(n int) string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
	out := []byte(strings.Repeat("0", 26))
	for i := len(out) - 1; n > 0; i-- {
		out[i] = alphabet[n%32]
		n /= 32
	}
	return string(out)
}

// weekly is the invoice that a carrier writes of a week, counted from the first.
func (b *builder) weekly(a account, week int) *Invoice {
	date := monday.AddDate(0, 0, 7*week)
	no := b.invoiceNo(a, week)
	key := invoiceKey{a.printed, no, a.currency}
	if b.invoices[key] == nil {
		b.invoices[key] = &Invoice{Account: a.printed, No: no, Date: date, Currency: a.currency}
	}
	return b.invoices[key]
}

func (b *builder) invoiceNo(a account, week int) string {
	// Weeks before the first are of the year before.
	batch := (week + 400) % 1000
	switch b.Options.Dialect {
	case UPS:
		return fmt.Sprintf("000000%s%03d", a.ours, batch)
	case FedEx, FedExIntl:
		return fmt.Sprintf("%09d", 100_000_000+a.number*1000+batch)
	case DHL:
		return fmt.Sprintf("MUC%07d%03d", a.number, batch)
	case USPS:
		// There are no invoices: a day's transactions go by the day.
		return "transactions-" + monday.AddDate(0, 0, 7*week).Format("2006-01-02")
	case EasyPostLog:
		return "payments-" + monday.AddDate(0, 0, 7*week).Format("2006-01-02")
	default:
		return fmt.Sprintf("INV-%06d-%03d", a.number, batch)
	}
}

// week is the one whose invoice a label is on: the first Monday after it was bought.
func week(l *Label) int { return int(l.BoughtAt.Sub(monday)/(7*24*time.Hour)) + 1 }

// accountOf finds a label's account.
func (b *builder) accountOf(l *Label) account {
	i := slices.IndexFunc(b.accounts, func(a account) bool { return a.ours == l.Account })
	return b.accounts[i]
}

// bill puts a billing of a label on the invoice of a week.
func (b *builder) bill(l *Label, week int, charges ...Charge) *Billing {
	return b.billOn(b.invoiceFor(l, week, charges), l, charges...)
}

// billOn puts a billing of a label on an invoice.
func (b *builder) billOn(inv *Invoice, l *Label, charges ...Charge) *Billing {
	inv.Billings = append(inv.Billings, Billing{
		TrackingNo: l.TrackingNo,
		LabelID:    l.CarrierLabelID,
		Reference:  l.Reference,
		Day:        l.BoughtAt.Truncate(24 * time.Hour),
		Charges:    charges,
		Person:     b.person(),
	})
	return &inv.Billings[len(inv.Billings)-1]
}

// invoiceFor is the invoice of a week, or the credit note beside it for carriers that never print a
// credit on an invoice.
func (b *builder) invoiceFor(l *Label, w int, charges []Charge) *Invoice {
	a := b.accountOf(l)
	inv := b.weekly(a, w)
	if b.Options.Dialect != DHL || (Billing{Charges: charges}).Cents() >= 0 {
		return inv
	}
	key := invoiceKey{a.printed, "CN" + inv.No[2:], a.currency}
	if b.invoices[key] == nil {
		b.invoices[key] = &Invoice{
			Account: a.printed, No: key.no, Date: inv.Date, Currency: a.currency,
			Credit: true, original: b.invoiceNo(a, week(l)),
		}
	}
	return b.invoices[key]
}

// expect notes what must come out about a charge or a label.
func (b *builder) expect(kind string, l *Label, inv *Invoice, cents int64) {
	f := Finding{
		Kind: kind, Account: l.Account, TrackingNo: l.TrackingNo, Plant: b.plant,
		Difference: carrier.Money{Cents: cents, Currency: l.Cost.Currency},
	}
	if inv != nil {
		f.InvoiceNo, f.Difference.Currency = inv.No, inv.Currency
	}
	b.Findings = append(b.Findings, f)
}

// expectInvoice notes what must come out about an invoice as a whole.
func (b *builder) expectInvoice(kind string, inv *Invoice, cents int64) {
	b.Findings = append(b.Findings, Finding{
		Kind: kind, Account: inv.Account, InvoiceNo: inv.No, Plant: b.plant,
		Difference: carrier.Money{Cents: cents, Currency: inv.Currency},
	})
}

// close adds up the invoices, shuffles what is on them, and lets the plants on whole invoices act.
func (b *builder) close() {
	keys := slices.SortedFunc(maps.Keys(b.invoices), invoiceKey.compare)
	for _, k := range keys {
		inv := b.invoices[k]
		b.chance.Shuffle(len(inv.Billings), func(i, j int) {
			inv.Billings[i], inv.Billings[j] = inv.Billings[j], inv.Billings[i]
		})
		settle(inv)
		inv.Stated = inv.Cents()
	}
	for _, report := range b.reports {
		report()
	}
	for _, k := range keys {
		b.Invoices = append(b.Invoices, *b.invoices[k])
	}
	for _, l := range b.labels {
		b.Labels = append(b.Labels, *l)
	}
	b.missing()
}

// settle takes out of an invoice what only its total could tell, where rows will be missing from it.
func settle(inv *Invoice) {
	if !slices.ContainsFunc(inv.Billings, func(x Billing) bool { return x.refused }) {
		return
	}
	for i := range inv.Billings {
		x := &inv.Billings[i]
		x.Charges = slices.DeleteFunc(x.Charges, func(c Charge) bool { return c.Kind == Informative })
		for k := range x.Charges {
			if x.Charges[k].Kind == Counted {
				x.Charges[k].Kind = Accessorial
			}
		}
	}
}

// missing expects that an invoice does not foot whose rows could not all be read.
func (b *builder) missing() {
	for i := range b.Invoices {
		inv := &b.Invoices[i]
		var lost int64
		readable := false
		for _, billing := range inv.Billings {
			if billing.refused {
				lost += billing.Cents()
			} else {
				readable = true
			}
		}
		// Of an invoice without a line that can be read, nobody learns.
		if lost != 0 && readable && b.Options.Dialect != USPS {
			b.plant = CorruptedID
			b.expectInvoice("invoice_not_footing", inv, -lost)
		}
	}
}
