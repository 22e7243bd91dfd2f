//go:build faultinject

package fault

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Action is what happens at a point.
type Action string

// The actions.
const (
	none Action = ""

	// Kill ends the process without a word to anyone.
	Kill Action = "kill"

	// Error fails the step that would follow: it does not happen.
	Error Action = "error"

	// ErrorAfter lets the step that follows happen, and loses its answer: the next point fails.
	ErrorAfter Action = "error-after"

	// Pause stops the process until somebody wakes it.
	Pause Action = "pause"

	// Delay waits a moment.
	Delay Action = "delay"

	// Panic panics.
	Panic Action = "panic"
)

// Fault is one action at the given hit, the first being 1, of one point.
type Fault struct {
	Point  string
	Hit    int
	Action Action
	For    time.Duration // of a Delay
}

// Parse reads faults as the environment spells them: point=action, separated by commas. Behind the
// action may stand @n for the nth hit, and behind that :duration for a delay:
//
//	claim.before_commit=kill,complete.after_commit=delay@2:150ms
func Parse(text string) ([]Fault, error) {
	var faults []Fault
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		f, err := parseOne(part)
		if err != nil {
			return nil, fmt.Errorf("reading fault %q: %w", part, err)
		}
		faults = append(faults, f)
	}
	return faults, nil
}

func parseOne(text string) (Fault, error) {
	point, rest, found := strings.Cut(text, "=")
	if !found || point == "" {
		return Fault{}, fmt.Errorf("expected point=action")
	}
	f := Fault{Point: point, Hit: 1}
	rest, duration, timed := strings.Cut(rest, ":")
	if timed {
		var err error
		if f.For, err = time.ParseDuration(duration); err != nil {
			return Fault{}, err
		}
	}
	action, hit, counted := strings.Cut(rest, "@")
	if counted {
		var err error
		if f.Hit, err = strconv.Atoi(hit); err != nil {
			return Fault{}, err
		}
	}
	f.Action = Action(action)
	switch f.Action {
	case Kill, Error, ErrorAfter, Pause, Delay, Panic:
		return f, nil
	default:
		return Fault{}, fmt.Errorf("unknown action %q", action)
	}
}
