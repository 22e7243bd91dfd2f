package outbox

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// FuzzSettledIDs holds that ids survive a notification whatever stands between them: anybody with a
// database session can notify, and a payload must neither stop the listener nor hide an id.
func FuzzSettledIDs(f *testing.F) {
	id := uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")
	name := base64.RawURLEncoding.EncodeToString(id[:])
	for _, seed := range []string{"", ",", name, name + "," + name, name[1:], "=" + name, "!!", strings.Repeat(name+",", 300), "\x00"} {
		f.Add(seed, id[:])
	}
	f.Fuzz(func(t *testing.T, garbage string, raw []byte) {
		found := endedIDs(garbage)
		if len(found) > strings.Count(garbage, ",")+1 {
			t.Fatalf("%d ids in %q", len(found), garbage)
		}
		id, err := uuid.FromBytes(raw)
		if err != nil {
			return
		}
		name := base64.RawURLEncoding.EncodeToString(id[:])
		want := slices.Concat(found, []uuid.UUID{id}, found)
		if got := endedIDs(garbage + "," + name + "," + garbage); !slices.Equal(got, want) {
			t.Fatalf("%q hides %s: %v", garbage, id, got)
		}
	})
}
