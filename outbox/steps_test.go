package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"waybill/carrier"
)

// twoStepCarrier is a fake that sells only what it has made before, and gives documents apart.
type twoStepCarrier struct {
	*fakeCarrier

	made      []string
	refuse    []carrier.Result // the next preparations
	onMade    func()           // when something was made, before the answer
	sells     bool             // what is to be made is sold already
	needs     time.Duration    // how long it takes; less is cut off
	queries   []carrier.Query
	documents []error // the next fetches
}

func (c *twoStepCarrier) Prepare(ctx context.Context, _ carrier.Purchase) carrier.Preparation {
	if until, _ := ctx.Deadline(); c.needs > 0 && time.Until(until) < c.needs {
		<-ctx.Done()
		return carrier.Preparation{Refusal: notBought}
	}
	if len(c.refuse) > 0 {
		refusal := c.refuse[0]
		c.refuse = c.refuse[1:]
		return carrier.Preparation{Refusal: refusal}
	}
	id := fmt.Sprintf("shp_%d", len(c.made)+1)
	c.made = append(c.made, id)
	if c.onMade != nil {
		c.onMade()
	}
	return carrier.Preparation{RemoteID: id, Sold: c.sells}
}

func (c *twoStepCarrier) Buy(ctx context.Context, p carrier.Purchase) carrier.Result {
	r := c.fakeCarrier.Buy(ctx, p)
	if r.Label != nil {
		r.Label.Document.Content = nil
	}
	return r
}

func (c *twoStepCarrier) Find(ctx context.Context, q carrier.Query) ([]carrier.Label, error) {
	c.queries = append(c.queries, q)
	return c.fakeCarrier.Find(ctx, q)
}

func (c *twoStepCarrier) Document(_ context.Context, r carrier.DocumentRequest) (carrier.Document, error) {
	if len(c.documents) > 0 {
		err := c.documents[0]
		c.documents = c.documents[1:]
		return carrier.Document{}, err
	}
	return carrier.Document{Format: r.Format, Content: []byte("%PDF of " + r.LabelID)}, nil
}

// setupTwoSteps makes a bundle whose carrier buys in two steps.
func setupTwoSteps(t *testing.T) (*testBundle, *twoStepCarrier, *Fetcher) {
	t.Helper()
	b := setup(t, byLookup)
	c := &twoStepCarrier{fakeCarrier: b.carrier}
	accounts := map[string]Account{"sim": {Carrier: c, Timeout: b.box.cfg.Lease / 3}}
	var err error
	b.buyer, err = b.box.NewBuyer(accounts)
	require.NoError(t, err)
	return b, c, b.box.NewFetcher(accounts)
}

// remoteID is what is stored of an intent's preparation.
func (b *testBundle) remoteID(id uuid.UUID) (stored string) {
	b.t.Helper()
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), `
		SELECT coalesce(remote_id, '') FROM label_intents WHERE intent_id = $1`, id).Scan(&stored))
	return stored
}

func TestTwoSteps(t *testing.T) {
	t.Parallel()

	t.Run("TheIDIsStoredBeforeTheCall", func(t *testing.T) {
		t.Parallel()
		b, c, _ := setupTwoSteps(t)
		_, id := b.accepted()
		var atCall string
		c.onCall = func() { atCall = b.remoteID(id) }
		require.NoError(t, b.work(id))
		require.Equal(t, "shp_1", atCall)
		require.Equal(t, "shp_1", c.calls[0].RemoteID)
		require.Equal(t, Purchased, b.row(id).State)
	})

	t.Run("AfterAnUnknownTheSameIsLookedUpAndBoughtAgain", func(t *testing.T) {
		t.Parallel()
		b, c, _ := setupTwoSteps(t)
		c.will(reply{answer: unknown})
		_, id := b.accepted()
		for b.row(id).State != Purchased {
			requireSnooze(t, b.work(id))
			b.age(id, byLookup.Lookup.QuietPeriod())
			if b.row(id).EmptyLookups == 2 {
				require.NoError(t, b.work(id))
			}
		}
		require.Equal(t, []string{"shp_1"}, c.made)
		require.Equal(t, "shp_1", c.calls[1].RemoteID)
		for _, q := range c.queries {
			require.Equal(t, carrier.Query{Reference: c.calls[0].Reference, RemoteID: "shp_1"}, q)
		}
		require.Equal(t, 1, c.charges())
	})

	// What the reference names may be sold without our knowing, by a database that was restored, say.
	t.Run("WhatIsSoldAlreadyIsLookedUpAndNotBoughtAgain", func(t *testing.T) {
		t.Parallel()
		b, c, _ := setupTwoSteps(t)
		s, id := b.accepted()
		c.charge(carrier.Purchase{Reference: reference(s.Parcel), Shipment: s.Shipment})
		c.sells = true
		requireSnooze(t, b.work(id))
		require.Equal(t, "shp_1", b.remoteID(id))
		r := b.row(id)
		require.Equal(t, row{
			State: InDoubt, SettledBy: SettledByLookup, Attempts: 1, Calls: 1, OpenCalls: 1, KeyState: "started", Jobs: 1,
		}, r)
		require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls WHERE intent_id = $1 AND reason = 'sold_before'`, id))
		require.NoError(t, b.work(id))
		require.Equal(t, Purchased, b.row(id).State)
		require.Zero(t, c.callCount())
		require.Equal(t, carrier.Query{Reference: reference(s.Parcel), RemoteID: "shp_1"}, c.queries[0])
	})

	t.Run("WithoutTheLeaseNothingIsBought", func(t *testing.T) {
		t.Parallel()
		b, c, _ := setupTwoSteps(t)
		core, logs := observer.New(zap.WarnLevel)
		b.buyer.logger = zap.New(core)
		_, id := b.accepted()
		c.onMade = func() { b.expireLease(id) }
		requireSnooze(t, b.work(id))
		require.Equal(t, 1, logs.FilterMessage(leaseGone).Len(), "and not that the lease was too short")
		require.Zero(t, logs.FilterMessage(leaseTooShort).Len())
		require.Zero(t, c.callCount())
		require.Empty(t, b.remoteID(id))
		c.onMade = nil
		b.age(id, time.Minute)
		require.NoError(t, b.work(id))
		require.Equal(t, "shp_2", c.calls[0].RemoteID)
		require.Equal(t, 1, c.charges())
	})

	t.Run("WhatWasNotPreparedIsNotBought", func(t *testing.T) {
		t.Parallel()
		for name, tt := range map[string]struct {
			refusal carrier.Result
			want    State
		}{
			"Refused":    {rejected, Rejected},
			"Busy":       {notBought, Pending},
			"Unknown":    {unknown, Pending}, // It costs nothing, so it is not bought.
			"NoOutcome":  {carrier.Result{}, Pending},
			"BoughtEven": {carrier.Result{Outcome: carrier.Bought}, Pending},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b, c, _ := setupTwoSteps(t)
				c.refuse = []carrier.Result{tt.refusal}
				_, id := b.accepted()
				err := b.work(id)
				r := b.row(id)
				require.Equal(t, tt.want, r.State)
				require.Zero(t, r.OpenCalls)
				require.Zero(t, c.callCount())
				if tt.want == Pending {
					requireRetry(t, err)
					require.NoError(t, b.work(id))
					require.Equal(t, 1, c.charges())
				}
			})
		}
	})

	t.Run("DeathBeforeThePreparationIsStoredIsNoDoubt", func(t *testing.T) {
		t.Parallel()
		b, c, _ := setupTwoSteps(t)
		c.caps = blind
		_, id := b.accepted()
		granted, err := b.box.claim(t.Context(), id, c)
		require.NoError(t, err)
		require.Equal(t, prepareStep, granted.plan.step)
		require.Zero(t, b.row(id).OpenCalls, "nothing can have been sent")
		b.expireLease(id)
		require.NoError(t, b.work(id))
		require.Equal(t, Purchased, b.row(id).State)
	})

	t.Run("WhatWasPreparedAtAnotherAccountIsNotBought", func(t *testing.T) {
		t.Parallel()
		b, c, _ := setupTwoSteps(t)
		c.will(reply{answer: notBought})
		_, id := b.accepted()
		requireRetry(t, b.work(id))
		c.account = "SIM-2"
		require.NoError(t, b.work(id))
		require.Equal(t, "shp_2", c.calls[1].RemoteID, "shp_1 was made at SIM-1, and would be paid there")
		require.Equal(t, 1, b.count(`SELECT count(*) FROM labels WHERE account = 'SIM-2'`))
	})

	t.Run("ALeaseThatLeavesTooLittleForItGrows", func(t *testing.T) {
		t.Parallel()
		const lease, timeout = 600 * time.Millisecond, 500 * time.Millisecond
		b := setup(t, byLookup, func(c *Config) { c.Lease = lease })
		c := &twoStepCarrier{fakeCarrier: b.carrier, needs: 400 * time.Millisecond}
		var err error
		b.buyer, err = b.box.NewBuyer(map[string]Account{"sim": {Carrier: c, Timeout: timeout}})
		require.NoError(t, err)
		_, id := b.accepted()
		for range 20 {
			if b.work(id) == nil {
				break
			}
			b.age(id, time.Minute)
		}
		r := b.row(id)
		require.Equal(t, Purchased, r.State)
		require.Zero(t, r.Refusals, "the carrier has refused nothing")
		require.Equal(t, 1, c.charges())
	})

	t.Run("AfterARestore", func(t *testing.T) {
		t.Parallel()

		// The backup holds shp_1, which ran out after it, and shp_2 was bought.
		t.Run("AnOldPreparationIsNotAskedFor", func(t *testing.T) {
			t.Parallel()
			b, c, _ := setupTwoSteps(t)
			c.will(reply{answer: carrier.Result{Outcome: carrier.NotBought, Code: "rate_expired", Renew: true}})
			_, id := b.accepted()
			requireRetry(t, b.work(id))
			require.NoError(t, b.work(id))
			b.forget(id)
			b.exec(`UPDATE label_intents SET remote_id = 'shp_1' WHERE intent_id = $1`, id)
			b.recover(b.clock())
			require.NoError(t, b.work(id))
			require.Equal(t, []carrier.Query{{Reference: c.calls[0].Reference}}, c.queries)
			require.Equal(t, 1, c.charges())
		})

		// What is prepared anew would be other bytes under the same key.
		t.Run("AKeyAloneProvesNothing", func(t *testing.T) {
			t.Parallel()
			b, c, _ := setupTwoSteps(t)
			c.caps = keyed
			_, id := b.accepted()
			require.NoError(t, b.work(id))
			b.forget(id)
			b.recover(b.clock())
			require.NoError(t, b.work(id))
			require.Equal(t, SettledByPerson, b.row(id).SettledBy)
			require.Equal(t, 1, c.callCount())
		})
	})

	t.Run("WhatCanNoLongerBeBoughtIsMadeAnew", func(t *testing.T) {
		t.Parallel()
		b, c, _ := setupTwoSteps(t)
		c.will(reply{answer: carrier.Result{Outcome: carrier.NotBought, Code: "rate_expired", Renew: true}})
		_, id := b.accepted()
		requireRetry(t, b.work(id))
		require.Empty(t, b.remoteID(id))
		require.NoError(t, b.work(id))
		require.Equal(t, []string{"shp_1", "shp_2"}, c.made)
		require.Equal(t, "shp_2", c.calls[1].RemoteID)
	})
}

// TestFailuresThatStayWithTheKey: a carrier that replays failures is given another key, but only once
// the old one is known to have bought nothing.
func TestFailuresThatStayWithTheKey(t *testing.T) {
	t.Parallel()
	replaying := carrier.Capabilities{Key: &carrier.Key{ReplaysFailures: true}, Lookup: byLookup.Lookup}
	answered := unknown
	answered.Answered = true

	t.Run("ProvedNotBought", func(t *testing.T) {
		t.Parallel()
		b := setup(t, replaying)
		b.carrier.will(reply{answer: notBought}, reply{answer: notBought})
		s, id := b.accepted()
		requireRetry(t, b.work(id))
		requireRetry(t, b.work(id))
		require.NoError(t, b.work(id))
		require.Equal(t, []string{
			"carrier:fulfilment:" + s.Key, "carrier::2:fulfilment:" + s.Key, "carrier::3:fulfilment:" + s.Key,
		}, b.carrier.keys())
		require.Equal(t, 1, b.count(`SELECT count(*) FROM labels WHERE carrier_key = $1`, "carrier::3:fulfilment:"+s.Key))
	})

	t.Run("AnAnswerThatProvesNothingIsLookedUp", func(t *testing.T) {
		t.Parallel()
		b := setup(t, replaying)
		b.carrier.will(reply{answer: answered})
		s, id := b.accepted()
		requireSnooze(t, b.work(id))
		require.Equal(t, InDoubt, b.row(id).State)
		for b.row(id).State != Purchased {
			if err := b.work(id); err != nil {
				requireSnooze(t, err)
			}
			b.age(id, replaying.Lookup.QuietPeriod())
		}
		require.Equal(t, []string{"carrier:fulfilment:" + s.Key, "carrier::2:fulfilment:" + s.Key}, b.carrier.keys())
	})

	t.Run("NoAnswerKeepsTheKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t, replaying)
		b.carrier.will(reply{charge: true, answer: unknown})
		s, id := b.accepted()
		requireRetry(t, b.work(id))
		require.NoError(t, b.work(id))
		require.Equal(t, []string{"carrier:fulfilment:" + s.Key, "carrier:fulfilment:" + s.Key}, b.carrier.keys())
		require.Equal(t, 1, b.carrier.charges())
	})

	t.Run("AFailureAfterAnOpenCallProvesNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t, replaying)
		b.carrier.will(reply{charge: true, answer: unknown}, reply{answer: notBought})
		_, id := b.accepted()
		requireRetry(t, b.work(id))
		requireSnooze(t, b.work(id))
		require.Equal(t, InDoubt, b.row(id).State)
		require.NoError(t, b.work(id), "the look-up finds it")
		require.Equal(t, 2, b.carrier.callCount())
		require.Equal(t, 1, b.carrier.charges())
	})

	t.Run("AfterARestoreAnEarlierKeyIsNotCalledAgain", func(t *testing.T) {
		t.Parallel()
		b := setup(t, carrier.Capabilities{Key: replaying.Key})
		b.carrier.will(reply{answer: notBought}) // It never arrived: the carrier has not seen this key.
		_, id := b.accepted()
		requireRetry(t, b.work(id))
		require.NoError(t, b.work(id))
		b.forget(id)
		b.exec(`UPDATE label_intents SET key_generation = 1 WHERE intent_id = $1`, id)
		b.recover(b.clock())
		require.NoError(t, b.work(id))
		require.Equal(t, SettledByPerson, b.row(id).SettledBy)
		require.Equal(t, 1, b.carrier.charges())
	})

	t.Run("OthersKeepTheirKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		b.carrier.will(reply{answer: notBought})
		s, id := b.accepted()
		requireRetry(t, b.work(id))
		require.NoError(t, b.work(id))
		require.Equal(t, []string{"carrier:fulfilment:" + s.Key, "carrier:fulfilment:" + s.Key}, b.carrier.keys())
	})
}

// keys are the carrier keys of all calls.
func (f *fakeCarrier) keys() (keys []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.calls {
		keys = append(keys, p.CarrierKey)
	}
	return keys
}

// TestGenerationsAreNobodysKey: whatever callers choose for keys, no generation of one is another's.
func TestGenerationsAreNobodysKey(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, caller := range []string{"a", "2", "a-2"} {
		for _, key := range []string{"k", "2:a:k", ":2:a:k", "a:k", "2"} {
			for generation := 1; generation <= 3; generation++ {
				made := carrierKey(slot{caller: caller, key: key}, generation)
				require.NotContains(t, seen, made)
				seen[made] = caller
				require.True(t, strings.HasPrefix(made, "carrier:"))
			}
		}
	}
}

// fetch works one job for a document.
func fetchOnce(t *testing.T, f *Fetcher, labelID uuid.UUID) error {
	t.Helper()
	return f.Work(t.Context(), &river.Job[FetchDocument]{
		JobRow: &rivertype.JobRow{ID: 1, Attempt: 1}, Args: FetchDocument{LabelID: labelID, Carrier: "sim"},
	})
}

// sold buys one label and returns its id.
func (b *testBundle) sold() (s Submission, labelID uuid.UUID) {
	b.t.Helper()
	s, id := b.accepted()
	require.NoError(b.t, b.work(id))
	a := b.accept(s)
	require.NotEqual(b.t, uuid.Nil, a.LabelID)
	return s, a.LabelID
}

const documentJobs = `SELECT count(*) FROM river_job WHERE kind = 'fetch_document'`

func TestDocuments(t *testing.T) {
	t.Parallel()

	t.Run("AreFetchedAfterTheSale", func(t *testing.T) {
		t.Parallel()
		b, c, fetcher := setupTwoSteps(t)
		c.documents = []error{errors.New("not there yet"), nil}
		s, labelID := b.sold()
		require.Equal(t, 1, b.count(documentJobs), "committed with the label")
		_, err := b.box.Document(t.Context(), s.CallerID, labelID)
		require.ErrorIs(t, err, ErrNotFound)
		require.NoError(t, b.box.Gauge(t.Context()))
		require.InDelta(t, 1, value(b.box.cfg.Metrics.undocumented), 0)

		require.ErrorContains(t, fetchOnce(t, fetcher, labelID), "not there yet")
		require.ErrorContains(t, fetchOnce(t, fetcher, labelID), "holds no document")
		require.NoError(t, fetchOnce(t, fetcher, labelID))
		require.NoError(t, fetchOnce(t, fetcher, labelID), "a job that comes again finds nothing to do")

		doc, err := b.box.Document(t.Context(), s.CallerID, labelID)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(doc.Content), "%PDF of L-"))
		require.NoError(t, b.box.Gauge(t.Context()))
		require.InDelta(t, 0, value(b.box.cfg.Metrics.undocumented), 0)
	})

	t.Run("OneThatTheCarrierDoesNotGiveShows", func(t *testing.T) {
		t.Parallel()
		b, _, _ := setupTwoSteps(t)
		_, labelID := b.sold()
		plain := b.box.NewFetcher(map[string]Account{"sim": {Carrier: b.carrier, Timeout: b.box.cfg.Lease / 3}})
		require.NoError(t, fetchOnce(t, plain, labelID))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM labels WHERE document_state = 'none'`))
		require.NoError(t, b.box.Gauge(t.Context()))
		require.InDelta(t, 1, value(b.box.cfg.Metrics.undocumented), 0)
	})

	t.Run("OneThatWasPrintedInVainIsNotPrintedAgain", func(t *testing.T) {
		t.Parallel()
		b, c, fetcher := setupTwoSteps(t)
		_, labelID := b.sold()
		c.documents = []error{fmt.Errorf("reprinting: %w", carrier.ErrNoDocument), nil, nil}
		require.NoError(t, fetchOnce(t, fetcher, labelID))
		require.NoError(t, fetchOnce(t, fetcher, labelID))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM labels WHERE document_state = 'none'`))
		require.NoError(t, b.box.Gauge(t.Context()))
		require.InDelta(t, 1, value(b.box.cfg.Metrics.undocumented), 0)
	})

	t.Run("AreAskedOfTheAccountThatSold", func(t *testing.T) {
		t.Parallel()
		b, c, fetcher := setupTwoSteps(t)
		_, labelID := b.sold()
		c.account = "SIM-2" // a mistake in the configuration, say
		requireSnooze(t, fetchOnce(t, fetcher, labelID))
		c.account = "SIM-1"
		require.NoError(t, fetchOnce(t, fetcher, labelID))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM labels WHERE document_state = 'stored'`))
	})

	t.Run("AreNotAskedForForEver", func(t *testing.T) {
		t.Parallel()
		b, c, fetcher := setupTwoSteps(t)
		_, labelID := b.sold()
		c.documents = []error{errors.New("not there"), errors.New("not there")}
		require.Error(t, fetchOnce(t, fetcher, labelID))
		b.exec(`UPDATE labels SET bought_at = bought_at - make_interval(secs => $1)`, documentPatience.Seconds())
		require.NoError(t, fetchOnce(t, fetcher, labelID))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM labels WHERE document_state = 'none'`))
		require.NoError(t, b.box.Gauge(t.Context()))
		require.InDelta(t, 0, value(b.box.cfg.Metrics.undocumented), 0, "by now somebody has printed it")
	})

	t.Run("AreNotAskedForForEverOfWhatIsConfiguredNoMore", func(t *testing.T) {
		t.Parallel()
		for name, forget := range map[string]func(*twoStepCarrier, *Fetcher){
			"Account": func(c *twoStepCarrier, _ *Fetcher) { c.account = "SIM-2" },
			"Carrier": func(_ *twoStepCarrier, f *Fetcher) { delete(f.accounts, "sim") },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b, c, fetcher := setupTwoSteps(t)
				_, labelID := b.sold()
				forget(c, fetcher)
				requireSnooze(t, fetchOnce(t, fetcher, labelID))
				b.exec(`UPDATE labels SET bought_at = bought_at - make_interval(secs => $1)`, documentPatience.Seconds())
				require.NoError(t, fetchOnce(t, fetcher, labelID))
				require.Equal(t, 1, b.count(`SELECT count(*) FROM labels WHERE document_state = 'none'`))
			})
		}
	})

	t.Run("OldOnesHideNoYoungOnes", func(t *testing.T) {
		t.Parallel()
		b, _, _ := setupTwoSteps(t)
		_, old := b.sold()
		_, young := b.sold()
		b.exec(`UPDATE labels SET bought_at = bought_at - interval '1 hour' WHERE label_id = $1`, old)
		b.exec(`UPDATE labels SET bought_at = bought_at - interval '1 minute' WHERE label_id = $1`, young)
		b.exec(`DELETE FROM river_job WHERE args ->> 'label_id' = $1`, young.String())
		rung, err := b.box.ringForDocuments(t.Context(), 1)
		require.NoError(t, err)
		require.Equal(t, 1, rung, "the old one has a job")
		require.Equal(t, 1, b.count(documentJobs+` AND args ->> 'label_id' = $1`, young.String()))
	})

	t.Run("LostJobsAreRungAgain", func(t *testing.T) {
		t.Parallel()
		b, _, _ := setupTwoSteps(t)
		_, labelID := b.sold()
		b.exec(`DELETE FROM river_job`)
		b.exec(`UPDATE labels SET bought_at = bought_at - interval '1 minute' WHERE label_id = $1`, labelID)
		for range 2 {
			_, err := b.box.Ring(t.Context())
			require.NoError(t, err)
		}
		require.Equal(t, 1, b.count(documentJobs+` AND queue = 'labels-sim'`))
	})

	t.Run("OfALabelThatAPersonNamed", func(t *testing.T) {
		t.Parallel()
		b, c, fetcher := setupTwoSteps(t)
		c.will(reply{charge: true, answer: carrier.Result{
			Outcome: carrier.Unknown, Code: carrier.CodeOverPrice, Label: &carrier.Label{ID: "L"},
		}})
		s, id := b.accepted()
		require.NoError(t, b.work(id))
		require.Equal(t, SettledByPerson, b.row(id).SettledBy)
		label := c.sold[c.calls[0].Reference][0]
		label.Document.Content = nil
		require.NoError(t, b.box.Settle(t.Context(), Settlement{
			IntentID: id, Verdict: VerdictBought, Account: "SIM-1", Label: &label, Actor: "ops", Why: "the invoice",
		}))
		a := b.accept(s)
		require.Equal(t, 1, b.count(documentJobs))
		require.NoError(t, fetchOnce(t, fetcher, a.LabelID))
		_, err := b.box.Document(t.Context(), s.CallerID, a.LabelID)
		require.NoError(t, err)
	})
}
