package main

import (
	"fmt"
	"strings"
	"text/template"
)

// guideValues fill the guide.
type guideValues struct {
	API, APIAdmin, WorkerAdmin, Carrier, Key, DatabaseURL, Dir string
}

// guideText is what can be tried with a running service: every line can be pasted as it is.
var guideText = template.Must(template.New("guide").Parse(`
Waybill is running. In another terminal:

  export DATABASE_URL='{{.DatabaseURL}}'
  ask() { curl -sS -w '\n' -H 'Authorization: Bearer {{.Key}}' "$@"; }

  # Buy the label of an order. The same line again gets the same answer, and buys nothing.
  buy() { ask -i {{.API}}/v1/labels -H "Idempotency-Key: label:$1:1:v1" -H 'Prefer: wait=20' \
    -H 'Content-Type: application/json' -d '{"order_id": '"$1"', "parcel_no": 1, "service": "ground",
    "weight_g": 1450, "ship_to": {"name": "Ada Jones", "street1": "12 Elm Street", "city": "Portland",
    "state": "OR", "postal_code": "97205", "country": "US"}}'; }
  buy 1001
  buy 1001

  # Read it, by order and by key, and print it.
  ask '{{.API}}/v1/labels?order_id=1001'
  ask '{{.API}}/v1/intents?idempotency_key=label:1001:1:v1'
  ask -o label.pdf {{.API}}/v1/labels/LABEL_ID/document

  # Make the carrier hang up on the next two calls, the first of which it has charged for; buy another
  # label all the same. The rules are spent then; this clears those that are not.
  curl -sS -w '\n' -X PUT {{.Carrier}}/_sim/faults -d '{"rules": [{"fault": "reset_after_charge", "count": 2}]}'
  buy 1002
  curl -sS -X DELETE {{.Carrier}}/_sim/faults

  # What the carrier charged; its invoice, with one label billed twice; what we say to that.
  curl -sS {{.Carrier}}/_sim/ledger
  curl -sS '{{.Carrier}}/_sim/invoice?plant=double' > {{.Dir}}/invoice.csv
  bin/reconcile run --carrier sim --as-of "$(date -u +%F)" --out {{.Dir}}/report {{.Dir}}/invoice.csv

  # Metrics and logs.
  curl -sS {{.APIAdmin}}/metrics {{.WorkerAdmin}}/metrics | grep ^waybill
  tail -f {{.Dir}}/*.log

State is kept in {{.Dir}}/ until ` + "`make clean`" + `. Ctrl-C stops everything.
`))

// guide says what to try.
func guide(values guideValues) (string, error) {
	var text strings.Builder
	if err := guideText.Execute(&text, values); err != nil {
		return "", fmt.Errorf("writing the guide: %w", err)
	}
	return text.String(), nil
}
