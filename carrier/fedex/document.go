package fedex

import (
	"encoding/json/jsontext"
	"encoding/json/v2"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// readDocuments returns the first that could be printed, and the empty document if none could. FedEx
// prints no label again, so one that does not come with the answer never comes.
func readDocuments(format carrier.Format, raw jsontext.Value) carrier.Document {
	var list []struct {
		Label string `json:"encodedLabel"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return carrier.Document{}
	}
	for _, entry := range list {
		if d := carrierhttp.DocumentOfBase64(format, entry.Label); len(d.Content) > 0 {
			return d
		}
	}
	return carrier.Document{}
}
