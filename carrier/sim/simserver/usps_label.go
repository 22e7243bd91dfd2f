package simserver

import (
	"encoding/base64"
	"encoding/json/jsontext"
	"net/http"
	"regexp"
	"time"
	"unicode/utf8"
)

// uspsOrder is the body of POST /label.
type uspsOrder struct {
	ImageInfo   uspsImage    `json:"imageInfo"`
	ToAddress   *uspsAddress `json:"toAddress"`
	FromAddress *uspsAddress `json:"fromAddress"`
	Sender      *uspsAddress `json:"senderAddress"`
	Return      *uspsAddress `json:"returnAddress"`
	Package     *uspsPackage `json:"packageDescription"`
}

type uspsImage struct {
	ImageType        string `json:"imageType"`
	LabelType        string `json:"labelType"`
	ReceiptOption    string `json:"receiptOption"`
	SuppressPostage  bool   `json:"suppressPostage"`
	SuppressMailDate bool   `json:"suppressMailDate"`
	ReturnLabel      bool   `json:"returnLabel"`
}

type uspsAddress struct {
	FirstName        string `json:"firstName,omitzero"`
	LastName         string `json:"lastName,omitzero"`
	Firm             string `json:"firm,omitzero"`
	StreetAddress    string `json:"streetAddress"`
	SecondaryAddress string `json:"secondaryAddress,omitzero"`
	City             string `json:"city"`
	State            string `json:"state"`
	ZIPCode          string `json:"ZIPCode"`
	ZIPPlus4         string `json:"ZIPPlus4,omitzero"`
	Phone            string `json:"phone,omitzero"`
	Email            string `json:"email,omitzero"`
	IgnoreBadAddress bool   `json:"ignoreBadAddress,omitzero"`
}

type uspsPackage struct {
	MailClass             string          `json:"mailClass"`
	RateIndicator         string          `json:"rateIndicator"`
	WeightUOM             string          `json:"weightUOM"`
	Weight                float64         `json:"weight"`
	DimensionsUOM         string          `json:"dimensionsUOM"`
	Length                float64         `json:"length"`
	Height                float64         `json:"height"`
	Width                 float64         `json:"width"`
	Girth                 float64         `json:"girth"`
	ProcessingCategory    string          `json:"processingCategory"`
	MailingDate           string          `json:"mailingDate"`
	ExtraServices         []int           `json:"extraServices"`
	DestinationEntry      string          `json:"destinationEntryFacilityType"`
	CustomerReference     []uspsReference `json:"customerReference"`
	NonstandardCharacters bool            `json:"hasNonstandardCharacteristics"`
}

type uspsReference struct {
	ReferenceNumber      string `json:"referenceNumber"`
	PrintReferenceNumber bool   `json:"printReferenceNumber"`
}

var uspsFormats = map[string]format{"": "pdf", "PDF": "pdf", "PNG": "png", "ZPL203DPI": "zpl", "ZPL300DPI": "zpl"}

var uspsClasses = map[string]bool{"USPS_GROUND_ADVANTAGE": true, "PRIORITY_MAIL": true, "PRIORITY_MAIL_EXPRESS": true}

// Limits of the carrier: pounds, inches and days.
const (
	maxUSPSPounds  = 70
	maxUSPSGirth   = 130
	maxUSPSAdvance = 7 * 24 * time.Hour
)

// complaint names the first member that is missing or makes no sense.
func (o uspsOrder) complaint(now time.Time) (parameter, detail string) {
	p := o.Package
	if p == nil {
		return "packageDescription", "It is required."
	}
	if parameter := o.ToAddress.complaint(); parameter != "" {
		return "toAddress." + parameter, "It is missing, too long or of another form."
	}
	if parameter := o.FromAddress.complaint(); parameter != "" {
		return "fromAddress." + parameter, "It is missing, too long or of another form."
	}
	day, err := time.Parse(time.DateOnly, p.MailingDate)
	switch {
	case uspsFormats[o.ImageInfo.ImageType] == "":
		return "imageInfo.imageType", "The simulator prints PDF, PNG, ZPL203DPI and ZPL300DPI."
	case !uspsClasses[p.MailClass]:
		return "packageDescription.mailClass", "It is not one that is offered."
	case p.RateIndicator == "":
		return "packageDescription.rateIndicator", "It is required."
	case p.WeightUOM != "" && p.WeightUOM != "lb":
		return "packageDescription.weightUOM", "It must be lb."
	case p.Weight <= 0 || p.Weight > maxUSPSPounds:
		return "packageDescription.weight", "It must be above 0 and at most 70 pounds."
	case p.DimensionsUOM != "" && p.DimensionsUOM != "in":
		return "packageDescription.dimensionsUOM", "It must be in."
	case min(p.Length, p.Height, p.Width) <= 0 || p.girth() > maxUSPSGirth:
		return "packageDescription.length", "The sides are required, and length and girth may be 130 inches together."
	case p.ProcessingCategory != "MACHINABLE" && p.ProcessingCategory != "NONSTANDARD":
		return "packageDescription.processingCategory", "It must be MACHINABLE or NONSTANDARD for a parcel."
	case p.DestinationEntry == "":
		return "packageDescription.destinationEntryFacilityType", "It is required."
	case err != nil || day.Before(now.Add(-48*time.Hour)) || day.After(now.Add(maxUSPSAdvance)):
		return "packageDescription.mailingDate", "It must be a date from today to seven days from now."
	case len(p.CustomerReference) > 4:
		return "packageDescription.customerReference", "There can be four."
	}
	for _, r := range p.CustomerReference {
		if r.ReferenceNumber == "" || len(r.ReferenceNumber) > 30 {
			return "packageDescription.customerReference.referenceNumber", "It must have 1 to 30 characters."
		}
	}
	return "", ""
}

// girth is the length, which is the longest side, and the way around the two others.
func (p *uspsPackage) girth() float64 {
	longest := max(p.Length, p.Height, p.Width)
	return longest + 2*(p.Length+p.Height+p.Width-longest)
}

var (
	uspsState = regexp.MustCompile(`^[A-Z]{2}$`)
	uspsZIP   = regexp.MustCompile(`^\d{5}$`)
	uspsPhone = regexp.MustCompile(`^$|^\+?[1-9][0-9]{7,14}$|^[0-9]{6,15}$`)
	uspsPlus4 = regexp.MustCompile(`^(\d{4})?$`)
)

func (a *uspsAddress) complaint() string {
	if a == nil {
		return "streetAddress"
	}
	tooLong := func(s string, most int) bool { return utf8.RuneCountInString(s) > most }
	switch {
	case a.Firm == "" && (a.FirstName == "" || a.LastName == ""), tooLong(a.FirstName, 50), tooLong(a.LastName, 50):
		return "firstName"
	case tooLong(a.Firm, 50):
		return "firm"
	case a.StreetAddress == "", tooLong(a.StreetAddress, 50):
		return "streetAddress"
	case tooLong(a.SecondaryAddress, 50):
		return "secondaryAddress"
	case a.City == "", tooLong(a.City, 28):
		return "city"
	case !uspsState.MatchString(a.State):
		return "state"
	case !uspsZIP.MatchString(a.ZIPCode):
		return "ZIPCode"
	case !uspsPlus4.MatchString(a.ZIPPlus4):
		return "ZIPPlus4"
	case !uspsPhone.MatchString(a.Phone):
		return "phone"
	case tooLong(a.Email, 50):
		return "email"
	}
	return ""
}

// uspsMedia is what must be accepted to be answered in JSON: the carrier's own way is a form of many
// parts, which the simulator does not print.
const uspsMedia = "application/vnd.usps.labels+json"

func (s *Server) uspsBuy(w http.ResponseWriter, r *http.Request) {
	key, ok := s.uspsKey(w, r)
	if !ok {
		return
	}
	if r.Header.Get("Accept") != uspsMedia {
		uspsRefuse(w, http.StatusNotAcceptable, "", "Accept", "The simulator answers in "+uspsMedia+" only.")
		return
	}
	var body uspsOrder
	raw, err := readJSON(w, r, &body)
	if err != nil {
		uspsRefuse(w, http.StatusBadRequest, "", "body", err.Error())
		return
	}
	if parameter, detail := body.complaint(s.cfg.Now()); parameter != "" {
		uspsRefuse(w, http.StatusBadRequest, "", parameter, detail)
		return
	}
	o := order{
		Service: body.Package.MailClass,
		WeightG: grams(body.Package.Weight, poundG),
		Format:  uspsFormats[body.ImageInfo.ImageType],
	}
	if references := body.Package.CustomerReference; len(references) > 0 {
		o.Reference = references[0].ReferenceNumber
	}
	s.sell(w, r, purchase{dialect: uspsDialect, order: o, key: key, digest: digest(raw), told: encode(body)})
}

// uspsLabel is the answer to a purchase: it does not echo the reference.
type uspsLabel struct {
	LabelAddress       uspsAddress  `json:"labelAddress"`
	RoutingInformation string       `json:"routingInformation"`
	TrackingNumber     string       `json:"trackingNumber,omitzero"`
	ConstructCode      string       `json:"constructCode"`
	SKU                string       `json:"SKU"`
	Postage            uspsAmount   `json:"postage"`
	ExtraServices      []uspsCharge `json:"extraServices"`
	Fees               []uspsCharge `json:"fees"`
	Zone               string       `json:"zone"`
	MailingDate        string       `json:"mailingDate"`
	WeightUOM          string       `json:"weightUOM"`
	Weight             float64      `json:"weight"`
	LabelImage         string       `json:"labelImage,omitzero"`
}

// uspsReprinted is the answer to a reprint: what describes the label lies apart from its image.
type uspsReprinted struct {
	Metadata uspsLabel `json:"labelMetadata"`
	Image    string    `json:"labelImage"`
}

func uspsReprintOf(charge record, f format) uspsReprinted {
	label := uspsLabelOf(charge, f)
	image := label.LabelImage
	label.LabelImage = ""
	return uspsReprinted{Metadata: label, Image: image}
}

type uspsAmount = jsontext.Value

type uspsCharge struct {
	Name  string     `json:"name"`
	SKU   string     `json:"SKU"`
	Price uspsAmount `json:"price"`
}

// What is charged apart from the postage, in cents: the three together are the price.
const (
	uspsTrackingCents = 35
	uspsFeeCents      = 120
)

func uspsLabelOf(charge record, f format) uspsLabel {
	body := remembered[uspsOrder](charge)
	return uspsLabel{
		LabelAddress:       *body.ToAddress,
		RoutingInformation: "420" + body.ToAddress.ZIPCode,
		TrackingNumber:     charge.TrackingNo,
		ConstructCode:      "C03",
		SKU:                "DUXP0XXXXC01010",
		Postage:            amount(charge.AmountCents - uspsTrackingCents - uspsFeeCents),
		ExtraServices:      []uspsCharge{{"USPS Tracking", "DXTP0EXXXCX0000", amount(uspsTrackingCents)}},
		Fees:               []uspsCharge{{"Nonstandard Length", "D811XUXXXXX0000", amount(uspsFeeCents)}},
		Zone:               "05",
		MailingDate:        body.Package.MailingDate,
		WeightUOM:          "lb",
		Weight:             body.Package.Weight,
		LabelImage:         base64.StdEncoding.EncodeToString(printers[f](charge.Entry)),
	}
}
