package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"

	"github.com/google/uuid"
)

// A cursor says behind which row a list goes on, and of which list: a page of another one would be
// nonsense that looks like sense. It holds nothing but the id of a row that its client has been shown;
// where that row stands is read again, of the caller's own rows, so that one which was made up finds
// nothing. It may be kept for as long as the client likes.
type cursor struct {
	after uuid.UUID
	list  listID
}

// listID tells lists apart: what is listed, and by which filters.
type listID [8]byte

// cursorVersion leads every cursor, so that another form can be told from this one.
const cursorVersion = 1

var cursorEncoding = base64.RawURLEncoding.Strict()

func newListID(name string) listID {
	sum := sha256.Sum256([]byte(name))
	return listID(sum[:])
}

func (c cursor) String() string {
	return cursorEncoding.EncodeToString(bytes.Join([][]byte{{cursorVersion}, c.list[:], c.after[:]}, nil))
}

// parseCursor reads a cursor; only the spelling it was given out in is one.
func parseCursor(text string) (c cursor, ok bool) {
	if len(text) != cursorEncoding.EncodedLen(1+len(c.list)+len(c.after)) {
		return cursor{}, false
	}
	b, err := cursorEncoding.DecodeString(text)
	if err != nil || len(b) != 1+len(c.list)+len(c.after) || b[0] != cursorVersion {
		return cursor{}, false
	}
	copy(c.list[:], b[1:])
	copy(c.after[:], b[1+len(c.list):])
	return c, c.after != uuid.Nil
}
