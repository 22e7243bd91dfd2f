package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// story is the demonstration under way.
type story struct {
	*teller

	stack  *stack
	db     *database
	client client
	worker *process

	// first is the answer of step 1, which the repeats are held against.
	first answer

	// crowded is the label of step 4, and doubtful the intent of the carrier without a key.
	crowded  label
	doubtful intent

	// honest and planted are the findings on the carrier's invoices.
	honest, planted int
}

// caller is who orders the labels.
const caller = "fulfilment"

// order is a request and its idempotency key, which names the parcel and not the attempt.
type order struct {
	id   int64
	key  string
	body string
}

func newOrder(id int64, grams int) order {
	return order{
		id:  id,
		key: fmt.Sprintf("label:%d:1:v1", id),
		body: fmt.Sprintf(`{"order_id": %d, "parcel_no": 1, "service": "ground", "weight_g": %d, `+
			`"ship_to": {"name": "Ada Jones", "street1": "12 Elm Street", "city": "Portland", `+
			`"state": "OR", "postal_code": "97205", "country": "US"}}`, id, grams),
	}
}

// play tells the story, step by step. An error is a step that could not be taken at all; a step that
// shows the wrong thing is counted by check.
func (s *story) play(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.buy, s.repeat, s.otherBody, s.crowd, s.timeout, s.crash, s.doubt, s.reconcileHonest, s.void, s.reconcilePlanted, s.reconcileDoubt,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

var firstOrder = newOrder(918273, 1450)

func (s *story) buy(ctx context.Context) error {
	s.step("Buy a label",
		"POST /v1/labels with Idempotency-Key: "+firstOrder.key+" and Prefer: wait=20")
	var err error
	if s.first, err = s.client.submit(ctx, firstOrder.key, firstOrder.body, 20); err != nil {
		return err
	}
	l := decode[label](s.first)
	s.check("status (201 means bought)", http.StatusCreated, s.first.status)
	if s.first.status == http.StatusCreated {
		s.say("     tracking number " + l.TrackingNo + ", " + money(l.CostCents, l.Currency))
	}
	return s.checkCharges(ctx, firstOrder)
}

func (s *story) repeat(ctx context.Context) error {
	s.step("The same request again",
		"The answer got lost on its way, so the client repeats the request: same key, same body.")
	a, err := s.client.submit(ctx, firstOrder.key, firstOrder.body, 0)
	if err != nil {
		return err
	}
	s.check("status", http.StatusCreated, a.status)
	s.check("replayed from the saved answer", "true", a.header.Get("Idempotent-Replayed"))
	s.check("byte for byte the first answer", true, bytes.Equal(a.body, s.first.body))
	return s.checkCharges(ctx, firstOrder)
}

func (s *story) otherBody(ctx context.Context) error {
	s.step("The same key with another body",
		"A mistake in the client: the key of the first parcel, but twice the weight.")
	a, err := s.client.submit(ctx, firstOrder.key, newOrder(firstOrder.id, 2900).body, 0)
	if err != nil {
		return err
	}
	s.check("status (422 means refused)", http.StatusUnprocessableEntity, a.status)
	s.check("code", "idempotency_key_reused", decode[problem](a).Code)
	return s.checkCharges(ctx, firstOrder)
}

// problem is what the demonstration reads of a problem document.
type problem struct {
	Code string `json:"code"`
}

// crowdSize is how many clients send one request at once.
const crowdSize = 20

func (s *story) crowd(ctx context.Context) error {
	s.step("Twenty at once",
		"Twenty clients send one and the same new request at the same moment.")
	o := newOrder(918274, 800)
	answers := make([]answer, crowdSize)
	errs := make([]error, crowdSize)
	var sending sync.WaitGroup
	for i := range crowdSize {
		sending.Go(func() { answers[i], errs[i] = s.client.submit(ctx, o.key, o.body, 20) })
	}
	sending.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	bought, bodies := 0, map[string]bool{}
	for _, a := range answers {
		if a.status == http.StatusCreated {
			bought++
		}
		bodies[string(a.body)] = true
	}
	s.crowded = decode[label](answers[0])
	s.check("answered with the label", crowdSize, bought)
	s.check("different answers", 1, len(bodies))
	return s.checkCharges(ctx, o)
}

func (s *story) timeout(ctx context.Context) error {
	s.step("The carrier charges, and never answers",
		"The worker gives up waiting after "+demoTimeout.String()+". It cannot know whether a label was sold, so it does",
		"not call that a failure: it asks again with the key it sent the first time.")
	if err := s.client.fail(ctx, "hang_after_charge"); err != nil {
		return err
	}
	o := newOrder(918275, 2100)
	a, err := s.client.submit(ctx, o.key, o.body, 30)
	if err != nil {
		return err
	}
	s.check("status", http.StatusCreated, a.status)
	in, err := s.client.read(ctx, "/v1/intents/"+decode[label](a).IntentID)
	if err != nil {
		return err
	}
	s.check("calls made to the carrier", 2, decode[intent](in).Calls)
	return s.checkCharges(ctx, o)
}

// intent is what the demonstration reads of a label intent.
type intent struct {
	IntentID  string `json:"intent_id"`
	State     string `json:"state"`
	SettledBy string `json:"settled_by"`
	Calls     int    `json:"calls"`
	Reference string `json:"reference"`
	LabelID   string `json:"label_id"`
}

func (s *story) crash(ctx context.Context) error {
	s.step("The worker is killed in the middle of a purchase",
		"The carrier has charged and hangs again. Before the worker hears of it, it gets kill -9.")
	if err := s.client.fail(ctx, "hang_after_charge"); err != nil {
		return err
	}
	o := newOrder(918276, 640)
	a, err := s.client.submit(ctx, o.key, o.body, 0)
	if err != nil {
		return err
	}
	s.check("status (202 means accepted)", http.StatusAccepted, a.status)
	if err := s.awaitCharge(ctx, o); err != nil {
		return err
	}
	pid := s.worker.pid()
	if err := s.stack.killed(s.worker); err != nil {
		return err
	}
	s.say("     killed worker process " + strconv.Itoa(pid))
	a, err = s.client.read(ctx, "/v1/intents/"+decode[label](a).IntentID)
	if err != nil {
		return err
	}
	s.check("the order in our records", "pending", decode[intent](a).State)
	if err := s.checkCharges(ctx, o); err != nil {
		return err
	}
	s.say("   The money is spent and nobody here knows it. A new worker starts, waits until the dead",
		"   one's lease has run out ("+demoLease.String()+"), and takes over. Meanwhile the client repeats its request.")
	if s.worker, err = s.stack.startWorker(ctx, "worker-2", anyPort); err != nil {
		return err
	}
	if a, err = s.client.submit(ctx, o.key, o.body, 30); err != nil {
		return err
	}
	s.check("status", http.StatusCreated, a.status)
	return s.checkCharges(ctx, o)
}

// await asks until something is so.
func await(ctx context.Context, what string, so func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if done, err := so(ctx); err != nil || done {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, ctx.Err())
		}
	}
}

// awaitCharge returns when the carrier has charged for an order.
func (s *story) awaitCharge(ctx context.Context, o order) error {
	return await(ctx, fmt.Sprintf("the carrier charges for order %d", o.id), func(ctx context.Context) (bool, error) {
		n, err := s.chargesOf(ctx, o)
		return n > 0, err
	})
}

// checkCharges asks the witness: the carrier's own ledger.
func (s *story) checkCharges(ctx context.Context, o order) error {
	n, err := s.chargesOf(ctx, o)
	if err == nil {
		s.check("charges in the carrier's ledger", 1, n)
	}
	return err
}

func (s *story) chargesOf(ctx context.Context, o order) (n int, err error) {
	charges, err := s.client.charges(ctx)
	for _, c := range charges {
		if c.CarrierKey == "carrier:"+caller+":"+o.key {
			n++
		}
	}
	return n, err
}

// money spells an amount.
func money(cents int64, currency string) string {
	return fmt.Sprintf("%d.%02d %s", cents/100, cents%100, currency)
}
