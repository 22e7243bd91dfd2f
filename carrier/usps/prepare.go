package usps

import (
	"context"
	"time"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Prepare implements [carrier.Preparer]: it has the payment authorised, which charges nothing, and
// fixes the mailing date, which is the remote id.
func (a *Adapter) Prepare(ctx context.Context, _ carrier.Purchase) carrier.Preparation {
	if _, err := a.authorise(ctx); err != nil {
		return carrier.Preparation{Refusal: carrierhttp.NotSent(err.Error())}
	}
	return carrier.Preparation{RemoteID: a.today().AddDate(0, 0, a.cfg.MailingDays).Format(time.DateOnly)}
}

// today is the date in UTC: at no address from Puerto Rico to American Samoa is it a later day, and the
// carrier takes one that is up to a week ahead. On Guam it may be; mailing_days: 1 helps there.
func (a *Adapter) today() time.Time { return a.cfg.Now().UTC().Truncate(24 * time.Hour) }

// isDate tells whether the remote id is one that Prepare made.
func isDate(remoteID string) bool {
	_, err := time.Parse(time.DateOnly, remoteID)
	return err == nil
}

// expired tells whether the mailing date has passed everywhere: from then on no label is made with it.
func (a *Adapter) expired(remoteID string) bool {
	date, err := time.Parse(time.DateOnly, remoteID)
	return err == nil && a.today().After(date)
}

// codeMailingDate is the code of a purchase that needs another mailing date.
const codeMailingDate = "mailing_date"

// runOut is the result of a purchase whose mailing date is none, or has passed.
func runOut() carrier.Result {
	return carrier.Result{
		Outcome: carrier.NotBought, Renew: true, AboutOrder: true,
		Code: codeMailingDate, Message: "the mailing date has passed",
	}
}
