package e2e

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"
	"golang.org/x/sync/errgroup"
)

// order is one request as a caller makes it: the key and the body, the same on every repeat.
type order struct {
	key, body string
}

// orderOf is the order number n: each has a parcel of its own, and their prices differ.
func orderOf(n int) order {
	return order{
		key: fmt.Sprintf("label:%d:1:v1", n),
		body: fmt.Sprintf(`{"order_id": %d, "parcel_no": 1, "carrier": "sim", "service": "ground",
			"weight_g": %d, "max_cost_cents": 20000,
			"ship_to": {"name": "Ada Byron", "street1": "12 Mill Lane", "city": "Boise", "state": "ID",
				"postal_code": "83702", "country": "US", "phone": "2085550100", "email": "ada@example.com"}}`, n, 500+n%40*1000),
	}
}

// other is the same key with another body.
func (o order) other() order {
	o.body = strings.Replace(o.body, `"ground"`, `"express"`, 1)
	return o
}

// answer is what a client got.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// code is the problem's code, if it is one.
func (a answer) code() string { return a.member().Code }

// intentID is the intent that the answer names.
func (a answer) intentID() string { return a.member().IntentID }

type member struct {
	Code     string `json:"code"`
	IntentID string `json:"intent_id"`
}

func (a answer) member() member {
	var m member
	_ = json.Unmarshal(a.body, &m) // What is no JSON names nothing.
	return m
}

// said is a short form for comparisons: the status, and the problem's code.
func (a answer) said() string { return strings.TrimSpace(fmt.Sprint(a.status, " ", a.code())) }

// do sends one request and reads the whole answer.
func (s *stack) do(ctx context.Context, method, url, body string, header ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: content}, nil
}

// post submits an order to one API, once, and remembers the answer.
func (s *stack) post(ctx context.Context, api *process, o order, header ...string) (answer, error) {
	s.mu.Lock()
	if _, known := s.orders[o.key]; !known {
		s.orders[o.key] = o
	}
	s.mu.Unlock()
	a, err := s.do(ctx, http.MethodPost, api.url+"/v1/labels", o.body,
		append([]string{"Idempotency-Key", o.key, "Content-Type", "application/json"}, header...)...)
	if err == nil {
		s.mu.Lock()
		s.heard[o.key] = append(s.heard[o.key], a)
		s.mu.Unlock()
	}
	return a, err
}

// errAgain makes a client repeat its request.
var errAgain = errors.New("no answer that says anything of the order")

// submit submits an order as a good client does: again and again with the same key, to whichever API
// runs, until an answer says what the order stands for.
func (s *stack) submit(ctx context.Context, o order, header ...string) (answer, error) {
	var a answer
	err := backoff.Retry(func() (err error) {
		a, err = s.post(ctx, s.api(), o, header...)
		switch {
		case err != nil:
			return err
		case a.status == http.StatusServiceUnavailable, a.status == http.StatusTooManyRequests:
			return fmt.Errorf("%w: %s", errAgain, a.said())
		default:
			return nil
		}
	}, backoff.WithContext(&backoff.ConstantBackOff{Interval: 50 * time.Millisecond}, ctx))
	return a, err
}

// submitAll submits the orders from..to-1 by many clients at once; each must be accepted, or be there.
func (s *stack) submitAll(from, to int, header ...string) error {
	clients, ctx := errgroup.WithContext(s.t.Context())
	clients.SetLimit(16)
	for n := from; n < to; n++ {
		clients.Go(func() error {
			a, err := s.submit(ctx, orderOf(n), header...)
			if err != nil {
				return fmt.Errorf("submitting order %d: %w", n, err)
			}
			switch a.said() {
			case "202", "201", "409 request_in_progress", "409 purchase_in_doubt", "422 carrier_rejected":
				return nil
			default:
				return fmt.Errorf("order %d is answered %s: %s", n, a.said(), a.body)
			}
		})
	}
	return clients.Wait()
}

// together sends the same number of requests at once and returns the answers.
func (s *stack) together(n int, send func(ctx context.Context, i int) (answer, error)) ([]answer, error) {
	answers := make([]answer, n)
	begin := make(chan struct{})
	clients, ctx := errgroup.WithContext(s.t.Context())
	for i := range n {
		clients.Go(func() (err error) {
			<-begin
			answers[i], err = send(ctx, i)
			return err
		})
	}
	close(begin)
	return answers, clients.Wait()
}
