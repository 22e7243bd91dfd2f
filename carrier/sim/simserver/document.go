package simserver

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"strings"
)

// format is what a label is printed as.
type format string

// printers draw a label. All that a document bears is the tracking number and the reference: no
// address, so that labels can be shown and kept without care.
var printers = map[format]func(Entry) []byte{
	"pdf": printPDF,
	"png": printPNG,
	"zpl": printZPL,
}

func printZPL(e Entry) []byte {
	return fmt.Appendf(nil, "^XA\n^FO50,50^BY2^BCN,120,Y,N,N^FD%s^FS\n^FO50,240^A0N,36,36^FD%s^FS\n^XZ\n",
		e.TrackingNo, e.Reference)
}

// printPDF writes the smallest file that viewers open: one page of 4 by 6 inches, one standard
// font, and a table of offsets that is right.
func printPDF(e Entry) []byte {
	text := fmt.Sprintf("BT /F1 18 Tf 24 380 Td (%s) Tj 0 -30 Td (%s) Tj ET", e.TrackingNo, e.Reference)
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 288 432] /Contents 4 0 R" +
			" /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(text), text),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	var out bytes.Buffer
	var table strings.Builder
	out.WriteString("%PDF-1.4\n")
	for i, object := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n%s", len(objects)+1, table.String())
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return out.Bytes()
}

// printPNG draws the tracking number as bars, one a bit, and says both numbers in a text chunk.
func printPNG(e Entry) []byte {
	const barWidth, height, margin = 2, 80, 10
	bits := len(e.TrackingNo) * 8
	img := image.NewPaletted(
		image.Rect(0, 0, bits*barWidth+2*margin, height+2*margin),
		color.Palette{color.White, color.Black},
	)
	for bit := range bits {
		if e.TrackingNo[bit/8]>>(7-bit%8)&1 == 0 {
			continue
		}
		for x := range barWidth {
			for y := range height {
				img.SetColorIndex(margin+bit*barWidth+x, margin+y, 1)
			}
		}
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&out, img); err != nil {
		panic(fmt.Sprintf("simserver: encoding image: %v", err)) // a buffer takes everything
	}
	// The signature (8 bytes) and the header chunk (25) come first; text may follow anywhere.
	const header = 8 + 25
	file := out.Bytes()
	text := textChunk("Description", e.TrackingNo+" "+e.Reference)
	return bytes.Join([][]byte{file[:header], text, file[header:]}, nil)
}

// textChunk is a tEXt chunk of the PNG specification: length, type, keyword, NUL, text, checksum.
func textChunk(keyword, text string) []byte {
	data := []byte("tEXt" + keyword + "\x00" + text)
	//nolint:gosec // G115: a tracking number and a reference, far from 4 GiB.
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)-len("tEXt")))
	chunk = append(chunk, data...)
	return binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(data))
}
