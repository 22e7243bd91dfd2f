package neutral_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
)

// countRows counts a file's rows after the header the plain way, with no limit and no meaning.
func countRows(file []byte) int {
	rows := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))))
	rows.FieldsPerRecord = -1
	n := -1
	for {
		if _, err := rows.Read(); errors.Is(err, io.EOF) {
			return n
		}
		n++
	}
}
