package invoicegen

import (
	"fmt"
	"strings"
)

// person is somebody who does not exist.
type person struct {
	company, name, street, city, zip string
}

var syllables = []string{
	"zör", "quel", "wim", "bax", "thô", "fyn", "jück", "vel", "mœr", "dax", "ilv", "añar", "gwyx", "plö", "sziv", "häk",
}

// person makes somebody up and remembers what to search outputs for. The names hold letters of
// cp1252 beyond ASCII, a comma, quotation marks and the delimiter of the other locale.
func (b *builder) person() person {
	word := func() string {
		var out strings.Builder
		for range 3 {
			out.WriteString(syllables[b.chance.IntN(len(syllables))])
		}
		s := out.String()
		return strings.ToUpper(s[:1]) + s[1:]
	}
	b.people++
	mark := fmt.Sprintf("%s%04dX%d", "Qz", b.Options.Slot, b.people)
	p := person{
		company: word() + ", " + word() + " \"" + mark + "c\" & Söhne; GmbH",
		name:    word() + " " + mark + "n",
		street:  fmt.Sprintf("%d %s %ss-Gasse", 1+b.chance.IntN(300), word(), mark),
		city:    word() + " " + mark + "t",
		zip:     fmt.Sprintf("%05d", b.chance.IntN(100_000)),
	}
	if b.chance.IntN(6) == 0 {
		p.street = strings.Replace(p.street, " ", "\n", 1)
	}
	b.Canaries = append(b.Canaries, mark+"c", mark+"n", mark+"s", mark+"t")
	return p
}
