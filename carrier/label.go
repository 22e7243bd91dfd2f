package carrier

// Label is what was bought, in the carrier's words and our units.
type Label struct {
	// ID is the carrier's own id of the label.
	ID         string
	TrackingNo string

	// Reference is ours, as the carrier echoed it.
	Reference string
	Service   string
	WeightG   int64
	Cost      Money

	// Document may be empty: a label with a tracking number is bought, printed or not.
	Document Document

	// ShipTo is what the carrier says the label was made for, where it says so: a look-up
	// compares it before adopting a label.
	ShipTo *Address

	// Voided is true if the carrier shows the label as cancelled.
	Voided bool
}

// Money is an amount in minor units (cents) of an ISO 4217 currency. Amounts of different
// currencies are never added.
type Money struct {
	Cents    int64
	Currency string
}

// Format is the file format of a label's document.
type Format string

// The formats a caller may ask for.
const (
	PDF Format = "pdf"
	PNG Format = "png"
	ZPL Format = "zpl"
)

// ContentType is the media type under which a document of this format is served.
func (f Format) ContentType() string {
	switch f {
	case PDF:
		return "application/pdf"
	case PNG:
		return "image/png"
	case ZPL:
		return "application/zpl"
	default:
		return "application/octet-stream"
	}
}

// Document is the printable label.
type Document struct {
	Format  Format
	Content []byte
}
