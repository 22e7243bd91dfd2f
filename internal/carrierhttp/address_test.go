package carrierhttp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	limits := AddressLimits{Line: 4, PostalCode: 3, Phone: 2, Email: 1, WithState: []string{"US"}}
	for name, tt := range map[string]struct {
		address carrier.Address
		want    []string // pointers
	}{
		"Least": {carrier.Address{Name: "n", Street1: "s", City: "c", PostalCode: "p", Country: "DE"}, nil},
		"Longest": {
			carrier.Address{
				Name: "1234", Company: "1234", Street1: "1234", Street2: "1234", City: "1234", State: "1234",
				PostalCode: "123", Phone: "12", Email: "1", Country: "US",
			}, nil,
		},
		"TooLong": {
			carrier.Address{
				Name: "12345", Company: "12345", Street1: "12345", Street2: "12345", City: "12345", State: "12345",
				PostalCode: "1234", Phone: "123", Email: "12", Country: "USA",
			},
			[]string{
				"/to/name", "/to/company", "/to/street1", "/to/street2", "/to/city", "/to/state",
				"/to/postal_code", "/to/phone", "/to/email", "/to/country",
			},
		},
		"None":    {carrier.Address{}, []string{"/to/name", "/to/street1", "/to/city", "/to/postal_code", "/to/country"}},
		"NoState": {carrier.Address{Name: "n", Street1: "s", City: "c", PostalCode: "p", Country: "US"}, []string{"/to/state"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c Complaints
			c.Address("/to", tt.address, limits)
			var pointers []string
			for _, complaint := range c {
				pointers = append(pointers, complaint.Pointer)
			}
			require.Equal(t, tt.want, pointers)
		})
	}
}
