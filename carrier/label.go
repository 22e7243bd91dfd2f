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

	// WeightStepG is by how much WeightG may differ from what was ordered, because the carrier
	// weighs in steps of its own: 0 if it weighs in grams.
	WeightStepG int64

	// Document may be empty: a label with a tracking number is bought, printed or not.
	Document Document

	// ShipTo is what the carrier says the label was made for, where it says so: a look-up
	// compares it before adopting a label.
	ShipTo *Address

	// Voided is true if the carrier shows the label as cancelled.
	Voided bool
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
