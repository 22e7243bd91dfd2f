package report

import (
	_ "embed" // The page's template is part of the program.
	"fmt"
	"html/template"
)

// PageName is the report for a person: one page that needs nothing else, to be read or printed.
const PageName = "report.html"

const (
	// maxPageInvoices is how many invoices the page shows. All are in invoices.csv.
	maxPageInvoices = 25

	// maxPageCleared is how many cleared findings it names.
	maxPageCleared = 10
)

//go:embed page.html.tmpl
var pageSource string

// pageTemplate escapes everything it is given: text of carriers and callers is only ever text.
var pageTemplate = template.Must(template.New(PageName).Parse(pageSource))

// page is what the template shows. All is text and whole numbers by then.
type page struct {
	Carrier string
	AsOf    string
	Tone    string
	Badge   string
	Verdict string
	Facts   []fact
	Cards   []card

	Stakes  []stakesOf
	Claims  []claimRow
	Changes summaryChanges
	Since   string
	States  []changesRow
	Cleared []findingRow
	// MoreCleared and MoreInvoices say how many are not shown; empty for none.
	MoreCleared string

	Footing      []footingOf
	Invoices     []invoiceRow
	MoreInvoices string
	Labels       []labelsOf
	Ages         []agesOf
	Top          []findingRow
	MoreTop      string
	Todo         []todo
	Files        []fileRow
	Outputs      []string
	Schema       int
}

type fact struct{ Name, Value string }

// card is a figure that is seen first.
type card struct {
	Label string
	// Values has one for each currency.
	Values []string
	Note   string
	Tone   string
}

type stakesOf struct {
	Currency string
	Claimed  string
	Bars     []bar
}

type claimRow struct{ Carrier, Account, Count, Amount, DisputeBy, File string }

type footingOf struct {
	Currency, Invoices, Stated, Sum, Difference string
	// Unstated is what stands on invoices that state no total; empty if all do.
	Unstated string
	Foots    bool
	// NoTotals is true where no invoice states a total: that they foot says nothing.
	NoTotals bool
	Bars     []bar
}

type invoiceRow struct {
	Carrier, InvoiceNo, Date, Account, Currency, Stated, Sum, Difference string
	Foots                                                                bool
}

type labelsOf struct {
	Currency, Bought, Cost, Difference, DifferenceCost string
	Segments                                           []segment
}

type agesOf struct {
	Currency string
	Bars     []bar
}

type findingRow struct {
	Kind, Severity, TrackingNo, Order, InvoiceNo, Billed, Expected, Difference, Currency, Why, DisputeBy, State string
}

type todo struct{ Title, Count, Action, Severity string }

type fileRow struct{ Name, Format, Lines, SHA256, Trouble string }

// newPage gathers what the page shows.
func newPage(t *tally, run Run, s *summary) *page {
	p := &page{
		Carrier: clean(s.Parameters.Carrier),
		AsOf:    longDate(t.parameters.AsOf),
		Tone:    tones[s.Result],
		Badge:   badges[s.Result],
		Verdict: pageVerdict(s),
		Facts:   pageFacts(s.Parameters),
		Cards:   pageCards(s),
		Stakes:  pageStakes(s),
		Claims:  pageClaims(s.Claims),
		Changes: s.Changes,
		Since:   s.Changes.heading(),
		States:  s.Changes.rows(),
		Footing: pageFooting(s.Footing),
		Labels:  pageLabels(s.Rollforward),
		Ages:    pageAges(s.VoidCredits),
		Todo:    pageTodo(s.Findings),
		Files:   pageFiles(s.Files),
		Schema:  s.SchemaVersion,
	}
	for _, o := range s.outputNames() {
		p.Outputs = append(p.Outputs, clean(o))
	}
	top := t.topFindings()
	for _, f := range top {
		p.Top = append(p.Top, pageFinding(f))
	}
	if more := s.Urgent - int64(len(top)); more > 0 {
		p.MoreTop = grouped(more)
	}
	for _, f := range run.Cleared[:min(len(run.Cleared), maxPageCleared)] {
		p.Cleared = append(p.Cleared, pageFinding(f))
	}
	if more := len(run.Cleared) - len(p.Cleared); more > 0 {
		p.MoreCleared = grouped(int64(more))
	}
	p.Invoices, p.MoreInvoices = pageInvoices(s.Invoices)
	return p
}

var tones = map[Result]string{Clean: "good", Findings: "look", Distrusted: "stop"}

var badges = map[Result]string{Clean: "Clean", Findings: "Needs a look", Distrusted: "Mend the inputs first"}

func writePage(to *files, p *page) error {
	o, err := to.create(PageName)
	if err != nil {
		return err
	}
	if err := pageTemplate.Execute(o, p); err != nil {
		return fmt.Errorf("writing %s: %w", PageName, err)
	}
	return o.close()
}
