package model_test

import (
	"bufio"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// exploration is what an explorer, as Spin generates them, said.
type exploration struct {
	states int
	broken bool

	// unreached are the steps that were never taken, as Spin names them.
	unreached []string
}

var (
	panErrors    = regexp.MustCompile(`(?m)^State-vector .* errors: (\d+)$`)
	panStates    = regexp.MustCompile(`(?m)^ *(\d+) states, stored`)
	panUnreached = regexp.MustCompile(`^\t\S+:\d+, state \d+, "(.*)"$`)

	// panShort is said of an exploration that left something out.
	panShort = regexp.MustCompile(`(?i)search depth too small|out of memory|truncated|resource|VECTORSZ|reached -[A-Z]`)
)

// readPan reads an explorer's output. What is not a whole exploration, or its end at a broken law, is
// an error.
func readPan(out string) (exploration, error) {
	var e exploration
	if said := panShort.FindString(out); said != "" {
		return e, fmt.Errorf("exploration is not complete: %s", said)
	}
	failed, stored := panErrors.FindStringSubmatch(out), panStates.FindStringSubmatch(out)
	if failed == nil || stored == nil {
		return e, errors.New("explorer did not say how it ended")
	}
	e.broken = failed[1] != "0"
	e.states, _ = strconv.Atoi(stored[1]) // digits
	if !e.broken && strings.Contains(out, "Search not completed") {
		return e, errors.New("exploration is not complete")
	}
	for lines := bufio.NewScanner(strings.NewReader(out)); lines.Scan(); {
		if step := panUnreached.FindStringSubmatch(lines.Text()); step != nil && step[1] != "-end-" {
			e.unreached = append(e.unreached, strings.TrimSpace(lines.Text()))
		}
	}
	return e, nil
}

var trailEnd = regexp.MustCompile(`(?m)^spin: \S+:(\d+), Error: assertion violated$`)

var asserted = regexp.MustCompile(`assert\((\w+)`)

// readTrail finds in a replayed trail which law it broke: the assertion at its end names it.
func readTrail(trail, source string) (string, error) {
	end := trailEnd.FindStringSubmatch(trail)
	if end == nil {
		return "", errors.New("trail does not end at an assertion")
	}
	n, _ := strconv.Atoi(end[1]) // digits
	lines := strings.Split(source, "\n")
	if n < 1 || n > len(lines) {
		return "", fmt.Errorf("trail ends at line %d of %d", n, len(lines))
	}
	law := asserted.FindStringSubmatch(lines[n-1])
	if law == nil {
		return "", fmt.Errorf("line %d asserts no law: %s", n, lines[n-1])
	}
	return law[1], nil
}

const (
	panWhole = "State-vector 92 byte, depth reached 300, errors: 0\n   138962 states, stored\n"
	panEnd   = "unreached in proctype Worker\n\tintent.pml:500, state 300, \"-end-\"\n\t(1 of 300 states)\n"
)

func TestReadPan(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		out  string
		want exploration
		err  string
	}{
		"Whole":  {panWhole + panEnd, exploration{states: 138962}, ""},
		"Broken": {"Warning: Search not completed\n" + strings.Replace(panWhole, "s: 0", "s: 1", 1), exploration{states: 138962, broken: true}, ""},
		"AStepIsNeverTaken": {
			panWhole + "\tintent.pml:183, state 29, \"state = in_doubt\"\n" + panEnd,
			exploration{states: 138962, unreached: []string{`intent.pml:183, state 29, "state = in_doubt"`}},
			"",
		},
		"TooDeep":     {"error: max search depth too small\n" + panWhole, exploration{}, "depth too small"},
		"OutOfMemory": {"pan: out of memory\n" + panWhole, exploration{}, "out of memory"},
		"Interrupted": {"Interrupted\nWarning: Search not completed\n" + panWhole, exploration{}, "not complete"},
		"Crashed":     {"Segmentation fault\n", exploration{}, "did not say"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readPan(tc.out)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestReadTrail(t *testing.T) {
	t.Parallel()
	const source = "inline laws() {\n\tassert(CHARGED_ONCE);\n}\n"
	law, err := readTrail("spin: m.pml:2, Error: assertion violated\n", source)
	require.NoError(t, err)
	require.Equal(t, "CHARGED_ONCE", law)
	_, err = readTrail("spin: m.pml:1, Error: assertion violated\n", source)
	require.ErrorContains(t, err, "no law")
	_, err = readTrail("spin: trail ends after 9 steps\n", source)
	require.ErrorContains(t, err, "does not end")
}
