package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// ErrUndecided means that the time was up before an order was found or excluded. It is no pass.
var ErrUndecided = errors.New("history: undecided in the time given")

// Check returns nil if some order of the operations explains every answer. Otherwise it names the
// smallest group of operations, connected by keys and parcels, that nothing explains.
func Check(ops []Operation, limit time.Duration) error {
	var wrong []string
	undecided := false
	for _, group := range groups(ops) {
		switch porcupine.CheckOperationsTimeout(model, group, limit) {
		case porcupine.Ok:
		case porcupine.Unknown:
			undecided = true
		case porcupine.Illegal:
			wrong = append(wrong, describe(group))
		}
	}
	switch {
	case len(wrong) > 0:
		slices.SortFunc(wrong, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
		return fmt.Errorf("history: no order explains the answers of %d groups of keys; the smallest:\n%s",
			len(wrong), wrong[0])
	case undecided:
		return ErrUndecided
	default:
		return nil
	}
}

var model = porcupine.Model{
	Init: func() any { return State{} },
	Step: func(state, input, output any) (bool, any) {
		next, ok := state.(State).Step(input.(Request), output.(Answer))
		return ok, next
	},
	Equal: func(a, b any) bool { return a.(State).Equal(b.(State)) },
}

// groups parts a history where neither a key nor a parcel connects: each part can be checked alone.
func groups(ops []Operation) [][]porcupine.Operation {
	parent := map[string]string{}
	var root func(string) string
	root = func(name string) string {
		p, known := parent[name]
		if !known || p == name {
			parent[name] = name
			return name
		}
		p = root(p)
		parent[name] = p
		return p
	}
	for _, op := range ops {
		if op.Parcel != "" {
			parent[root(op.slot())] = root("parcel " + op.Parcel)
		}
	}
	byRoot := map[string]int{}
	var parts [][]porcupine.Operation
	for _, op := range ops {
		r := root(op.slot())
		n, known := byRoot[r]
		if !known {
			n = len(parts)
			byRoot[r] = n
			parts = append(parts, nil)
		}
		parts[n] = append(parts[n], porcupine.Operation{
			ClientId: op.Client, Input: op.Request, Output: op.Answer, Call: op.Begin, Return: op.End,
		})
	}
	return parts
}

func (r Request) slot() string { return "key " + r.Caller + " " + r.Key }

// describe lists a group in the order in which its calls began.
func describe(group []porcupine.Operation) string {
	slices.SortFunc(group, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var b strings.Builder
	for _, op := range group {
		end := "never"
		if op.Return != Forever {
			end = time.Duration(op.Return).String()
		}
		fmt.Fprintf(&b, "  client %d, %s to %s: %+v -> %+v\n", op.ClientId, time.Duration(op.Call), end, op.Input, op.Output)
	}
	return b.String()
}
