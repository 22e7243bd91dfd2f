package main

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"waybill/carrier"
)

// label is GET /v1/labels/{label_id}: the label as it stands now, unless
// the client has it already.
func (a *api) label(w http.ResponseWriter, r *request) error {
	id, err := pathID(r, "label_id")
	if err != nil {
		return err
	}
	known, err := readMatch(r.Header, "If-None-Match")
	if err != nil {
		return err
	}
	found, err := a.outbox.Label(r.Context(), r.caller.ID, id)
	if err != nil {
		return fmt.Errorf("reading label %s: %w", id, err)
	}
	w.Header().Set("ETag", etag(found.Revision))
	if known.weakly(found.Revision) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	writeBody(w, http.StatusOK, found.EncodeCurrent())
	return nil
}

// document is GET /v1/labels/{label_id}/document: the bytes to print.
func (a *api) document(w http.ResponseWriter, r *request) error {
	id, err := pathID(r, "label_id")
	if err != nil {
		return err
	}
	found, err := a.outbox.Document(r.Context(), r.caller.ID, id)
	if err != nil {
		return fmt.Errorf("reading the document of label %s: %w", id, err)
	}
	writeDocument(w, id, found)
	return nil
}

// writeDocument always sends an attachment: nothing a carrier sent is shown by a browser as a page
// of ours.
func writeDocument(w http.ResponseWriter, id uuid.UUID, d carrier.Document) {
	h := w.Header()
	h.Set("Content-Type", d.Format.ContentType())
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="label-%s.%s"`, id, extension(d.Format)))
	h.Set("Content-Length", strconv.Itoa(len(d.Content)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(d.Content)
}

// extension never comes from what a carrier said.
func extension(f carrier.Format) string {
	switch f {
	case carrier.PDF, carrier.PNG, carrier.ZPL:
		return string(f)
	default:
		return "bin"
	}
}
