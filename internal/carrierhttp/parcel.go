package carrierhttp

import (
	"slices"

	"waybill/carrier"
)

// Weight complains of grams outside of 1 to most.
func (c *Complaints) Weight(grams, most int64) {
	c.Between("/weight_g", grams, 1, most, "grams")
}

// Sides complains of millimetres outside of 1 to longest.
func (c *Complaints) Sides(d carrier.Dimensions, longest int64) {
	c.Between("/dimensions_mm/length", d.Length, 1, longest, "millimetres")
	c.Between("/dimensions_mm/width", d.Width, 1, longest, "millimetres")
	c.Between("/dimensions_mm/height", d.Height, 1, longest, "millimetres")
}

// Girth is the most that length and girth together may be: the longest side and twice the two others.
type Girth struct {
	// Sent is how many steps of the carrier's a side is sent as, and Most is in the same steps.
	Sent func(mm int64) int64
	Most int64

	// Name says the limit, e.g. "130 inches".
	Name string
}

// Size is [Complaints.Sides] and, where they are good, the limit of length and girth together. It is held
// against what is sent: three sides that were rounded up are larger than the parcel.
func (c *Complaints) Size(d carrier.Dimensions, longest int64, girth Girth) {
	before := len(*c)
	c.Sides(d, longest)
	if len(*c) > before {
		return
	}
	sides := []int64{girth.Sent(d.Length), girth.Sent(d.Width), girth.Sent(d.Height)}
	slices.Sort(sides)
	if sides[2]+2*(sides[0]+sides[1]) > girth.Most {
		c.Add("/dimensions_mm", "length and girth together must be at most "+girth.Name)
	}
}
