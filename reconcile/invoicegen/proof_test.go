package invoicegen_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/dhl"
	"waybill/carrier/easypost"
	"waybill/carrier/fedex"
	"waybill/carrier/ups"
	"waybill/carrier/usps"
	"waybill/reconcile"
	"waybill/reconcile/invoice"
	"waybill/reconcile/invoicegen"
	"waybill/reconcile/neutral"
)

var seeds = flag.Int("seeds", 30, "how many worlds of each dialect the proof makes")

// readers are the dialects under proof, as the command registers them.
var readers = map[invoicegen.Dialect]invoice.Dialect{
	invoicegen.Neutral:         neutral.Dialect{},
	invoicegen.UPS:             ups.BillingData{},
	invoicegen.FedEx:           fedex.BillingOnline{},
	invoicegen.FedExIntl:       fedex.BillingOnlineIntl{},
	invoicegen.DHL:             dhl.Express{},
	invoicegen.USPS:            usps.Transactions{},
	invoicegen.EasyPostInvoice: easypost.ShipmentInvoices{},
	invoicegen.EasyPostLog:     easypost.PaymentLog{},
}

// enough failures of a dialect to see what they have in common.
const enough = 4

// byDatabase are the plants that only the database can tell: who else holds a label for the parcel, and
// whose reference a line bears. The command's own proof has them.
var byDatabase = []invoicegen.Plant{invoicegen.BoughtTwice, invoicegen.DoubtSettled}

// silent are the kinds that are for the record and follow from what is there, not from a fault.
var silent = []reconcile.Kind{reconcile.TaxOrDuty}

// TestWhatIsPlantedIsFound: over many worlds of each dialect, the real readers and the real rules find
// what was planted, with the right money, and nothing else; every line lands in one bucket, and every
// label stands once. Run it longer with -seeds.
func TestWhatIsPlantedIsFound(t *testing.T) {
	t.Parallel()
	for dialect := range readers {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			plants := without(invoicegen.Plants(dialect), byDatabase)
			failed := 0
			for seed := range *seeds {
				o := invoicegen.Options{Seed: uint64(seed), Dialect: dialect, Labels: 14, Plants: plants}
				if complaint := prove(o); complaint != "" {
					t.Errorf("seed %d, smallest failing plants %v:\n%s", seed, shrink(o), complaint)
					failed++
				}
				if failed == enough {
					return
				}
			}
		})
	}
}

// TestEachPlantAloneIsFound: what goes wrong in company must not hide what goes wrong alone.
func TestEachPlantAloneIsFound(t *testing.T) {
	t.Parallel()
	for dialect := range readers {
		for _, p := range without(invoicegen.Plants(dialect), byDatabase) {
			t.Run(string(dialect)+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				for seed := range 4 {
					require.Empty(t, prove(invoicegen.Options{
						Seed: uint64(seed), Dialect: dialect, Labels: 3, Plants: []invoicegen.Plant{invoicegen.Honest, p},
					}), "seed %d", seed)
				}
			})
		}
	}
}

// shrink finds a plant that fails on its own, or takes plants away for as long as the world still fails.
func shrink(o invoicegen.Options) []invoicegen.Plant {
	for _, p := range o.Plants {
		alone := o
		alone.Plants = []invoicegen.Plant{p}
		if prove(alone) != "" {
			return alone.Plants
		}
	}
	for i := 0; i < len(o.Plants); {
		fewer := o
		fewer.Plants = slices.Delete(slices.Clone(o.Plants), i, i+1)
		if len(fewer.Plants) > 0 && prove(fewer) != "" {
			o = fewer
		} else {
			i++
		}
	}
	return o.Plants
}

func without(all, some []invoicegen.Plant) []invoicegen.Plant {
	return slices.DeleteFunc(all, func(p invoicegen.Plant) bool { return slices.Contains(some, p) })
}

// prove reads and judges a world, and says what came out otherwise than it should; "" if nothing did.
func prove(o invoicegen.Options) string {
	w := invoicegen.New(o)
	r := &reading{world: w, ledger: reconcile.NewLedger(), shipments: make(map[string]string)}
	for n, f := range w.Files {
		if complaint := r.read(n, f); complaint != "" {
			return complaint
		}
	}
	if complaint := r.judge(); complaint != "" {
		return complaint
	}
	complaint := strings.Join(invoicegen.Compare(w.Findings, r.found), "\n")
	if complaint != "" && r.advice != "" {
		complaint += "\nlast rejected: " + r.advice
	}
	return complaint
}

// reading is one world on its way through the readers and the rules.
type reading struct {
	world  invoicegen.World
	ledger *reconcile.Ledger
	lines  []taken
	// shipments are the numbers that are judged together with another, as the command gathers them.
	shipments map[string]string
	found     []invoicegen.Finding
	// file is the one that is being read, broke the first line in it that cannot be.
	file  int
	broke string
	// advice is the last complaint about a row.
	advice string
}

type taken struct {
	file int
	line invoice.Line
}

// read hands a file to the one reader that knows it.
func (r *reading) read(n int, f invoicegen.File) string {
	reader := readers[r.world.Options.Dialect]
	if n == 0 {
		if known := knownBy(f); len(known) != 1 || known[0] != reader.Name() {
			return fmt.Sprintf("%s is detected as %v", f.Name, known)
		}
	}
	r.file = n
	if err := reader.Read(bytes.NewReader(f.Content), r); err != nil {
		return fmt.Sprintf("reading %s: %v", f.Name, err)
	}
	return r.broke
}

// knownBy are the readers that take a file for theirs, of its beginning.
func knownBy(f invoicegen.File) []string {
	var names []string
	for _, d := range readers {
		if d.Detect(f.Content[:min(len(f.Content), 8<<10)]) {
			names = append(names, d.Name())
		}
	}
	return names
}

// Line implements [invoice.Sink].
func (r *reading) Line(l invoice.Line) error {
	l.Source.File = r.world.Files[r.file].Name
	if l.Carrier != r.world.Options.Dialect.Carrier() {
		r.broke = fmt.Sprintf("%s is a line of carrier %q", l.Source, l.Carrier)
	}
	r.ledger.Take(r.file, l)
	r.lines = append(r.lines, taken{r.file, l})
	if with := cmp.Or(l.MasterTrackingNo, l.OriginalTrackingNo); with != "" {
		r.shipments[l.TrackingNo], r.shipments[with] = with, with
	}
	return nil
}

// Reject implements [invoice.Sink].
func (r *reading) Reject(rejection invoice.Rejection) error {
	r.advice = rejection.Source.String() + ": " + rejection.Advice
	r.find(reconcile.Input{Name: r.world.Files[r.file].Name}.Rejected(rejection))
	return nil
}

// Ignored implements [invoice.Sink].
func (r *reading) Ignored([]string) {}

// find notes a finding in the generator's words.
func (r *reading) find(f reconcile.Finding) {
	if slices.Contains(silent, f.Kind) {
		return
	}
	r.found = append(r.found, invoicegen.Finding{
		Kind: string(f.Kind), Account: f.Account, InvoiceNo: f.InvoiceNo, TrackingNo: f.TrackingNo,
		Difference: f.Difference, File: f.Source.File, Rows: 1,
	})
}

// judge settles the invoices and judges every group, as the command does with what it staged.
func (r *reading) judge() string {
	aside, findings := r.ledger.Settle()
	for _, f := range findings {
		r.find(f)
	}
	charges := r.counting(aside)
	asOf := invoice.DateOf(r.world.AsOf, time.UTC)
	rules := reconcile.Rules{AsOf: asOf, GraceDays: 14, Zone: time.UTC, Tolerances: map[invoice.Kind]reconcile.Tolerance{
		reconcile.Price: {
			Over:  reconcile.Allowance{Cents: invoicegen.Tolerated},
			Under: reconcile.Allowance{Cents: invoicegen.Tolerated},
		},
	}}
	labels := r.labels()
	standings := 0
	for group, err := range reconcile.Groups(each(charges), each(labels)) {
		if err != nil {
			return err.Error()
		}
		verdict := rules.Judge(group)
		for _, p := range verdict.Placements {
			if err := r.ledger.Place(p); err != nil {
				return err.Error()
			}
		}
		for _, f := range verdict.Findings {
			r.find(f)
		}
		standings += len(verdict.Standings)
	}
	if standings != len(labels) {
		return fmt.Sprintf("%d labels stand of %d", standings, len(labels))
	}
	_, err := r.ledger.Close()
	if err != nil {
		return err.Error()
	}
	return ""
}

// counting are the lines that are judged, in the order that groups are made in.
func (r *reading) counting(aside []reconcile.SetAside) []reconcile.Charge {
	var charges []reconcile.Charge
	for _, l := range r.lines {
		if slices.ContainsFunc(aside, func(a reconcile.SetAside) bool {
			k := reconcile.InvoiceKey{
				Carrier: l.line.Carrier, Account: l.line.Account, InvoiceNo: l.line.InvoiceNo, Currency: l.line.Amount.Currency,
			}
			return a.File == l.file && a.InvoiceKey == k && (!a.Informative || l.line.Informative)
		}) {
			continue
		}
		c := reconcile.Charge{Line: l.line, Shipment: r.shipments[l.line.TrackingNo]}
		charges = append(charges, c)
	}
	slices.SortStableFunc(charges, func(a, b reconcile.Charge) int {
		return cmp.Or(cmp.Compare(cmp.Or(a.Shipment, a.TrackingNo), cmp.Or(b.Shipment, b.TrackingNo)), cmp.Compare(a.Account, b.Account),
			cmp.Compare(a.InvoiceNo, b.InvoiceNo), cmp.Compare(a.LineNo, b.LineNo))
	})
	return charges
}

func (r *reading) labels() []reconcile.Label {
	var labels []reconcile.Label
	for i, l := range r.world.Labels {
		if l.InDoubt {
			continue
		}
		labels = append(labels, reconcile.Label{
			LabelID: fmt.Sprintf("label-%d", i), IntentID: fmt.Sprintf("intent-%d", i),
			Carrier: l.Carrier, Account: l.Account, TrackingNo: l.TrackingNo, Reference: l.Reference,
			OrderID: l.OrderID, ParcelNo: l.ParcelNo, LabelVersion: l.Version,
			CallerID: "fulfilment", IdempotencyKey: l.IdempotencyKey,
			Cost: l.Cost, BoughtAt: l.BoughtAt, VoidedAt: l.VoidedAt,
			Shipment: r.shipments[l.TrackingNo],
		})
	}
	slices.SortStableFunc(labels, func(a, b reconcile.Label) int {
		return cmp.Compare(cmp.Or(a.Shipment, a.TrackingNo), cmp.Or(b.Shipment, b.TrackingNo))
	})
	return labels
}

func each[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}
}
