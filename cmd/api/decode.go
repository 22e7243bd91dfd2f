package main

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"waybill/carrier"
	"waybill/internal/problem"
)

const (
	// maxDepth is far above what any request needs and far below what costs anything.
	maxDepth = 32

	// maxFaults bounds the answer to a body that is wrong in thousands of places.
	maxFaults = 50

	// maxPointer bounds what is echoed of member names the caller made up.
	maxPointer = 200
)

// faults gathers everything that is wrong with a request, so that the caller hears it at once.
type faults []carrier.FieldError

// add notes a fault, unless one is known of the same member or of an object around it: that is the
// cause, this is a consequence.
func (f *faults) add(pointer, detail string) {
	if len(pointer) > maxPointer {
		pointer = strings.ToValidUTF8(pointer[:maxPointer], "")
	}
	for _, known := range *f {
		if strings.HasPrefix(pointer+"/", known.Pointer+"/") {
			return
		}
	}
	if !f.full() {
		*f = append(*f, carrier.FieldError{Pointer: pointer, Detail: detail})
	}
}

// full is true once nothing more is noted.
func (f *faults) full() bool { return len(*f) >= maxFaults }

// wireBody is a request type that notices the members it does not know.
type wireBody interface {
	addUnknown(found *faults)
}

// decodeStrict reads a body into a request type. What is no JSON is an error (malformed_json); what
// is JSON of another shape ends in faults, all of them: unknown members, nulls, wrong types,
// numbers that are not exact integers, text that cannot be printed.
func decodeStrict(body []byte, into wireBody) (faults, error) {
	var found faults
	if err := checkSyntax(body, &found); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, into, json.WithUnmarshalers(found.unmarshalers())); err != nil {
		// The hooks take every type that can be wrong; what is left is a body that is no object.
		found.add("", "must be a JSON object")
	}
	into.addUnknown(&found)
	return found, nil
}

// checkSyntax walks over the whole body before anything of it is believed.
func checkSyntax(body []byte, found *faults) error {
	if len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
		return malformed("The body is empty; send one JSON object.")
	}
	if !utf8.Valid(body) {
		return malformed("The body is not valid UTF-8.")
	}
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	for done := false; ; {
		token, err := dec.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return describeSyntax(err)
		case done:
			return malformed("There is more after the end of the JSON object.")
		case dec.StackDepth() > maxDepth:
			return malformed(fmt.Sprintf("The body is nested more than %d levels deep.", maxDepth))
		case token.Kind() == 'n':
			found.add(string(dec.StackPointer()), "must not be null; leave the member out instead")
		}
		done = dec.StackDepth() == 0
	}
}

// describeSyntax says where the JSON ends to be JSON, in our own words: the library's may change.
func describeSyntax(err error) error {
	var at *jsontext.SyntacticError
	switch {
	case !errors.As(err, &at):
		return malformed("The body is not valid JSON.")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return malformed(fmt.Sprintf("An object has two members of the same name, at byte %d.", at.ByteOffset))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return malformed("The JSON ends in the middle.")
	default:
		return malformed(fmt.Sprintf("The body is not valid JSON at byte %d.", at.ByteOffset))
	}
}

func malformed(detail string) error {
	return refuse(problem.MalformedJSON, detail)
}

// unmarshalers note a wrong value and go on, where the library would stop at the first.
func (f *faults) unmarshalers() *json.Unmarshalers {
	return json.JoinUnmarshalers(
		json.UnmarshalFromFunc(f.integer),
		json.UnmarshalFromFunc(f.text),
		json.UnmarshalFromFunc(f.boolean),
		json.UnmarshalFromFunc(func(dec *jsontext.Decoder, _ *wireAddress) error {
			return f.object(dec)
		}),
		json.UnmarshalFromFunc(func(dec *jsontext.Decoder, _ *wireDimensions) error {
			return f.object(dec)
		}),
	)
}

// integer takes nothing but an exact integer: 1.0 and 1e3 are refused, because what a float makes
// of a long number is another number.
func (f *faults) integer(dec *jsontext.Decoder, into *int64) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	switch {
	case value.Kind() != '0':
		f.add(string(dec.StackPointer()), "must be an integer")
	case errors.Is(err, strconv.ErrRange):
		f.add(string(dec.StackPointer()), "must be an integer that fits in 64 bits")
	case err != nil:
		f.add(string(dec.StackPointer()), "must be an integer, written without fraction or exponent")
	default:
		*into = n
	}
	return nil
}

func (f *faults) text(dec *jsontext.Decoder, into *string) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if value.Kind() != '"' {
		f.add(string(dec.StackPointer()), "must be a string")
		return nil
	}
	s, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return err
	}
	if strings.ContainsFunc(string(s), unprintable) {
		f.add(string(dec.StackPointer()), "must not contain control characters")
		return nil
	}
	*into = string(s)
	return nil
}

func (f *faults) boolean(dec *jsontext.Decoder, into *bool) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch value.Kind() {
	case 't', 'f':
		*into = value.Kind() == 't'
	default:
		f.add(string(dec.StackPointer()), "must be true or false")
	}
	return nil
}

// unprintable finds characters that have no place on a label: controls (NUL among them, which the
// database cannot store) and those that reverse the direction of writing, which make an address
// read otherwise than it is.
func unprintable(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// object leaves objects to the library and notes everything else.
func (f *faults) object(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '{' {
		return errors.ErrUnsupported
	}
	if err := dec.SkipValue(); err != nil {
		return err
	}
	f.add(string(dec.StackPointer()), "must be an object")
	return nil
}
