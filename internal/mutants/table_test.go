package mutants_test

// mutant is one planted bug.
type mutant struct {
	name string

	// file is relative to the module; each edit's old text must stand in it exactly once.
	file  string
	edits []edit

	// pkg and red are the test that must fail: the narrowest that has to know.
	pkg, red string

	why string
}

type edit struct{ old, new string }

// one is the usual mutant's single edit.
func one(before, after string) []edit { return []edit{{before, after}} }

// table is grouped by the step of an intent's life that is broken.
var table = []mutant{
	// Accept.
	{
		"job outside of the transaction", "outbox/accept.go",
		one(`o.ring(ctx, tx, jobs); err`,
			`o.inTx(ctx, "bell", func(ctx context.Context, tx pgx.Tx) error { return o.ring(ctx, tx, jobs) }); err`),
		"./outbox", "TestLostCommit/AcceptWithoutPatience/Applied",
		"a job without an intent, or an intent without a job",
	},
	{
		"answer before COMMIT", "outbox/accept.go",
		[]edit{
			{`	err := o.inTx(ctx, "accept", func(`, `	early := make(chan error, 2)
	go func() { early <- o.inTx(ctx, "accept", func(`},
			{`		answers, err = o.accept(ctx, tx, items)
		return err
	})
	return answers, err
`, `		if answers, err = o.accept(ctx, tx, items); err == nil {
			early <- nil
		}
		return err
	}) }()
	return answers, <-early
`},
		},
		"./outbox", "TestLostCommit/AcceptWithoutPatience/NotApplied",
		"an answer given must stay true after any crash",
	},
	{
		"an unknown COMMIT is called a refusal", "outbox/accept.go",
		one(`	case errors.Is(err, groupcommit.ErrClosed):`,
			`	case errors.Is(err, ErrUnavailable):
		return Answer{}, ErrOverloaded
	case errors.Is(err, groupcommit.ErrClosed):`),
		"./outbox", "TestLostCommit/AcceptWithoutPatience/Applied",
		`"nothing was stored, safe to retry" is not known after a COMMIT whose reply was lost`,
	},
	{
		"a lost COMMIT is not run again", "outbox/sqlstate.go",
		one(`return !errors.Is(err, errBroken)`, `return pgconn.SafeToRetry(err)`),
		"./outbox", "TestLostCommit/Accept/Applied",
		"the driver knows what it sent, not what the server did",
	},
	{
		"a refusal keeps the key", "outbox/accept.go",
		one(`if !accepted[it.intentID] {
			callers, keys`, `if false {
			callers, keys`),
		"./outbox", "TestAccept/AnotherKeyForTheParcelIsRefusedAndLeavesNothing",
		"a refusal has no effect",
	},
	{
		"parcels are locked in any order", "outbox/accept.go",
		one(`		ORDER BY order_id, parcel_no, label_version
`, ``),
		"./outbox", "TestParcelsAreLockedInOneOrder",
		"two batches that hold each other's next parcel deadlock",
	},
	{
		"no unique parcel", "migrations/0002_create_outbox.sql",
		[]edit{
			{`    CONSTRAINT label_intents_parcel UNIQUE (order_id, parcel_no, label_version),
`, ``},
			{`    CONSTRAINT label_intents_reference UNIQUE (reference),
`, ``}, // made of the parcel, so that it would be enough
		},
		"./outbox", "TestAcceptConcurrently/SixtyFourKeysForOneParcelAreOneIntent",
		"a check before an insert is no constraint",
	},
	{
		"no unique key", "migrations/0002_create_outbox.sql",
		one(`    CONSTRAINT label_intents_caller_key UNIQUE (caller_id, idem_key),
`, ``),
		"./outbox", "TestLateRepeatForAnotherParcel",
		"a purged key must never buy a second label",
	},
	{
		"answers of a batch are mixed up", "internal/groupcommit/batcher.go",
		one(`value: values[i]`, `value: values[len(batch)-1-i]`),
		"./internal/groupcommit", "TestBatcher/QueuedItemsShareOneFlushAndGetTheirOwnResult",
		"whoever shares a transaction must not get another caller's answer",
	},

	// Fingerprints and replays.
	{
		"late repeat without a look at the body", "outbox/replay.go",
		one(`	case !sameBody:
`, `	case !sameBody && s.keyPresent:
`),
		"./outbox", "TestLateRepeat/PurchasedGetsTheSameBytesAndBuysNothing",
		"the fingerprint counts on every path",
	},
	{
		"another caller gets the answer", "outbox/replay.go",
		one(`	case !sameCaller:
`, `	case !sameCaller && !sameBody:
`),
		"./outbox", "TestAccept/AnotherKeyForTheParcelIsRefusedAndLeavesNothing",
		"nothing crosses callers",
	},
	{
		"reads forget the caller", "outbox/read.go",
		one(`WHERE i.caller_id = $1 AND i.intent_id = $2`, `WHERE $1 <> '' AND i.intent_id = $2`),
		"./outbox", "TestReadsAreTheCallersOwn",
		"nothing crosses callers",
	},
	{
		"the fingerprint forgets a member", "cmd/api/fingerprint.go",
		one(`		LabelFormat:  valueOr(r.LabelFormat, string(defaultLabelFormat)),
`, `		LabelFormat:  string(defaultLabelFormat),
`),
		"./cmd/api", "TestFingerprintSeesEveryMember",
		"another body would get the first one's answer",
	},
	{
		"a started key is purged", "outbox/sweep.go",
		[]edit{
			{
				`WHERE state = 'completed' AND expires_at < now()`,
				`WHERE coalesce(expires_at, created_at + interval '1 day') < now()`,
			},
			{`AND k.state = 'completed' AND k.expires_at < now()`, ``},
		},
		"./outbox", "TestSweepKeys/NeverAStartedKeyHoweverOld",
		"its intent may still buy",
	},

	// Claim and call.
	{
		"a live lease is ignored", "outbox/claim.go",
		one(`AND (k.locked_until IS NULL OR k.locked_until <= clock_timestamp() OR k.lease_token = t.lease_token)`, ``),
		"./outbox", "TestOneLeaseAtATime",
		"two attempts would call at once",
	},
	{
		"leases by the process's clock", "outbox/claim.go",
		one("ELSE clock_timestamp() + make_interval(secs => t.lease)",
			"ELSE to_timestamp(` + fmt.Sprint(o.cfg.Now().Unix()) + `) + make_interval(secs => t.lease)"),
		"./outbox", "TestLeasesAreMeasuredByTheDatabase",
		"a process whose clock is slow would hold a lease that nobody respects",
	},
	{
		"the call is not on record before it is sent", "outbox/claim.go",
		one(`		j.call(c, it, row.leaseEnd)
`, `		j.attempt(c)
`),
		"./outbox", "TestTakeover/Blind/Charged=yes",
		"a process that dies in the call would leave no doubt behind",
	},
	{
		"the lease's end is not looked at before the send", "outbox/attempt.go",
		one(`	case a.timeLeft() < a.account.Timeout:`, `	case a.timeLeft() < -1<<62:`),
		"./outbox", "TestCallIsNotBegunWithoutRoomInTheLease",
		"the call would outlive its lease",
	},
	{
		"the key's age is not looked at before the send", "outbox/attempt.go",
		one(`	case a.keyRanOut():`, `	case false:`),
		"./outbox", "TestAKeyIsNotTrustedLateInALongLease",
		"the carrier would have forgotten the key that makes the call a repeat",
	},
	{
		"every lease is as long as the last", "outbox/claim.go",
		one(`* (1 + least(i.unbegun, $5))`, `* (1 + 0 * least(i.unbegun, $5))`),
		"./outbox", "TestCallIsNotBegunWithoutRoomInTheLease",
		"a slow machine would claim for ever, and never call",
	},
	{
		"two callers' equal keys are one at the carrier", "outbox/intent.go",
		one(`"carrier:" + s.caller + ":" + s.key`, `"carrier:" + s.key`),
		"./outbox", "TestAccept/EqualKeysOfTwoCallersAreTwoIntents",
		"the second caller would get the first one's label",
	},
	{
		"net/http may send the order again", "internal/carrierhttp/send.go",
		[]edit{
			{`	req.GetBody = nil
`, `	req.GetBody = func() (io.ReadCloser, error) { return newSealedBody(body), nil }
`},
			{`	"errors"
`, `	"errors"
	"io"
`},
		},
		"./carrier/sim", "TestConformance/keyed/DyingConnectionIsNotTriedAgain",
		"a POST with an Idempotency-Key is repeated when a reused connection dies",
	},
	{
		"redirects are followed", "internal/carrierhttp/client.go",
		one(`		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
`, ``),
		"./carrier/sim", "TestConformance/keyed/RedirectTakesNothingElsewhere",
		"a 307 posts order and secret to another host",
	},
	{
		"what was prepared is bought before its id is stored", "outbox/journal.go",
		one(`SET remote_id = nullif($2, '') WHERE`, `SET remote_id = nullif($2, $2) WHERE`),
		"./outbox", "TestTwoSteps/TheIDIsStoredBeforeTheCall",
		"after a lost answer nobody could ask the carrier about this very thing",
	},
	{
		"an old preparation is asked for after a restore", "outbox/claim.go",
		one(`		c.order.remoteID = "" // What was bought may be another thing than the backup knows of.
`, ``),
		"./outbox", "TestTwoSteps/AfterARestore/AnOldPreparationIsNotAskedFor",
		"what was bought since is hidden behind what was not",
	},
	{
		"a key is called again after a restore, whatever it was then", "outbox/recovery.go",
		one(` && !replays(caps) && !it.twoSteps`, ``),
		"./outbox", "TestFailuresThatStayWithTheKey/AfterARestoreAnEarlierKeyIsNotCalledAgain",
		"the carrier may know the order under a later key",
	},
	{
		"another carrier key while a call is open", "outbox/journal.go",
		one(`replays(caps) && c.before.openCalls == 0 && c.before.calls > 0`, `replays(caps) && c.before.calls > 0`),
		"./outbox", "TestFailuresThatStayWithTheKey/NoAnswerKeepsTheKey",
		"the carrier cannot know that two keys are one order",
	},
	{
		"a document is fetched from any host", "internal/carrierhttp/document.go",
		one(`if u.Host != c.base.Host && !slices.Contains(hosts, u.Host) {`, `if u.Host != c.base.Host && !slices.Contains(hosts, u.Host) && u.Host == "" {`),
		"./internal/carrierhttp", "TestDownload",
		"an answer could send the worker to any address inside the network",
	},

	// What an answer proves.
	{
		"a truncated answer is a success", "internal/carrierhttp/answer.go",
		one(`a.Whole && a.IsJSON() && json.Unmarshal`, `a.IsJSON() && json.Unmarshal`),
		"./carrier/sim", "FuzzAnswer",
		"what did not come whole may have meant something else",
	},
	{
		"a lost answer was never sent", "internal/carrierhttp/send.go",
		one(`if body.Seal() {`, `if body.Seal() || ctx.Err() == nil {`),
		"./carrier/sim", "TestConformance/blind/DyingConnectionIsNotTriedAgain",
		"an error is no proof that nothing was bought",
	},
	{
		"a refusal after an unknown is final", "outbox/conclude.go",
		one(`	if before.openCalls == 0 {
		return conclusion{state: Rejected`, `	if before.openCalls >= 0 {
		return conclusion{state: Rejected`),
		"./outbox", "TestUnknownOutcome/KeyedRefusalAfterAnUnknownWithoutLookupWaitsForAPerson",
		"it says nothing of the earlier call",
	},
	{
		"unknown is filed as failed", "outbox/conclude.go",
		one(`	case before.spent()+1 >= policy.MaxCalls:
		return doubt(caps, attemptsSpent)`, `	case before.spent()+1 >= policy.MaxCalls:
		return conclusion{state: Failed, reason: attemptsSpent, follow: stop}`),
		"./outbox", "TestConcludeCall/unknown,_keyed,_spent",
		"the label may exist",
	},

	// What follows an unknown.
	{
		"blind resend", "outbox/decide.go",
		one(`	case caps.Lookup == nil:
		return plan{step: leaveStep, reason: nothingToAsk}`, `	case caps.Lookup == nil:
		return plan{step: callStep, reason: sameKeyRepeat}`),
		"./outbox", "TestTakeover/Blind/Charged=yes",
		"nobody can tell a repeat from an order",
	},
	{
		"the key's window is for ever", "carrier/carrier.go",
		one(`keyAge < c.Key.Window-c.Key.Margin`, `keyAge >= 0`),
		"./outbox", "TestUnknownOutcome/KeyedPastItsWindowIsNeverCalledAgain",
		"a carrier that has forgotten the key sells again",
	},
	{
		"the quiet period is not waited for", "outbox/decide.go",
		one(` &&
		p.now.Sub(p.lastCallUntil) >= lookup.QuietPeriod()`, ``),
		"./outbox", "TestTakeoverWaitsForASleeper",
		"what is under way cannot be found yet",
	},
	{
		"the quiet period without the lag", "carrier/carrier.go",
		one(`return l.Processing + l.Lag`, `return l.Processing`),
		"./outbox", "TestQuietPeriodSeen/a_moment_too_soon",
		"what was bought a moment ago is not shown yet",
	},
	{
		"one empty look-up proves absence", "outbox/decide.go",
		one(`	return p.emptyLookups+1 >= policy.MinLookups &&
		p.now`, `	return p.now`),
		"./outbox", "TestQuietPeriodSeen/one_look-up_is_not_enough",
		"an index may forget for a moment",
	},
	{
		"a refusal ends a sleeper's call", "outbox/write.go",
		one(`WHEN t.called AND i.open_calls <= 1 THEN`, `WHEN t.called THEN`),
		"./outbox", "TestARefusalDoesNotEndASleepersCall",
		"the sleeper may send after the look-ups",
	},
	{
		"whatever bears the reference is adopted", "outbox/conclude.go",
		one(`		case !matches(ship, ref, label):
			reason = lookupFoundOther
`, ``),
		"./outbox", "TestConcludeLookup/another_weight",
		"references are not unique everywhere",
	},

	// Complete, settle, reconcile.
	{
		"completion without the lease token", "outbox/complete.go",
		one("o.fence(ctx, tx, items, `k.lease_token = t.token`)", "o.fence(ctx, tx, items, `true`)"),
		"./outbox", "TestLostLease/WritesNothingButEvidence",
		"an attempt that was overtaken would conclude for its successor",
	},
	{
		"label in a second transaction", "outbox/complete.go",
		one(`	if err := w.run(ctx, tx, o.river); err != nil {
		return nil, err
	}
	if err := fault`, `	labels := write{labels: w.labels, documents: w.documents}
	if err := o.inTx(ctx, "label", func(ctx context.Context, tx pgx.Tx) error { return labels.run(ctx, tx, o.river) }); err != nil {
		return nil, err
	}
	w.labels, w.documents = labelRows{}, documentRows{}
	if err := w.run(ctx, tx, o.river); err != nil {
		return nil, err
	}
	if err := fault`),
		"./outbox", "TestLostCommit/Complete/Applied",
		"a label without its key, or a completed key without its label",
	},
	{
		"a late label overrides a live lease", "outbox/complete.go",
		one("`(k.lease_token IS NULL OR k.locked_until <= clock_timestamp())`", "`true`"),
		"./outbox", "TestLateBoughtLeavesAHolderAlone",
		"the holder would conclude an intent that is final",
	},
	{
		"settled while a look-up may decide", "outbox/settle.go",
		one(`i.state = 'in_doubt' AND i.settled_by = 'person'`, `i.state = 'in_doubt'`),
		"./outbox", "TestSettle/IsRefusedWhileAJobCanDecide",
		"a person's guess would overtake the carrier's answer",
	},
	{
		"lost jobs are not rung again", "outbox/ring.go",
		one(`WHERE k.locked_until IS NULL OR`, `WHERE false AND k.locked_until IS NULL OR false AND`),
		"./outbox", "TestRing/EveryUnfinishedIntentGetsALostJobBack",
		"an intent whose job is lost would wait for ever",
	},
	// After buying.
	{
		"a reprint does not wait for the version before", "outbox/reprint.go",
		one(`err == nil && !ended`, `err == nil && ended && !ended`),
		"./cmd/api", "TestReprint/WaitsForTheEndOfTheVersionBefore",
		"both versions could be bought for one box",
	},
	{
		"a void without an answer is a void", "outbox/void.go",
		one(`	case carrier.Voided:`, `	case carrier.Voided, carrier.VoidUnknown:`),
		"./outbox", "TestVoid/IsAskedAgainUntilTheCarrierSaysWhatBecameOfIt",
		"the label would be charged for and believed to be void",
	},
	{
		"a refused void is asked for again", "outbox/revise.go",
		one(`l.VoidState == VoidNone || `, `l.VoidState == VoidNone || l.VoidState == VoidRefused || `),
		"./outbox", "TestVoid/TellsWhyItIsRefusedAndStaysSo",
		"a repeat of a DELETE would have another effect than the first",
	},
	{
		"the tracking number is the only match", "reconcile/match.go",
		[]edit{
			{`return labels[i].Account != c.Account })`, `return labels[i].Account == "" })`},
			{`	candidates = r.within(labels, candidates, c.Date(), invoice.Date(r.LateBy())) //nolint:gosec // G115: at most some years.
`, ``},
		},
		"./reconcile", "TestJudge/NumberUsedAgainYearsLater",
		"carriers use numbers again",
	},
}
