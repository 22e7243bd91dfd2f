package carrierhttp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

func TestParcel(t *testing.T) {
	t.Parallel()
	limit := func(most int64) Girth {
		return Girth{Sent: func(mm int64) int64 { return mm }, Most: most, Name: "so much"}
	}
	roundedUp := Girth{Sent: func(mm int64) int64 { return (mm + 9) / 10 }, Most: 13, Name: "13 centimetres"}
	for name, tt := range map[string]struct {
		check func(*Complaints)
		want  []string // pointers and details by turns
	}{
		"Weight":       {func(c *Complaints) { c.Weight(5, 5) }, nil},
		"Weightless":   {func(c *Complaints) { c.Weight(0, 5) }, []string{"/weight_g", "must be from 1 to 5 grams"}},
		"Format":       {func(c *Complaints) { c.Format(carrier.ZPL) }, nil},
		"OtherFormat":  {func(c *Complaints) { c.Format("svg") }, []string{"/label_format", "must be one of pdf, png, zpl"}},
		"Sides":        {func(c *Complaints) { c.Sides(carrier.Dimensions{Length: 1, Width: 9, Height: 9}, 9) }, nil},
		"Flat":         {func(c *Complaints) { c.Sides(carrier.Dimensions{Length: 1, Width: 1}, 9) }, []string{"/dimensions_mm/height", "must be from 1 to 9 millimetres"}},
		"LargestGirth": {func(c *Complaints) { c.Size(carrier.Dimensions{Length: 2, Width: 8, Height: 1}, 9, limit(14)) }, nil},
		"GirthTooLarge": {
			func(c *Complaints) { c.Size(carrier.Dimensions{Length: 2, Width: 8, Height: 1}, 9, limit(13)) },
			[]string{"/dimensions_mm", "length and girth together must be at most so much"},
		},
		"GirthAsSent": {func(c *Complaints) { c.Size(carrier.Dimensions{Length: 30, Width: 30, Height: 20}, 90, roundedUp) }, nil},
		"GirthRoundedUp": {
			func(c *Complaints) { c.Size(carrier.Dimensions{Length: 30, Width: 31, Height: 21}, 90, roundedUp) },
			[]string{"/dimensions_mm", "length and girth together must be at most 13 centimetres"},
		},
		"SidesComeFirst": {
			func(c *Complaints) { c.Size(carrier.Dimensions{Length: 2, Width: 10, Height: 1}, 9, limit(13)) },
			[]string{"/dimensions_mm/width", "must be from 1 to 9 millimetres"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c Complaints
			tt.check(&c)
			var said []string
			for _, complaint := range c {
				said = append(said, complaint.Pointer, complaint.Detail)
			}
			require.Equal(t, tt.want, said)
		})
	}
}
