//go:build overload

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// figures are what a load saw.
type figures struct {
	sent, accepted, refused, other int

	// offered and goodput are requests a second.
	offered, goodput float64

	// mute are refusals without a Retry-After.
	mute int

	// accepts and refusals are how long answers took, ascending: of what is accepted from when it was
	// meant to be sent, of what is refused from when it was.
	accepts, refusals []time.Duration

	// lates are by how much requests were sent later than they should have been, ascending.
	lates []time.Duration
}

// count sums up the shots that were meant for a time, of one source or of all (-1).
func count(shots []shot, from, to time.Duration, source int) figures {
	var f figures
	for _, s := range shots {
		if s.meant < from || s.meant >= to || source >= 0 && s.source != source {
			continue
		}
		f.sent++
		f.lates = append(f.lates, s.late)
		switch s.status {
		case http.StatusAccepted:
			f.accepted++
			f.accepts = append(f.accepts, s.took)
		case http.StatusServiceUnavailable, http.StatusTooManyRequests:
			f.refused++
			f.refusals = append(f.refusals, s.took-s.late)
			if !s.retryAfter {
				f.mute++
			}
		default:
			f.other++
		}
	}
	slices.Sort(f.accepts)
	slices.Sort(f.lates)
	slices.Sort(f.refusals)
	seconds := (to - from).Seconds()
	f.offered, f.goodput = float64(f.sent)/seconds, float64(f.accepted)/seconds
	return f
}

// quantile is the value below which the part q of sorted values lies; 0 of none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// verdicts are the rows of the table at the end.
type verdicts struct {
	rows   strings.Builder
	missed []string
}

// row notes a requirement, what was seen, and whether that will do.
func (v *verdicts) row(what, required string, seen any, met bool) {
	verdict := "met"
	if !met {
		verdict = "NOT MET"
		v.missed = append(v.missed, what)
	}
	fmt.Fprintf(&v.rows, "  %-56s %-40s %-32v %s\n", what, required, seen, verdict)
}

// note notes what is good to know.
func (v *verdicts) note(what string, seen any) { fmt.Fprintf(&v.rows, "  %-97s %v\n", what, seen) }

// loadAverage is how many processes the machine had to run in the last minute, where that can be read.
// Whatever it does besides is in every figure.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg") // Elsewhere it is left out.
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// report prints the table, and fails the test if a requirement was not met.
func (o *overload) report() {
	o.t.Helper()
	for _, program := range []string{"api", "worker"} {
		o.row("resident memory of the "+program+" at most", "256 MiB",
			fmt.Sprintf("%d MiB", o.peak[program]>>20), o.peak[program] < residentMost)
	}
	o.note("the load and the API get a processor before the others", o.weighted)
	o.note("load average of the machine before it began; now", o.loadBefore+"; "+loadAverage())
	text := fmt.Sprintf("overload, %s at twice the capacity; load, API, worker, carrier and Postgres share %d processors:\n%s",
		o.duration, runtime.NumCPU(), o.rows.String())
	o.t.Log("\n" + text)
	require.NoError(o.t, os.WriteFile(filepath.Join(o.dir, "table.txt"), []byte(text), 0o600))
	if len(o.missed) > 0 {
		o.t.Errorf("not met: %s", strings.Join(o.missed, "; "))
	}
}
