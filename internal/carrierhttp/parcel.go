package carrierhttp

import (
	"fmt"
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

// Size is [Complaints.Sides] and, where they are good, the limit of length and girth together: the
// longest side and twice the two others.
func (c *Complaints) Size(d carrier.Dimensions, longest, girth int64) {
	before := len(*c)
	c.Sides(d, longest)
	sides := []int64{d.Length, d.Width, d.Height}
	slices.Sort(sides)
	if len(*c) == before && sides[2]+2*(sides[0]+sides[1]) > girth {
		c.Add("/dimensions_mm", fmt.Sprintf("length and girth together must be at most %d millimetres", girth))
	}
}
