package sheet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"

	"waybill/reconcile/invoice"
)

// maxRow bounds one row. A quotation mark that is never closed makes the rest of the file one row: it
// must not be read into memory.
const maxRow = 64 << 10

var (
	byteOrderMark = []byte("\xef\xbb\xbf")

	// notText are the first bytes of files that people send for CSV, with what to do about each.
	notText = []struct{ start, advice string }{
		{"\xff\xfe", "the file is UTF-16: save it as \"CSV UTF-8\""},
		{"\xfe\xff", "the file is UTF-16: save it as \"CSV UTF-8\""},
		{"PK\x03\x04", "the file is a ZIP archive: unpack it first"},
		{"\xd0\xcf\x11\xe0", "the file is a workbook of Excel before 2007: fetch it as CSV, or save it as XLSX"},
		{"%PDF", "the file is a PDF: fetch the carrier's data file, not the printed invoice"},
		{"\x1f\x8b", "the file is compressed: unpack it first"},
	}
)

// refuseForeign tells text from what is none, and takes the byte order mark away.
func refuseForeign(r *io.Reader) error {
	buffered := bufio.NewReader(*r)
	head, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return fileError(err)
	}
	for _, f := range notText {
		if bytes.HasPrefix(head, []byte(f.start)) {
			return &invoice.FileError{Fault: invoice.FileUnreadable, Advice: f.advice}
		}
	}
	if bytes.HasPrefix(head, byteOrderMark) {
		// These three bytes were just seen.
		_, _ = buffered.Discard(len(byteOrderMark))
	}
	*r = buffered
	return nil
}

// decoder makes UTF-8 of a file that is UTF-8 or Windows-1252. The first character beyond ASCII decides
// for the whole file: what came before it is the same in both. A file that breaks its own rule later is
// passed on as it is, so that the field shows up as damaged.
type decoder struct {
	decided bool
	western bool
}

var _ transform.Transformer = (*decoder)(nil)

// Reset implements [transform.Transformer].
func (d *decoder) Reset() { *d = decoder{} }

// Transform implements [transform.Transformer].
func (d *decoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	if !d.decided {
		n := copy(dst, src[:asciiPrefix(src)])
		nDst, nSrc, src = n, n, src[n:]
		switch {
		case len(src) == 0:
			return nDst, nSrc, nil
		case src[0] < utf8.RuneSelf:
			return nDst, nSrc, transform.ErrShortDst
		case !utf8.FullRune(src) && !atEOF:
			return nDst, nSrc, transform.ErrShortSrc
		}
		r, _ := utf8.DecodeRune(src)
		d.decided, d.western = true, r == utf8.RuneError
		dst = dst[nDst:]
	}
	if d.western {
		m, n, err := fromWestern(dst, src)
		return nDst + m, nSrc + n, err
	}
	n := copy(dst, src)
	if n < len(src) {
		err = transform.ErrShortDst
	}
	return nDst + n, nSrc + n, err
}

func asciiPrefix(b []byte) int {
	for i, c := range b {
		if c >= utf8.RuneSelf {
			return i
		}
	}
	return len(b)
}

// fromWestern decodes Windows-1252. The five bytes that mean nothing there become control characters,
// as Windows itself has it, by which fields are known as damaged.
func fromWestern(dst, src []byte) (nDst, nSrc int, err error) {
	for _, b := range src {
		r := charmap.Windows1252.DecodeByte(b)
		if r == utf8.RuneError {
			r = rune(b)
		}
		if nDst+utf8.RuneLen(r) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc++
	}
	return nDst, nSrc, nil
}

// delimiterOf is the character that parts the first row into the most fields. Fields in quotation marks
// may hold any.
func delimiterOf(head []byte) rune {
	counts := map[rune]int{}
	quoted := false
	for _, c := range string(head) {
		if c == '"' {
			quoted = !quoted
		}
		if quoted {
			continue
		}
		if c == '\n' {
			break
		}
		counts[c]++
	}
	best := ','
	for _, c := range []rune{';', '\t'} {
		if counts[c] > counts[best] {
			best = c
		}
	}
	return best
}

var errRowTooLong = fmt.Errorf(
	"a row is longer than %d KiB: look for a quotation mark that is not closed", maxRow>>10)

// rowLimit fails once one row takes more bytes than a row can have.
type rowLimit struct {
	r    io.Reader
	left int
}

// next allows another row. What the buffers between hold already is not counted twice: the bound
// is a bound on memory, not an exact length.
func (l *rowLimit) next() { l.left = maxRow }

func (l *rowLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errRowTooLong
	}
	n, err := l.r.Read(p)
	l.left -= n
	return n, err
}
