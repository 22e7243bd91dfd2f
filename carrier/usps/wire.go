package usps

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"slices"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

// order is the body of POST /label.
type order struct {
	Image   image   `json:"imageInfo"`
	To      address `json:"toAddress"`
	From    address `json:"fromAddress"`
	Package parcel  `json:"packageDescription"`
}

type image struct {
	Type    string `json:"imageType"`
	Label   string `json:"labelType"`
	Receipt string `json:"receiptOption,omitzero"`
}

type address struct {
	FirstName string `json:"firstName,omitzero"`
	LastName  string `json:"lastName,omitzero"`
	Firm      string `json:"firm,omitzero"`
	Street    string `json:"streetAddress"`
	Secondary string `json:"secondaryAddress,omitzero"`
	City      string `json:"city"`
	State     string `json:"state"`
	ZIP       string `json:"ZIPCode"`
	Plus4     string `json:"ZIPPlus4,omitzero"`
}

type parcel struct {
	MailClass   string          `json:"mailClass"`
	Rate        string          `json:"rateIndicator"`
	WeightUOM   string          `json:"weightUOM"`
	Weight      jsontext.Value  `json:"weight"`
	LengthUOM   string          `json:"dimensionsUOM"`
	Length      jsontext.Value  `json:"length"`
	Height      jsontext.Value  `json:"height"`
	Width       jsontext.Value  `json:"width"`
	Category    string          `json:"processingCategory"`
	MailingDate string          `json:"mailingDate"`
	Extras      []int           `json:"extraServices"`
	Entry       string          `json:"destinationEntryFacilityType"`
	References  []customerValue `json:"customerReference"`
}

type customerValue struct {
	Number string `json:"referenceNumber"`
	Print  bool   `json:"printReferenceNumber"`
}

// imageTypes are the formats as USPS calls them.
var imageTypes = map[carrier.Format]string{
	carrier.PDF: "PDF",
	carrier.PNG: "PNG",
	carrier.ZPL: "ZPL203DPI",
}

const label4x6 = "4X6LABEL"

// The steps in which weights and lengths go out. Four decimals of a pound, because prices change at
// ounces: rounded up to hundredths, 28 g would be paid as two.
const (
	poundDecimals = 4
	inchDecimals  = 2
)

// encodeOrder gives the same bytes for the same purchase, on every attempt and in every process. It
// fails only on text that is not UTF-8.
func encodeOrder(p carrier.Purchase) ([]byte, error) {
	s := p.Shipment
	var d carrier.Dimensions
	if s.Dimensions != nil {
		d = *s.Dimensions
	}
	body, err := json.Marshal(order{
		Image: image{Type: imageTypes[s.Format], Label: label4x6, Receipt: "NONE"},
		To:    newAddress(s.ShipTo),
		From:  newAddress(s.ShipFrom),
		Package: parcel{
			MailClass:   s.Service,
			Rate:        rateIndicator(s.Service, d),
			WeightUOM:   "lb",
			Weight:      jsontext.Value(units.Pound.FromMetric(s.WeightG, poundDecimals)),
			LengthUOM:   "in",
			Length:      inches(d.Length),
			Height:      inches(d.Height),
			Width:       inches(d.Width),
			Category:    category(s.WeightG, d),
			MailingDate: p.RemoteID,
			Extras:      []int{},
			Entry:       "NONE",
			References:  []customerValue{{Number: p.Reference, Print: true}},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding order %s: %w", p.Reference, err)
	}
	return body, nil
}

func inches(mm int64) jsontext.Value {
	return jsontext.Value(units.Inch.FromMetric(mm, inchDecimals))
}

// newAddress divides what we have in one piece. USPS wants a first and a last name, or a firm: a name of
// one word without a company goes out as the firm.
func newAddress(a carrier.Address) address {
	a = carrierhttp.Trimmed(a)
	first, last := splitName(a.Name)
	firm := a.Company
	if last == "" && firm == "" {
		first, firm = "", first
	}
	zip, plus4 := splitZIP(a.PostalCode)
	return address{
		FirstName: first,
		LastName:  last,
		Firm:      firm,
		Street:    a.Street1,
		Secondary: a.Street2,
		City:      a.City,
		State:     a.State,
		ZIP:       zip,
		Plus4:     plus4,
	}
}

// splitName takes the last word for the last name.
func splitName(name string) (first, last string) {
	words := strings.Fields(name)
	if len(words) < 2 {
		return strings.Join(words, ""), ""
	}
	return strings.Join(words[:len(words)-1], " "), words[len(words)-1]
}

// splitZIP divides a code that passed Check, with or without its hyphen.
func splitZIP(code string) (zip, plus4 string) {
	code = strings.ReplaceAll(strings.TrimSpace(code), "-", "")
	if len(code) < 5 {
		return code, ""
	}
	return code[:5], code[5:]
}

// cubicFoot is the volume in mm³ from which parcels are priced by their size (Domestic Mail Manual;
// inferred for this API).
const cubicFoot = 28_316_847

// rateIndicator is what of a service the parcel is.
func rateIndicator(service string, d carrier.Dimensions) string {
	switch {
	case service == "PRIORITY_MAIL_EXPRESS":
		return "PA"
	case service != "MEDIA_MAIL" && service != "LIBRARY_MAIL" && d.Length*d.Width*d.Height > cubicFoot:
		return "DR"
	default:
		return "SP"
	}
}

// category tells whether the parcel can be sorted by machine: between 6 × 3 × ¼ and 22 × 18 × 15 inches
// and at most 25 pounds (Domestic Mail Manual 201.7.5).
func category(weightG int64, d carrier.Dimensions) string {
	sides := []int64{d.Length, d.Width, d.Height}
	slices.Sort(sides)
	if weightG <= 11_339 &&
		sides[2] >= 153 && sides[1] >= 77 && sides[0] >= 7 &&
		sides[2] <= 558 && sides[1] <= 457 && sides[0] <= 381 {
		return "MACHINABLE"
	}
	return "NONSTANDARD"
}
