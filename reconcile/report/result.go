package report

// Result is what a run has to say, in a word.
type Result string

// The results. Distrusted means that an input is incomplete or does not foot: the rest may follow
// from it.
const (
	Clean      Result = "clean"
	Findings   Result = "findings"
	Distrusted Result = "inputs_not_to_be_relied_on"
)

// ExitStatus is the result as a program's exit status. A night's job acts on it, so it is part of
// the contract.
func (r Result) ExitStatus() int {
	switch r {
	case Clean:
		return 0
	case Findings:
		return 1
	default:
		return 3
	}
}
