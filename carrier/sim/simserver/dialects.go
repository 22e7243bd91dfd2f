package simserver

import (
	"crypto/rand"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// sale is a charge as a look-up finds it.
type sale struct {
	record
	voided bool
}

// shown are the charges that a look-up of the dialect shows by now, of those that were found.
func (s *Server) shown(dialect string, charges []record, voided []bool) []sale {
	lag := milliseconds(s.faults.show().LookupLagMS)
	var sales []sale
	for i, charge := range charges {
		if charge.Dialect == dialect && s.cfg.Now().Sub(charge.At) >= lag {
			sales = append(sales, sale{charge, voided[i]})
		}
	}
	return sales
}

// remembered decodes what a dialect kept of an order: its own, which always can be.
func remembered[T any](r record) T {
	var t T
	if err := json.Unmarshal(r.Told, &t); err != nil {
		panic(fmt.Sprintf("simserver: reading back a %T: %v", t, err))
	}
	return t
}

var errNotJSON = errors.New("the media type must be application/json")

// readJSON reads a body as strictly as a carrier on a bad day, and returns its bytes.
func readJSON(w http.ResponseWriter, r *http.Request, into any) ([]byte, error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, errNotJSON
	}
	value, err := readValue(w, r)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(value, into, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	return value, nil
}

func readValue(w http.ResponseWriter, r *http.Request) (jsontext.Value, error) {
	var value jsontext.Value
	err := json.UnmarshalRead(http.MaxBytesReader(w, r.Body, maxOrder), &value)
	return value, err
}

// newID makes an id of lower-case letters and digits behind a prefix.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// serverURL is the simulator's own address, as whoever calls it wrote it.
func serverURL(r *http.Request, path string) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host + path
}

// serveFile serves the document of the label that the file is named for, in the format it ends in.
func (s *Server) serveFile(w http.ResponseWriter, file string) {
	id, extension, _ := strings.Cut(file, ".")
	charge, _, ok := s.ledger.chargeByLabel(id)
	printer, printable := printers[format(extension)]
	if !ok || !printable {
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", mediaTypes[format(extension)])
	_, _ = w.Write(printer(charge.Entry)) // the client may have gone
}

var mediaTypes = map[format]string{"pdf": "application/pdf", "png": "image/png", "zpl": "application/zpl"}

// The units that carriers weigh in, in grams.
const (
	ounceG = 28.349523125
	poundG = 16 * ounceG
)

// grams rounds up, as whoever is paid by weight does. A hair is taken off first: 5 ounces in tenths
// are not quite 5 in binary.
func grams(amount, unit float64) int64 { return int64(math.Ceil(amount*unit - 1e-6)) }

// decimals counts the digits after the point of a JSON number as it was written.
func decimals(number string) int {
	_, fraction, _ := strings.Cut(number, ".")
	return len(fraction)
}

// amount writes cents as a JSON number in the shortest way: 6, 6.5, 6.45.
func amount(cents int64) jsontext.Value {
	return jsontext.Value(strings.TrimSuffix(strings.TrimRight(decimal(cents), "0"), "."))
}

// pageOf reads a page size, or number, between 1 and the most there can be.
func pageOf(text string, otherwise, most int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q is not a number from 1 to %d", text, most)
	}
	return n, nil
}
