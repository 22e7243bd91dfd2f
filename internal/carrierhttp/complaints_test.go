package carrierhttp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestComplaints(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		check func(*Complaints)
		want  string // empty for none
	}{
		"Between":       {func(c *Complaints) { c.Between("/p", 3, 1, 3, "grams") }, ""},
		"TooMuch":       {func(c *Complaints) { c.Between("/p", 4, 1, 3, "grams") }, "must be from 1 to 3 grams"},
		"OneOf":         {func(c *Complaints) { c.OneOf("/p", "a", "a", "b") }, ""},
		"AnotherOne":    {func(c *Complaints) { c.OneOf("/p", "c", "a", "b") }, "must be one of a, b"},
		"Text":          {func(c *Complaints) { c.Text("/p", " "+strings.Repeat("é", 5)+" ", 5) }, ""},
		"NoText":        {func(c *Complaints) { c.Text("/p", "", 5) }, ""},
		"LongText":      {func(c *Complaints) { c.Text("/p", "123456", 5) }, "must be at most 5 characters"},
		"OtherScript":   {func(c *Complaints) { c.Text("/p", "東京", 5) }, "must be printable Latin-1 text"},
		"Control":       {func(c *Complaints) { c.Text("/p", "A\nB", 5) }, "must be printable Latin-1 text"},
		"NotUTF8":       {func(c *Complaints) { c.Text("/p", "A\xff", 5) }, "must be printable Latin-1 text"},
		"Required":      {func(c *Complaints) { c.Required("/p", "x", 5) }, ""},
		"Blank":         {func(c *Complaints) { c.Required("/p", "  ", 5) }, "is required"},
		"RequiredLong":  {func(c *Complaints) { c.Required("/p", "123456", 5) }, "must be at most 5 characters"},
		"Country":       {func(c *Complaints) { c.Country("/p", "US") }, ""},
		"CountryByName": {func(c *Complaints) { c.Country("/p", "USA") }, "must be an ISO 3166-1 alpha-2 code such as US"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c Complaints
			tt.check(&c)
			if tt.want == "" {
				require.Empty(t, c)
				return
			}
			require.Len(t, c, 1)
			require.Equal(t, "/p", c[0].Pointer)
			require.Equal(t, tt.want, c[0].Detail)
		})
	}
}
