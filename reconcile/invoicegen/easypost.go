package invoicegen

import (
	"fmt"
	"strings"
)

var easypostInvoiceHeader = strings.Split("shipment_id,label_date,carrier_account_id,carrier,tracking_code,"+
	"carrier_invoice_id,package_dispute_id,status,quoted_currency,initially_paid_amount,quoted_amount,claimed_length,"+
	"claimed_width,claimed_height,claimed_weight,claimed_package,claimed_service,final_invoice_amount,captured_length,"+
	"captured_width,captured_height,captured_weight,captured_package,captured_service,adjustment_amount,"+
	"adjustment_reason", ",")

var easypostLogHeader = strings.Split("created_at,id,status,source_type,target_type,charge_type,amount,balance,"+
	"description,shipment_id,tracking_code,amount_postage_fee,amount_label_fee,amount_delta_fee,amount_insurance_fee", ",")

// wallet writes a report of EasyPost's: all invoices in one file.
func (b *builder) wallet() sheet {
	if b.Options.Dialect == EasyPostInvoice {
		return b.easypostInvoice()
	}
	return b.easypostLog()
}

func (b *builder) easypostInvoice() sheet {
	t := table{header: easypostInvoiceHeader}
	for i := range b.Invoices {
		inv := &b.Invoices[i]
		for _, x := range inv.Billings {
			t.row(map[string]string{
				"shipment_id": x.LabelID, "label_date": x.Day.Format("2006-01-02") + "T10:00:00Z",
				"carrier_account_id": "ca_0123456789abcdef", "carrier": "USPS", "tracking_code": x.TrackingNo,
				"carrier_invoice_id": inv.No, "status": "processed", "quoted_currency": inv.Currency,
				"initially_paid_amount": "100.00", "quoted_amount": "100.00",
				"final_invoice_amount": inv.money(10_000 + x.Cents()), "adjustment_amount": inv.money(x.Cents()),
				"adjustment_reason": "Weight, zone",
			})
		}
	}
	return t.sheet(fmt.Sprintf("shipment_invoice_%04d.csv", b.Options.Slot))
}

// easypostLog writes amounts as that report does: dollars with five decimals and no sign. Which way
// the money went is in where it came from.
func (b *builder) easypostLog() sheet {
	t := table{header: easypostLogHeader}
	for i := range b.Invoices {
		inv := &b.Invoices[i]
		for n, x := range inv.Billings {
			source, target, charge, cents := "user", "shipment", "service_fee", x.Cents()
			if cents < 0 {
				source, target, charge, cents = "shipment", "user", "refund", -cents
			}
			t.row(map[string]string{
				"created_at": inv.Date.Format("2006-01-02") + "T09:00:00Z", "id": fmt.Sprintf("pl_%s_%04d", inv.No, n),
				"status": "complete", "source_type": source, "target_type": target, "charge_type": charge,
				"amount": "$" + inv.money(cents) + "000", "balance": "$1000.00000",
				"description": "label", "shipment_id": x.LabelID, "tracking_code": x.TrackingNo, "amount_postage_fee": "$" + inv.money(cents) + "000",
			})
		}
	}
	return t.sheet(fmt.Sprintf("payment_log_%04d.csv", b.Options.Slot))
}
