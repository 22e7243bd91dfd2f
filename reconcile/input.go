package reconcile

import "waybill/reconcile/invoice"

// Input is a file that a run for a carrier reads. What is found in it is named by all three: two carriers'
// files may bear one name, and next month's file the name of this month's.
type Input struct {
	Carrier string
	Name    string
	// SHA256 is the file's content; empty for one that could not be looked at.
	SHA256 string
}

// Unread is the finding for a file that cannot be read as a whole.
func (i Input) Unread(e *invoice.FileError) Finding {
	kind := FileUnreadable
	if e.Fault == invoice.ColumnMissing {
		kind = ColumnMissing
	}
	return Finding{
		ID:       findingID(kind, i.Carrier, i.Name, i.SHA256),
		Kind:     kind,
		Severity: Error,
		Why:      Reason(e.Fault),
		Carrier:  i.Carrier,
		Advice:   e.Advice,
		Source:   invoice.Source{File: i.Name},
	}
}

// Rejected is the finding for a row of the file that is no line.
func (i Input) Rejected(r invoice.Rejection) Finding {
	kind := RowRejected
	if r.Fault == invoice.IDCorrupted {
		kind = IDCorrupted
	}
	r.Source.File = i.Name
	return Finding{
		ID:       findingID(kind, i.Carrier, i.Name, i.SHA256, decimal(r.Source.Row)),
		Kind:     kind,
		Severity: Error,
		Why:      Reason(r.Fault),
		Carrier:  i.Carrier,
		Advice:   r.Advice,
		Source:   r.Source,
	}
}
