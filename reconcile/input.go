package reconcile

import "waybill/reconcile/invoice"

// AboutFile is the finding for a file that cannot be read as a whole.
func AboutFile(name string, e *invoice.FileError) Finding {
	kind := FileUnreadable
	if e.Fault == invoice.ColumnMissing {
		kind = ColumnMissing
	}
	return Finding{
		ID:       findingID(kind, name),
		Kind:     kind,
		Severity: Error,
		Why:      Reason(e.Fault),
		Advice:   e.Advice,
		Source:   invoice.Source{File: name},
	}
}

// AboutRow is the finding for a row that is no line.
func AboutRow(r invoice.Rejection) Finding {
	kind := RowRejected
	if r.Fault == invoice.IDCorrupted {
		kind = IDCorrupted
	}
	return Finding{
		ID:       findingID(kind, r.Source.File, decimal(r.Source.Row)),
		Kind:     kind,
		Severity: Error,
		Why:      Reason(r.Fault),
		Advice:   r.Advice,
		Source:   r.Source,
	}
}
