package main

import (
	"bytes"
	"encoding/json/jsontext"

	"waybill/carrier"
	"waybill/outbox"
)

// labelRequest is the body of POST /v1/labels as it is sent. Everything is a pointer: a member that
// is missing is told from one that is zero.
type labelRequest struct {
	OrderID      *int64          `json:"order_id"`
	ParcelNo     *int64          `json:"parcel_no"`
	LabelVersion *int64          `json:"label_version"`
	Carrier      *string         `json:"carrier"`
	Service      *string         `json:"service"`
	WeightG      *int64          `json:"weight_g"`
	Dimensions   *wireDimensions `json:"dimensions_mm"`
	ShipFrom     *wireAddress    `json:"ship_from"`
	ShipTo       *wireAddress    `json:"ship_to"`
	LabelFormat  *string         `json:"label_format"`
	MaxCostCents *int64          `json:"max_cost_cents"`

	Unknown jsontext.Value `json:",embed"`
}

// wireAddress is an address that notices members it does not know. In addresses a member that is
// empty is the same as one that is missing.
type wireAddress struct {
	carrier.Address

	Unknown jsontext.Value `json:",embed"`
}

// wireDimensions is for parcels what wireAddress is for addresses.
type wireDimensions struct {
	Length *int64 `json:"length"`
	Width  *int64 `json:"width"`
	Height *int64 `json:"height"`

	Unknown jsontext.Value `json:",embed"`
}

// The constant defaults: they are part of the contract and of the fingerprint, and never change.
const (
	defaultLabelVersion = 1
	defaultLabelFormat  = carrier.PDF
)

// addUnknown notes every member that is in no list above.
func (r *labelRequest) addUnknown(found *faults) {
	addUnknown(found, "", r.Unknown)
	if r.Dimensions != nil {
		addUnknown(found, "/dimensions_mm", r.Dimensions.Unknown)
	}
	if r.ShipFrom != nil {
		addUnknown(found, "/ship_from", r.ShipFrom.Unknown)
	}
	if r.ShipTo != nil {
		addUnknown(found, "/ship_to", r.ShipTo.Unknown)
	}
}

func addUnknown(found *faults, at jsontext.Pointer, members jsontext.Value) {
	if len(members) == 0 {
		return
	}
	dec := jsontext.NewDecoder(bytes.NewReader(members))
	_, err := dec.ReadToken() // the brace
	for err == nil && dec.PeekKind() == '"' && !found.full() {
		var name jsontext.Token
		if name, err = dec.ReadToken(); err == nil {
			found.add(string(at.AppendToken(name.String())), "is not a member of this object; see the documentation")
			err = dec.SkipValue()
		}
	}
	if err != nil {
		found.add(string(at), "has members that are not known")
	}
}

// parcel is what the label is for. Call it on valid requests only.
func (r *labelRequest) parcel() outbox.Parcel {
	return outbox.Parcel{
		OrderID:      value(r.OrderID),
		ParcelNo:     int32(value(r.ParcelNo)),                            //nolint:gosec // G115: validated.
		LabelVersion: int32(valueOr(r.LabelVersion, defaultLabelVersion)), //nolint:gosec // G115: validated.
	}
}

// shipment is what the carrier is asked for, the configured sender filled in where none was given.
func (r *labelRequest) shipment(defaultShipFrom *carrier.Address) carrier.Shipment {
	s := carrier.Shipment{
		Service:      value(r.Service),
		WeightG:      value(r.WeightG),
		Dimensions:   r.Dimensions.measures(),
		ShipTo:       value(r.ShipTo).Address,
		Format:       carrier.Format(valueOr(r.LabelFormat, string(defaultLabelFormat))),
		MaxCostCents: r.MaxCostCents,
	}
	switch {
	case r.ShipFrom != nil:
		s.ShipFrom = r.ShipFrom.Address
	case defaultShipFrom != nil:
		s.ShipFrom = *defaultShipFrom
	}
	return s
}

func (d *wireDimensions) measures() *carrier.Dimensions {
	if d == nil {
		return nil
	}
	return &carrier.Dimensions{Length: value(d.Length), Width: value(d.Width), Height: value(d.Height)}
}

// value is what a pointer points at, or zero.
func value[T any](p *T) T {
	var zero T
	return valueOr(p, zero)
}

func valueOr[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}
