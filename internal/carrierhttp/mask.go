package carrierhttp

import (
	"slices"
	"strings"
	"unicode"
)

const redacted = "(redacted)"

// mask marks what of a text is not to be shown. Marks may overlap: all that is marked goes, so that the
// order in which values are looked for does not matter, and a short one leaves no rest of a long one.
type mask struct {
	text   string
	runes  []rune // folded
	starts []int  // where in text each rune begins
	hidden []bool
}

func newMask(text string) *mask {
	m := &mask{text: text, runes: make([]rune, 0, len(text)), starts: make([]int, 0, len(text))}
	for at, r := range text {
		m.runes = append(m.runes, foldRune(r))
		m.starts = append(m.starts, at)
	}
	m.hidden = make([]bool, len(m.runes))
	return m
}

// fold makes texts equal that differ in upper and lower case only.
func fold(s string) []rune {
	folded := []rune(s)
	for i, r := range folded {
		folded[i] = foldRune(r)
	}
	return folded
}

// foldRune is the least of all that are one letter to Unicode.
func foldRune(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return least
}

// hide marks a value wherever it stands, also within a word.
func (m *mask) hide(value string) {
	wanted := fold(strings.TrimSpace(value))
	for at := range m.runes {
		if m.holds(at, wanted) {
			m.mark(at, at+len(wanted))
		}
	}
}

// hideWords marks words where they stand alone, and tells whether anything new was marked.
func (m *mask) hideWords(words [][]rune) bool {
	found := false
	for at := range m.runes {
		if !m.edge(at - 1) {
			continue
		}
		for _, word := range words {
			if m.holds(at, word) && m.edge(at+len(word)) && m.mark(at, at+len(word)) {
				found = true
			}
		}
	}
	return found
}

// minDigits is how many digits make a telephone number.
const minDigits = 5

// hideNumber marks the digits of a telephone number, whatever is written between them. A number with the
// country's code may be told without it.
func (m *mask) hideNumber(phone string) {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, phone)
	if len(digits) < minDigits {
		return
	}
	numbers := []string{digits}
	if len(digits) == len("15035550142") && digits[0] == '1' {
		numbers = append(numbers, digits[1:]) // North America
	}
	for at := range m.runes {
		for _, number := range numbers {
			m.mark(at, m.numberEnd(at, number))
		}
	}
}

// numberEnd is where the number ends that begins here, with a digit; it is here if there is none.
func (m *mask) numberEnd(at int, digits string) int {
	end := at
	for i := range len(digits) {
		for i > 0 && end < len(m.runes) && strings.ContainsRune(" -.()/\u00a0", m.runes[end]) {
			end++
		}
		if end == len(m.runes) || m.runes[end] != rune(digits[i]) {
			return at
		}
		end++
	}
	return end
}

func (m *mask) holds(at int, wanted []rune) bool {
	return len(wanted) > 0 && len(m.runes)-at >= len(wanted) && slices.Equal(m.runes[at:at+len(wanted)], wanted)
}

// edge tells whether a word ends before this place, or begins behind it.
func (m *mask) edge(at int) bool {
	return at < 0 || at >= len(m.runes) || m.hidden[at] || notInWord(m.runes[at])
}

// mark tells whether it hides anything that was not hidden before.
func (m *mask) mark(from, to int) bool {
	anew := false
	for i := from; i < to; i++ {
		anew = anew || !m.hidden[i]
		m.hidden[i] = true
	}
	return anew
}

// String is the text without what is marked.
func (m *mask) String() string {
	var b strings.Builder
	for i, at := range m.starts {
		switch {
		case !m.hidden[i]:
			end := len(m.text)
			if i+1 < len(m.starts) {
				end = m.starts[i+1]
			}
			b.WriteString(m.text[at:end])
		case i == 0 || !m.hidden[i-1]:
			b.WriteString(redacted)
		}
	}
	return b.String()
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func letters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}
