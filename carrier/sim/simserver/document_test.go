package simserver

import (
	"bytes"
	"fmt"
	"image/png"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDocumentsBearTheirNumbers(t *testing.T) {
	t.Parallel()
	e := Entry{TrackingNo: "SIM000000001ABCDEF", Reference: "REF1"}
	for format, print := range printers {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			content := print(e)
			require.Contains(t, string(content), e.TrackingNo)
			require.Contains(t, string(content), e.Reference)
			require.Equal(t, content, print(e), "the same label is printed alike")
		})
	}
}

func TestPNGDecodes(t *testing.T) {
	t.Parallel()
	img, err := png.Decode(bytes.NewReader(printPNG(Entry{TrackingNo: "SIM1", Reference: "REF1"})))
	require.NoError(t, err)
	require.Equal(t, 4*8*2+20, img.Bounds().Dx())
}

func TestPDFTableOfOffsets(t *testing.T) {
	t.Parallel()
	file := printPDF(Entry{TrackingNo: "SIM1", Reference: "REF1"})
	offsets := regexp.MustCompile(`(?m)^(\d{10}) 00000 n $`).FindAllSubmatch(file, -1)
	require.Len(t, offsets, 5)
	for i, match := range offsets {
		at, err := strconv.Atoi(string(match[1]))
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(file[at:], fmt.Appendf(nil, "%d 0 obj\n", i+1)))
	}
	start := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(file)
	require.NotNil(t, start)
	at, err := strconv.Atoi(string(start[1]))
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(file[at:], []byte("xref\n")))
}

func TestPrice(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		service string
		weightG int64
		want    int64
	}{
		"Gram":             {"ground", 1, 600},
		"Kilogram":         {"ground", 1000, 600},
		"KilogramAndAGram": {"ground", 1001, 645},
		"Heaviest":         {"overnight", 70_000, 2900 + 69*150},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, order{Service: tt.service, WeightG: tt.weightG}.price())
		})
	}
}
