package model_test

// variant is one exploration of one of the models.
type variant struct {
	name    string
	file    string
	define  []string
	workers int // 0 is two

	// law is the one that must be broken; none may be where it is empty. alone checks no other of the
	// laws that hold in every state: a mistake may break several, and one of them is the point.
	law   string
	alone bool

	// heavy variants have so many states that compiling for speed pays.
	heavy bool

	// long variants are explored only when all are asked for.
	long bool
}

// The models.
const (
	intent = "intent.pml"
	clock  = "clock.pml"
)

// What a carrier offers.
var (
	keyed       = []string{"KEYED"}
	byLookup    = []string{"LOOKUP"}
	keyedLookup = []string{"KEYED", "LOOKUP"}
	blind       = []string{}
)

// with is a carrier in a variant of the model.
func with(carrier []string, more ...string) []string {
	return append(append([]string{}, carrier...), more...)
}

// The design as it is: no law is ever broken, and every step of the model is taken.
var holds = []variant{
	{name: "keyed", file: intent, define: keyed},
	{name: "lookup", file: intent, define: byLookup},
	{name: "blind", file: intent, define: blind},
	{name: "keyed and lookup", file: intent, define: keyedLookup, heavy: true},
	{name: "keyed, a person and voids", file: intent, define: with(keyed, "PERSON")},
	{name: "lookup, a person and voids", file: intent, define: with(byLookup, "PERSON")},
	{name: "blind, a person and voids", file: intent, define: with(blind, "PERSON")},
	{name: "keyed and lookup, a person and voids", file: intent, define: with(keyedLookup, "PERSON"), heavy: true},
	{name: "keyed, account changed meanwhile", file: intent, define: with(keyed, "RECONFIGURED")},
	{name: "lookup, account changed meanwhile", file: intent, define: with(byLookup, "RECONFIGURED")},
	{name: "blind, account changed meanwhile", file: intent, define: with(blind, "RECONFIGURED")},
	{name: "blind, becomes keyed meanwhile", file: intent, define: with(keyed, "REKEYED")},
	{name: "lookup, becomes keyed meanwhile", file: intent, define: with(keyedLookup, "REKEYED"), heavy: true},
	{name: "keyed, restored from a backup", file: intent, define: with(keyed, "RESTORED")},
	{name: "lookup, restored from a backup", file: intent, define: with(byLookup, "RESTORED")},
	{name: "blind, restored from a backup", file: intent, define: with(blind, "RESTORED")},
	{name: "keyed and lookup, restored from a backup", file: intent, define: with(keyedLookup, "RESTORED"), heavy: true},
	{name: "lookup", file: intent, define: byLookup, workers: 3, heavy: true},
	{name: "blind", file: intent, define: blind, workers: 3},
	{name: "blind, a person and voids", file: intent, define: with(blind, "PERSON"), workers: 3},
	{name: "keyed", file: intent, define: keyed, workers: 3, heavy: true},
	{name: "lookup, a person and voids", file: intent, define: with(byLookup, "PERSON"), workers: 3, long: true, heavy: true},
	{name: "keyed, a person and voids", file: intent, define: with(keyed, "PERSON"), workers: 3, long: true, heavy: true},

	{name: "keyed", file: clock, define: keyed},
	{name: "lookup", file: clock, define: byLookup},
	{name: "keyed and lookup", file: clock, define: keyedLookup, heavy: true},
	{name: "keyed", file: clock, define: keyed, workers: 3},
	{name: "lookup", file: clock, define: byLookup, workers: 3},
	{name: "lookup, sleeps for a quiet period and the margin", file: clock, define: with(byLookup, "SLEEP=4")},
	{name: "keyed and lookup", file: clock, define: keyedLookup, workers: 3, long: true, heavy: true},
}

// Mistakes. Each must be refuted: a model that lets one pass proves nothing.
var bugs = []variant{
	{name: "completion without the token", file: intent, define: with(keyed, "BUG_NO_TOKEN"), law: "CHARGE_KNOWN", alone: true},
	{name: "completion without token and state", file: intent, define: with(blind, "BUG_NO_TOKEN_NO_STATE"), law: "LABEL_ONCE", alone: true},
	{name: "final state written over", file: intent, define: with(keyed, "BUG_NO_TOKEN_NO_STATE"), law: "ANSWER_STAYS_TRUE", alone: true},
	{name: "label stored in a second transaction", file: intent, define: with(blind, "BUG_LABEL_IN_SECOND_TRANSACTION"), law: "PURCHASED_HAS_LABEL", alone: true},
	{name: "own label not recognised after a lost COMMIT", file: intent, define: with(blind, "BUG_OWN_LABEL_NOT_RECOGNISED"), law: "LABEL_ONCE"},
	{name: "new carrier key on takeover", file: intent, define: with(keyed, "BUG_NEW_KEY_ON_TAKEOVER"), law: "CHARGED_ONCE", alone: true},
	{name: "look-up without quiet period", file: intent, define: with(byLookup, "BUG_NO_QUIET_PERIOD"), law: "CHARGED_ONCE", alone: true},
	{name: "quiet period without the lag", file: intent, define: with(byLookup, "BUG_LAG_LEFT_OUT"), law: "CHARGED_ONCE", alone: true},
	{name: "blind carrier called again", file: intent, define: with(blind, "BUG_BLIND_RESEND"), law: "CHARGED_ONCE", alone: true},
	{name: "call journalled after the send (blind)", file: intent, define: with(blind, "BUG_JOURNAL_AFTER_SEND"), law: "CHARGED_ONCE", alone: true},
	{name: "call journalled after the send (lookup)", file: intent, define: with(byLookup, "BUG_JOURNAL_AFTER_SEND"), law: "CHARGED_ONCE", alone: true},
	{name: "lease not checked before the send", file: intent, define: with(byLookup, "BUG_LEASE_NOT_CHECKED"), law: "CHARGED_ONCE", alone: true},
	{name: "refusal final although a call is open", file: intent, define: with(keyed, "BUG_REFUSAL_ALWAYS_FINAL"), law: "CHARGE_KNOWN", alone: true},
	{name: "unknown filed as failed", file: intent, define: with(blind, "BUG_UNKNOWN_IS_FAILED"), law: "CHARGE_KNOWN", alone: true},
	{name: "parcel not unique", file: intent, define: with(blind, "BUG_PARCEL_NOT_UNIQUE"), law: "ORDERED_ONCE"},
	{name: "started key purged", file: intent, define: with(blind, "BUG_PURGE_STARTED_KEY"), law: "UNFINISHED_HAS_KEY"},
	{name: "uniqueness purged with the key", file: intent, define: with(blind, "BUG_PURGE_INTENT_WITH_KEY", "LAW=true"), law: "ORDERED_ONCE"},
	{name: "answered before COMMIT", file: intent, define: with(blind, "BUG_ANSWER_BEFORE_COMMIT"), law: "NONE_VANISHES"},
	{name: "lost job not rung again", file: intent, define: with(blind, "BUG_NO_RINGER"), law: "NONE_IS_FORGOTTEN"},
	{name: "settled without a look-up", file: intent, define: with(byLookup, "PERSON", "BUG_SETTLE_WITHOUT_LOOKUP"), law: "CHARGED_ONCE", alone: true},
	{name: "voided label not shown by the look-up", file: intent, define: with(byLookup, "PERSON", "BUG_VOIDED_LEFT_OUT"), law: "VOID_BUYS_NOTHING"},
	{name: "open call judged by today's account (keyed)", file: intent, define: with(keyed, "RECONFIGURED", "BUG_ACCOUNT_OF_TODAY"), law: "CHARGED_ONCE", alone: true},
	{name: "open call judged by today's account (lookup)", file: intent, define: with(byLookup, "RECONFIGURED", "BUG_ACCOUNT_OF_TODAY"), law: "CHARGED_ONCE", alone: true},
	{name: "open call judged by today's key", file: intent, define: with(keyed, "REKEYED", "BUG_KEY_OF_TODAY"), law: "CHARGED_ONCE", alone: true},
	{name: "restore not reckoned with (blind)", file: intent, define: with(blind, "RESTORED", "BUG_RESTORE_NOT_RECKONED_WITH"), law: "CHARGED_ONCE", alone: true},
	{name: "restore not reckoned with (lookup)", file: intent, define: with(byLookup, "RESTORED", "BUG_RESTORE_NOT_RECKONED_WITH"), law: "CHARGED_ONCE", alone: true},

	{name: "quiet period without the lag", file: clock, define: with(byLookup, "BUG_LAG_LEFT_OUT"), law: "CHARGED_ONCE"},
	{name: "quiet period without the processing time", file: clock, define: with(byLookup, "BUG_PROCESSING_LEFT_OUT"), law: "CHARGED_ONCE"},
	{name: "quiet period from the claim", file: clock, define: with(byLookup, "BUG_QUIET_PERIOD_FROM_CLAIM"), law: "CHARGED_ONCE"},
	{name: "quiet period from the lease's end", file: clock, define: with(byLookup, "BUG_SLEEPER_NOT_WAITED_FOR"), law: "CHARGED_ONCE"},
	{name: "quiet period from another call's end", file: clock, define: with(keyedLookup, "BUG_OTHER_CALL_FORGOTTEN"), law: "CHARGED_ONCE"},
	{name: "look-up dated at its end", file: clock, define: with(byLookup, "BUG_LOOKUP_DATED_AT_ITS_END"), law: "CHARGED_ONCE"},
	{name: "call after a look-up not journalled", file: clock, define: with(byLookup, "BUG_SECOND_CALL_NOT_JOURNALLED"), law: "CHARGED_ONCE"},
	{name: "lease not checked before the send", file: clock, define: with(byLookup, "BUG_LEASE_NOT_CHECKED"), law: "CHARGED_ONCE"},
	{name: "key's age counted from its last use", file: clock, define: with(keyed, "BUG_KEY_AGE_FROM_LAST_CALL"), law: "CHARGED_ONCE"},
}

// What the design takes for granted. Each is needed: without it a law is broken.
var limits = []variant{
	{name: "a process sleeps past the quiet period before its send", file: intent, define: with(byLookup, "LIMIT_LONG_SLEEP"), law: "CHARGED_ONCE", alone: true},
	{name: "a process sleeps one tick longer than it may", file: clock, define: with(byLookup, "SLEEP=5"), law: "CHARGED_ONCE"},
	{name: "the carrier forgets a key while a call is under way", file: intent, define: with(keyed, "LIMIT_SHORT_KEY_MARGIN"), law: "CHARGED_ONCE", alone: true},
	{name: "the key's margin is one tick short", file: clock, define: with(keyed, "KEY_MARGIN=7"), law: "CHARGED_ONCE"},
	{name: "an order lost with a restore comes again under another key", file: intent, define: with(keyed, "RESTORED", "LIMIT_OTHER_KEY_AFTER_RESTORE"), law: "CHARGED_ONCE", alone: true},
	{name: "a person takes silence for proof", file: intent, define: with(blind, "PERSON", "LIMIT_PERSON_DOES_NOT_WAIT"), law: "CHARGED_ONCE", alone: true},
}
