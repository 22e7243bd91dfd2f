package carrierhttp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"waybill/carrier"
)

// Complaints collects what a carrier's own limits have against a shipment, in the order of the
// request's members. A detail never repeats the value: it is personal data.
type Complaints []carrier.FieldError

// Add appends one complaint.
func (c *Complaints) Add(pointer, detail string) {
	*c = append(*c, carrier.FieldError{Pointer: pointer, Detail: detail})
}

// Between complains of a number outside of the limits, which are in the unit.
func (c *Complaints) Between(pointer string, value, least, most int64, unit string) {
	if value < least || value > most {
		c.Add(pointer, fmt.Sprintf("must be from %d to %d %s", least, most, unit))
	}
}

// OneOf complains of a value that is not in the list.
func (c *Complaints) OneOf(pointer, value string, list ...string) {
	if !slices.Contains(list, value) {
		c.Add(pointer, "must be one of "+strings.Join(list, ", "))
	}
}

// Text complains of text outside of the printable part of ISO 8859-1, which is what label printers
// know, and of more characters than the carrier takes. Spaces around it do not count, and are not
// sent.
func (c *Complaints) Text(pointer, value string, longest int) {
	switch {
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unprintable):
		c.Add(pointer, "must be printable Latin-1 text")
	case utf8.RuneCountInString(strings.TrimSpace(value)) > longest:
		c.Add(pointer, fmt.Sprintf("must be at most %d characters", longest))
	}
}

// Required is [Complaints.Text] of what must be there.
func (c *Complaints) Required(pointer, value string, longest int) {
	if strings.TrimSpace(value) == "" {
		c.Add(pointer, "is required")
		return
	}
	c.Text(pointer, value, longest)
}

var countryPattern = regexp.MustCompile(`^[A-Z]{2}$`)

// Country complains of what is not a country's code.
func (c *Complaints) Country(pointer, value string) {
	if !countryPattern.MatchString(value) {
		c.Add(pointer, "must be an ISO 3166-1 alpha-2 code such as US")
	}
}

// Format complains of a label that is none of those a caller may ask for.
func (c *Complaints) Format(f carrier.Format) {
	c.OneOf("/label_format", string(f), string(carrier.PDF), string(carrier.PNG), string(carrier.ZPL))
}

func unprintable(r rune) bool {
	return r < 0x20 || (r > 0x7e && r < 0xa0) || r > 0xff
}
