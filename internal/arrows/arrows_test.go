package arrows_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// row says what one package may know.
type row struct {
	// may lists the packages of this module that it may import.
	may []string

	// not lists what it must not import from elsewhere, by the start of the path.
	not []string

	// leaf allows the standard library only.
	leaf bool

	// tests allows importing what only tests may import; it is for tests itself.
	tests bool

	why string
}

// database is what a package that must not know any does not import.
var database = []string{"database/sql", "github.com/jackc/pgx", "github.com/riverqueue"}

// rows is the architecture, from the bottom up. The design's section 2 draws it.
var rows = map[string]row{
	"carrier": {
		leaf: true,
		why:  "the vocabulary is a leaf: whoever speaks of carriers imports it, so it imports nobody",
	},
	"carrier/sim": {
		may: []string{"carrier", "internal/carrierhttp"}, not: database,
		why: "an adapter knows the vocabulary, and neither database, siblings nor those who call it",
	},
	"carrier/sim/simserver": {
		not: database,
		why: "the independent witness shares no code with what it testifies about",
	},
	"carrier/sim/simbench": {
		may: []string{"carrier", "carrier/carriertest", "carrier/sim/simserver"}, not: database, tests: true,
		why: "the simulator behind the suite is the same for every adapter, so it knows none",
	},
	"carrier/carriertest": {
		may: []string{"carrier"}, not: database, tests: true,
		why: "the conformance suite asks of every adapter the same, so it knows none",
	},
	"carrier/easypost": {
		may: []string{"carrier", "internal/carrierhttp", "internal/units", "reconcile/invoice", "reconcile/sheet"},
		not: database,
		why: "all we know of one carrier, and nothing of the others",
	},
	"carrier/shipengine": {
		may: []string{"carrier", "internal/carrierhttp", "internal/units"}, not: database,
		why: "all we know of one carrier, and nothing of the others",
	},
	"carrier/easyship": {
		may: []string{"carrier", "internal/carrierhttp", "internal/units"}, not: database,
		why: "all we know of one carrier, and nothing of the others",
	},
	"carrier/usps": {
		may: []string{"carrier", "internal/carrierhttp", "internal/units", "reconcile/invoice", "reconcile/sheet"},
		not: database,
		why: "all we know of one carrier, and nothing of the others",
	},
	"carrier/fedex": {
		may: []string{"carrier", "internal/carrierhttp", "internal/units", "reconcile/invoice", "reconcile/sheet"},
		not: database,
		why: "all we know of one carrier, and nothing of the others",
	},
	"carrier/dhl": {
		may: []string{"carrier", "reconcile/invoice", "reconcile/sheet"}, not: database,
		why: "what we know of one carrier's invoices, and nothing of the others",
	},
	"carrier/ups": {
		may: []string{"carrier", "reconcile/invoice", "reconcile/sheet"}, not: database,
		why: "what we know of one carrier's invoices, and nothing of the others",
	},
	"carrier/catalog": {
		may: []string{
			"carrier", "carrier/sim", "carrier/easypost", "carrier/shipengine", "carrier/easyship", "carrier/usps", "carrier/fedex",
		},
		not: database,
		why: "the catalogue builds the adapters from their configuration: it alone knows them by name",
	},

	"internal/problem": {
		may: []string{"carrier"}, not: database,
		why: "the error document is shared by who answers and who saves answers; it reports carrier.FieldError",
	},
	"internal/carrierhttp": {
		may: []string{"carrier"}, not: database,
		why: "what adapters share knows requests and answers, and no carrier",
	},
	"internal/units":        {leaf: true, why: "weights and lengths mean the same to every carrier"},
	"internal/fault":        {leaf: true, why: "a place to break at knows nothing of what is broken there"},
	"internal/durable":      {why: "what a commit proves does not depend on what is in it"},
	"internal/fault/points": {leaf: true, why: "it reads the code and runs none of it"},
	"internal/groupcommit":  {why: "the batcher knows items and transactions, not what is in them"},
	"internal/command":      {why: "how every command reads its arguments and ends, whatever it does"},
	"internal/service":      {may: []string{"internal/durable"}, why: "what the long-running services share knows nothing of labels"},
	"internal/pgcluster":    {why: "a Postgres on this machine knows nothing of what it will hold"},
	"internal/testdb": {
		may: []string{"migrations"}, tests: true,
		why: "a test's database is a migrated one",
	},
	"internal/history": {
		not: database, tests: true,
		why: "what callers may be told is judged without knowing how it is stored",
	},
	"internal/vulndb":  {not: database, why: "a tool of the scan for vulnerabilities knows advisories only"},
	"internal/arrows":  {why: "only a test"},
	"internal/mutants": {why: "only tests"},
	"docs":             {why: "only a test, of what the pages refer to"},
	"migrations":       {why: "the schema comes before everything that uses it"},

	"outbox": {
		may: []string{"carrier", "internal/durable", "internal/fault", "internal/groupcommit", "internal/problem"},
		why: "the life of an intent knows transactions, and no carrier by name, no caller's keys, no command",
	},
	"caller": {why: "who calls is known without knowing what for"},
	"reconcile/invoice": {
		may: []string{"carrier"}, not: slices.Concat(database, []string{"net/http"}),
		why: "an invoice is lines of money; where they come from is the reader's affair",
	},
	"reconcile/invoice/invoicetest": {
		may: []string{"carrier", "reconcile/invoice"}, not: database, tests: true,
		why: "what every dialect promises is asked of all alike, so it knows none",
	},
	"reconcile/sheet": {
		may: []string{"carrier", "reconcile/invoice"}, not: slices.Concat(database, []string{"net/http"}),
		why: "rows and fields mean the same in every dialect, so it knows none",
	},
	"reconcile/workbook": {
		may: []string{"reconcile/invoice"}, not: slices.Concat(database, []string{"net/http"}),
		why: "a workbook becomes CSV before any dialect sees it: only the command carries the library for it",
	},
	"reconcile/neutral": {
		may: []string{"carrier", "reconcile/invoice", "reconcile/sheet"}, not: slices.Concat(database, []string{"net/http"}),
		why: "one format of invoices; formats do not meet",
	},
	"reconcile/invoicegen": {
		may: []string{"carrier"}, not: slices.Concat(database, []string{"net/http", "github.com/xuri"}),
		why: "the other side of the proof shares no code with what it proves",
	},
	"reconcile": {
		may: []string{"carrier", "reconcile/invoice"}, not: slices.Concat(database, []string{"net/http"}),
		why: "judging is pure: lines and labels in, findings out",
	},
	"reconcile/report": {
		may: []string{"carrier", "reconcile", "reconcile/invoice"}, not: slices.Concat(database, []string{"net/http"}),
		why: "a report is findings and totals on paper; who found them is none of its business",
	},

	"cmd/api": {
		may: []string{
			"outbox", "caller", "carrier", "carrier/catalog",
			"internal/command", "internal/problem", "internal/service", "migrations",
		},
		why: "the API hands over to the outbox: it names no carrier and runs no job",
	},
	"cmd/worker": {
		may: []string{
			"outbox", "carrier", "carrier/catalog",
			"internal/command", "internal/service", "migrations",
		},
		why: "the worker wires the outbox to the carriers: it answers no caller",
	},
	"cmd/reconcile": {
		may: []string{
			"reconcile", "reconcile/invoice", "reconcile/neutral", "reconcile/report", "reconcile/workbook",
			"outbox", "carrier", "carrier/catalog",
			"carrier/dhl", "carrier/easypost", "carrier/fedex", "carrier/ups", "carrier/usps",
			"internal/command", "internal/service", "migrations",
		},
		why: "the command reads files and the database, and gives both to the judge",
	},
	"cmd/carriersim": {
		may: []string{"carrier/sim/simserver", "internal/command"},
		why: "the carrier in a box is a program of its own: the service is none of its business",
	},
	"model": {why: "only a test, of a model of the code"},
	"crash": {why: "the tests that break the life of an intent; nothing of them is in a program"},
	"e2e":   {why: "the end-to-end tests start programs; nothing of them is in one"},

	"cmd/dev": {
		may: []string{"internal/command", "internal/pgcluster"},
		why: "it starts programs as a person would, and does not reach into them",
	},
}

// module is the start of every import path of ours.
const module = "waybill/"

type goPackage struct {
	ImportPath string
	Imports    []string
}

// TestArrows: every package imports only what its row allows. Test files are free: they may bring
// together what production code keeps apart.
func TestArrows(t *testing.T) {
	t.Parallel()
	packages := list(t)
	require.NotEmpty(t, packages)
	for _, p := range packages {
		t.Run(p.ImportPath, func(t *testing.T) {
			t.Parallel()
			for _, complaint := range judge(p) {
				t.Error(complaint)
			}
		})
	}
}

// TestJudge: the judge does see what it is there to see.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		p    goPackage
		want string
	}{
		"ALeafUsesTheStandardLibraryOnly": {goPackage{"waybill/carrier", []string{"time", "go.uber.org/zap"}}, "go.uber.org/zap"},
		"SiblingsNeverMeet":               {goPackage{"waybill/caller", []string{"waybill/outbox"}}, "waybill/outbox"},
		"ArrowsPointDown":                 {goPackage{"waybill/carrier/sim", []string{"waybill/outbox"}}, "waybill/outbox"},
		"AdaptersKnowNoDatabase":          {goPackage{"waybill/carrier/sim", []string{"github.com/jackc/pgx/v5"}}, "pgx"},
		"TestHelpersAreForTests":          {goPackage{"waybill/outbox", []string{"github.com/stretchr/testify/require"}}, "testify"},
		"ANewPackageNeedsARow":            {goPackage{"waybill/util", nil}, "no row"},
		"WhatIsAllowedPasses":             {goPackage{"waybill/cmd/api", []string{"net/http", "waybill/outbox"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			complaints := judge(tc.p)
			if tc.want == "" {
				require.Empty(t, complaints)
				return
			}
			require.Len(t, complaints, 1)
			require.Contains(t, complaints[0], tc.want)
		})
	}
}

// list asks the go command for the module's packages.
func list(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	require.NoError(t, err)
	var packages []goPackage
	decoder := jsontext.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		err := json.UnmarshalDecode(decoder, &p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages = append(packages, p)
	}
}

// judge returns what is wrong with a package's imports.
func judge(p goPackage) []string {
	r, ok := rows[strings.TrimPrefix(p.ImportPath, module)]
	if !ok {
		return []string{p.ImportPath + " has no row in internal/arrows: say what it may import, and why"}
	}
	var complaints []string
	for _, path := range p.Imports {
		if reason := r.refuses(path); reason != "" {
			complaints = append(complaints, p.ImportPath+" must not import "+path+": "+reason)
		}
	}
	return complaints
}

// refuses returns why the import is not allowed, or nothing.
func (r row) refuses(path string) string {
	if name, ours := strings.CutPrefix(path, module); ours {
		if !r.tests && rows[name].tests {
			return "it is for tests only"
		}
		if !slices.Contains(r.may, name) {
			return r.why
		}
		return ""
	}
	first, _, _ := strings.Cut(path, "/")
	if r.leaf && strings.Contains(first, ".") {
		return r.why
	}
	if !r.tests && (path == "testing" || below(path, "github.com/stretchr/testify")) {
		return "testing code does not belong in binaries"
	}
	for _, banned := range r.not {
		if below(path, banned) {
			return r.why
		}
	}
	return ""
}

// below is true for a path and everything under it.
func below(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, parent+"/")
}
