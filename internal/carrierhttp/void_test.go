package carrierhttp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

func TestVoids(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		got, want carrier.VoidResult
	}{
		"Unknown":    {VoidUnknown("c", "a\nb"), carrier.VoidResult{State: carrier.VoidUnknown, Code: "c", Message: carrier.Sanitise("a\nb")}},
		"NotSent":    {VoidNotSent(), carrier.VoidResult{State: carrier.VoidUnknown, Code: CodeNotSent, Message: "the request could not be prepared"}},
		"NotOffered": {VoidNotOffered(), carrier.VoidResult{State: carrier.VoidRefused, Code: "not_offered", Message: "this carrier voids no labels"}},
		"OfNoLabel":  {VoidOfNoLabel("an id"), carrier.VoidResult{State: carrier.VoidRefused, Code: "not_a_label_id", Message: "not an id of this carrier"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.got)
		})
	}
}
