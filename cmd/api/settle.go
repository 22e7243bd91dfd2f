package main

import (
	"errors"
	"fmt"

	"github.com/google/uuid"

	"waybill/carrier"
	"waybill/internal/command"
	"waybill/internal/service"
	"waybill/outbox"
)

// settleCommand is how a person decides about an intent in doubt: what no call and no look-up can
// tell, a carrier's support, its portal or its invoice can.
type settleCommand struct {
	service.Database `embed:""`

	Intent  string `arg:"" name:"intent-id" help:"The intent in doubt."`
	Verdict string `required:"" enum:"bought,not_bought_try_again,not_bought_give_up" placeholder:"VERDICT" help:"bought (say which label), not_bought_try_again (proved not bought: call the carrier again) or not_bought_give_up (proved not bought: the intent fails)."`
	Actor   string `required:"" placeholder:"NAME" help:"Who decides. Kept as evidence."`
	Why     string `required:"" placeholder:"TEXT" help:"From what, e.g. 'invoice 4711, line 12'. Kept as evidence, and shown to no caller."`

	Account        string `help:"The account that was charged; for bought."`
	CarrierLabelID string `name:"carrier-label-id" placeholder:"ID" help:"The carrier's own id of the label; for bought."`
	TrackingNo     string `name:"tracking-no" placeholder:"NUMBER" help:"The label's tracking number; for bought."`
	Service        string `help:"The service that was bought; for bought."`
	CostCents      int64  `name:"cost-cents" default:"-1" placeholder:"N" help:"What it cost, in minor units; for bought."`
	Currency       string `placeholder:"USD" help:"The currency of the cost; for bought."`
}

// Validate checks what can be checked before the database is opened.
func (c settleCommand) Validate() error {
	if err := c.Database.Validate(); err != nil {
		return err
	}
	if _, err := uuid.Parse(c.Intent); c.Intent != "" && err != nil {
		return fmt.Errorf("%q is no intent id", c.Intent)
	}
	bought := c.Verdict == string(outbox.VerdictBought)
	described := c.Account != "" && c.CarrierLabelID != "" && c.TrackingNo != "" && c.Service != "" &&
		c.CostCents >= 0 && c.Currency != ""
	if bought && !described {
		return errors.New("--verdict bought needs --account, --carrier-label-id, --tracking-no, --service, " +
			"--cost-cents and --currency: they make the label that the caller gets")
	}
	return nil
}

// Run applies the decision. Repeating one that was applied is refused and changes nothing.
func (c settleCommand) Run(p *command.Process) error {
	return withOutbox(p, c.Database, func(box *outbox.Outbox) error {
		err := box.Settle(p.Ctx, c.settlement())
		if errors.Is(err, outbox.ErrNotSettleable) {
			return fmt.Errorf("intent %s is not in doubt, or a look-up may still decide, or it was settled already: "+
				"read it with GET /v1/intents/%s", c.Intent, c.Intent)
		}
		if err == nil {
			fmt.Fprintf(p.Stderr, "Intent %s is settled: %s.\n", c.Intent, c.Verdict)
		}
		return err
	})
}

func (c settleCommand) settlement() outbox.Settlement {
	s := outbox.Settlement{
		IntentID: uuid.MustParse(c.Intent), // Validate has parsed it
		Verdict:  outbox.Verdict(c.Verdict),
		Actor:    c.Actor,
		Why:      c.Why,
	}
	if s.Verdict == outbox.VerdictBought {
		s.Account = c.Account
		s.Label = &carrier.Label{
			ID: c.CarrierLabelID, TrackingNo: c.TrackingNo, Service: c.Service,
			Cost: carrier.Money{Cents: c.CostCents, Currency: c.Currency},
		}
	}
	return s
}
