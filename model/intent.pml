/* One label intent, from the first request to the repeat that comes after its key was purged.
 *
 * W workers, a carrier, a sweeper, a ringer, callers and a person. There is no clock: a lease ends
 * at any moment, which stands for every pause, crash and skew. A worker dies at any step and
 * another takes its place; a request reaches the carrier however late; an answer is lost. None of
 * these is counted, so none is bounded. clock.pml has the times.
 *
 * Each inline is a step of the Go code; docs/model.md has the table. What the carrier offers is
 * chosen by -DKEYED (it honours our key) and -DLOOKUP (it shows labels by our reference); with
 * neither it is blind. -DPERSON adds somebody who settles doubts and cancels labels; with -DRECONFIGURED
 * workers disagree about the carrier's account, with -DREKEYED about whether it honours a key; with
 * -DRESTORED the tables are once those of a backup. BUG_ and LIMIT_ are mistakes and broken
 * assumptions: each must be found out. */

#ifndef W
#define W 2
#endif

#if !defined(LOOKUP) || defined(RECONFIGURED)
#define PARKS /* there are calls about which nothing can be asked */
#endif

#define MOST_OPEN 3 /* no call is planned while so many are open: the one bound of this model */

/* Named mtypes would be shared by all workers where they are local (Spin 6.5.2), so there are none. */
mtype = { none, pending, in_doubt, purchased, rejected, failed };          /* state */
mtype = { nobody, lookup, person };                                        /* settled_by */
mtype = { absent, started, completed };                                    /* key */
mtype = { unheld, live, ended };                                           /* lease */
mtype = { gone, ready, running };                                          /* job */
mtype = { call, find, leave };                                              /* step */
mtype = { bought, refused, busy, odd, unknown, found_none };               /* result */

/* The tables. Whatever changes them is one atomic: one transaction. */
mtype state = none;
mtype settled_by = nobody;
mtype key = absent;
mtype lease = unheld;
mtype job = gone;
byte token = 0;          /* which worker's attempt the key's lease_token names; 0 if none that lives */
byte open_calls = 0;
byte called = 1;         /* the terms of the open calls: their account, or whether they bore our key */
byte labels = 0;
byte ordered_with = 1;   /* the order's own key: 2 if it was lost with a restore, and came again with another */
bool keyless = false;    /* the open call may not have borne our key: it was lost with a restore */
bool unmet = false;      /* calls may have been lost with a restore that nobody has reckoned with yet */
bool recorded[W + 1];    /* the tables bear what this worker's attempt concluded */
bool engaged[W + 1];     /* this worker has an attempt */

/* What callers did and know. */
bool ordered = false;    /* the parcel has had an intent, at some time */
bool accepted = false;   /* a caller was told so */
bool asked_late = false; /* a caller has repeated the request after the key was purged */
mtype told = none;       /* the final answer */

/* The carrier, and what is on its way there. */
byte charges = 0;
byte charged = 1;        /* the terms of the charge */
byte shown = 0;          /* how many charges the look-up shows: its index lags */
bool dear = false;       /* what was charged is not as ordered */
bool voided = false;     /* the charge was cancelled, and credited */
bool ghost = false;      /* a label that was cancelled before a person said "try again" is still shown */
bool old = false;        /* by our clock the key's window has ended, less its margin */
bool forgotten = false;  /* the carrier remembers the key no more */
byte sending = 0;        /* workers between the check of their lease and the send */
byte waiting = 0;        /* workers that have sent, and wait for the answer */
byte late[3];            /* requests on their way whose worker waits no more, by their terms */

#define UNFINISHED (state == pending || state == in_doubt)
#define FINAL (state == purchased || state == rejected || state == failed)
#define LATE (late[1] + late[2] > 0)
#define UNDER_WAY (sending > 0 || waiting > 0 || LATE)

/* The laws, true in every state. A mistake is refuted by the one it breaks. */
#define CHARGED_ONCE (charges <= 1)
#define LABEL_ONCE (labels <= 1)
#define CHARGE_KNOWN (charges <= labels || voided || unmet || (UNFINISHED && open_calls > 0))
#define PURCHASED_HAS_LABEL ((state == purchased) == (labels > 0))
#define UNFINISHED_HAS_KEY (UNFINISHED == (key == started))
#define REFUSAL_IS_PROVED ((state != rejected && state != failed) || open_calls == 0)
#define ANSWER_STAYS_TRUE (told == none || told == state)

inline laws() {
	d_step {
#ifdef LAW
		assert(LAW)
#else
		assert(CHARGED_ONCE);
		assert(LABEL_ONCE);
		assert(CHARGE_KNOWN);
		assert(PURCHASED_HAS_LABEL);
		assert(UNFINISHED_HAS_KEY);
		assert(REFUSAL_IS_PROVED);
		assert(ANSWER_STAYS_TRUE)
#endif
	}
}

#define ORDERED_ONCE (!ordered)     /* when an intent is inserted */
#define VOID_BUYS_NOTHING (!voided) /* when a charge is made */
#define NONE_VANISHES (ordered || !accepted)                                     /* when all is quiet */
#define NONE_IS_FORGOTTEN (FINAL || (state == in_doubt && settled_by == person)) /* when all is quiet */

/* ---- decide.go, claim.go, journal.go: one transaction takes the lease, plans, and journals ---- */

/* The terms on which this worker calls, by its configuration. While that changes, workers differ. */
#if defined(RECONFIGURED) || defined(REKEYED)
#define READ_TERMS if :: mine = 1 :: mine = 2 fi
#elif defined(RESTORED)
#define READ_TERMS mine = ordered_with
#else
#define READ_TERMS mine = 1
#endif

#if defined(RECONFIGURED) && !defined(BUG_ACCOUNT_OF_TODAY)
#define SAME_ACCOUNT (called == mine)
#else
#define SAME_ACCOUNT true
#endif

/* REKEYED: on terms 1 no key is honoured, on terms 2 it is. */
#if !defined(KEYED)
#define KEY_HONOURED false
#elif !defined(REKEYED)
#define KEY_HONOURED (!old && state != in_doubt && !keyless)
#elif defined(BUG_KEY_OF_TODAY)
#define KEY_HONOURED (!old && state != in_doubt && mine == 2)
#else
#define KEY_HONOURED (!old && state != in_doubt && mine == 2 && called == 2)
#endif

/* The end of the quiet period: by then whatever was sent has taken effect, and shows. */
#if defined(BUG_NO_QUIET_PERIOD)
#define QUIET true
#elif defined(BUG_LAG_LEFT_OUT)
#define QUIET (!UNDER_WAY)
#elif defined(LIMIT_LONG_SLEEP)
#define QUIET (waiting == 0 && !LATE && shown == charges)
#else
#define QUIET (!UNDER_WAY && shown == charges)
#endif

#define CLAIMABLE (job == ready && key == started && lease != live && settled_by != person && open_calls < MOST_OPEN)

/* Workers without an attempt are all alike: it is the first of them that claims. */
#if W == 2
#define MY_TURN (me == 1 || engaged[1])
#else
#define MY_TURN (me == 1 || (engaged[1] && (me == 2 || engaged[2])))
#endif

inline next() {
	if
	:: open_calls == 0 -> plan = call
#ifdef KEYED
	:: open_calls > 0 && SAME_ACCOUNT && KEY_HONOURED -> plan = call
#endif
	:: open_calls > 0 && SAME_ACCOUNT && !KEY_HONOURED ->
#if defined(LOOKUP)
		plan = find
#elif defined(BUG_BLIND_RESEND)
		plan = call
#else
		plan = leave
#endif
#ifdef RECONFIGURED
	:: open_calls > 0 && !SAME_ACCOUNT -> plan = leave
#endif
	fi
}

inline planCall(opened) {
	d_step {
		earlier = opened > 0;
		keyless = keyless && opened > 0;
		called = (opened == 0 || mine < called -> mine : called);
		state = pending;
		settled_by = nobody;
#ifndef BUG_JOURNAL_AFTER_SEND
		open_calls = opened + 1
#endif
	}
}

#ifdef RESTORED
/* recovery.go */
inline withLostCall() {
	unmet = false;
#if defined(KEYED) && defined(LOOKUP)
	keyless = true; /* the look-up is the better proof */
#endif
	open_calls++
}
#endif

inline journalCall() {
	proved = false;
	planCall(0);
	laws()
}

inline claim() {
	engaged[me] = true;
	token = me;
	lease = live;
	job = running;
	READ_TERMS;
#ifdef RESTORED
	if
	:: unmet -> withLostCall()
	:: !unmet
	fi;
#endif
	next();
	if
	:: plan == call -> planCall(open_calls)
#ifdef LOOKUP
	:: plan == find -> after_quiet = QUIET
#endif
#ifdef PARKS
	:: plan == leave ->
		state = in_doubt;
		settled_by = person;
		token = 0;
		lease = unheld;
		job = gone
#endif
	fi;
	laws()
}

/* ---- attempt.go: the call. The request arrives while the worker waits, or when it no longer does ---- */

#if !defined(KEYED) || defined(BUG_NEW_KEY_ON_TAKEOVER)
#define REMEMBERED(terms) false
#elif defined(REKEYED)
#define REMEMBERED(terms) (charges > 0 && !forgotten && charged == terms && terms == 2)
#else
#define REMEMBERED(terms) (charges > 0 && !forgotten && charged == terms)
#endif

inline arrive(terms) {
	if
#ifdef KEYED
	:: REMEMBERED(terms) -> skip /* the key stands for what it was first answered with */
#endif
	:: !REMEMBERED(terms) ->
#ifndef LAW
		assert(VOID_BUYS_NOTHING);
#endif
		charges++;
		charged = terms;
		if
		:: dear = false
		:: dear = true
		fi
	fi;
	laws()
}

/* Does what is left of the lease cover the call? Monotonic time since before the claim says yes only
 * if the database's clock would. */
inline check() {
	sending++
}

inline send() {
	sending--;
	waiting++
}

/* The answer, or none. */
inline buy() {
	waiting--;
	if
	:: arrive(mine); result = (dear -> odd : bought)
	:: arrive(mine); result = unknown  /* the answer is lost */
	:: late[mine]++; result = unknown  /* time-out: it arrives yet, or never */
	:: result = refused
	:: result = busy
	fi
}

#ifdef RECONFIGURED
#define SHOWS (shown > 0 && charged == mine)
#else
#define SHOWS (shown > 0)
#endif

/* A look-up. Not answered, it proves nothing. */
inline lookUp() {
	if
	:: SHOWS && !voided && !dear -> result = bought
#ifdef BUG_VOIDED_LEFT_OUT
	:: !SHOWS || voided -> result = found_none
#else
	:: (SHOWS && (voided || dear)) || (!SHOWS && ghost) -> result = odd
	:: !SHOWS && !ghost -> result = found_none
#endif
	:: result = unknown
	fi
}

/* ---- conclude.go: what a result makes of the intent: its state, who settles, what it closes ---- */

inline doubt() {
	to = in_doubt;
#ifdef LOOKUP
	by = lookup
#else
	by = person
#endif
}

inline concludeCall() {
	to = none;
	by = nobody;
	closes = 0;
	if
	:: result == bought -> to = purchased; closes = 1
#ifdef BUG_REFUSAL_ALWAYS_FINAL
	:: result == refused -> to = rejected; closes = 1
#else
	:: result == refused && !earlier -> to = rejected; closes = 1
#ifdef KEYED
	:: (result == refused || result == busy) && earlier -> doubt(); closes = 1
#endif
#endif
	:: result == busy -> to = pending; closes = 1
	:: result == busy && !earlier -> to = failed; closes = 1 /* the calls are spent */
	:: result == odd -> to = in_doubt; by = person
#ifdef BUG_UNKNOWN_IS_FAILED
	:: result == unknown -> to = failed; closes = 1
#else
	:: result == unknown -> doubt()
#ifdef KEYED
	:: result == unknown && !old -> to = pending
#endif
#endif
	fi;
	result = unknown;
	earlier = false;
	mine = 1
}

inline concludeNotBegun() {
	to = pending;
	closes = 1;
	earlier = false;
	mine = 1
}

inline concludeLookup() {
	if
	:: result == bought -> to = purchased; closes = 1
	:: result == odd -> to = in_doubt; by = person
	:: result == found_none || result == unknown -> to = in_doubt; by = lookup
	:: result == unknown || (result == found_none && after_quiet) -> to = in_doubt; by = person /* asked too often */
	fi;
	proved = result == found_none && after_quiet && by == lookup;
	after_quiet = false;
	result = unknown;
	mine = (proved -> mine : 1)
}

/* ---- complete.go, write.go: one transaction stores the conclusion ---- */

inline write() {
	d_step {
		state = to;
		settled_by = by;
		open_calls = (open_calls > closes -> open_calls - closes : 0);
		token = 0;
		lease = unheld;
		recorded[me] = true;
		key = (FINAL -> completed : started);
		told = (FINAL && told == none -> state : told);
#ifndef BUG_LABEL_IN_SECOND_TRANSACTION
		labels = labels + (to == purchased -> 1 : 0)
#endif
	}
}

#if defined(BUG_NO_TOKEN_NO_STATE)
#define HELD true
#elif defined(BUG_NO_TOKEN)
#define HELD (key == started)
#else
#define HELD (key == started && token == me)
#endif

/* Whoever lost the lease writes nothing but evidence. A label that was bought may still settle, but
 * only what nobody holds. */
inline complete() {
	if
	:: HELD -> write()
#ifdef BUG_OWN_LABEL_NOT_RECOGNISED
	:: !HELD && recorded[me] -> labels = labels + (to == purchased -> 1 : 0)
#else
	:: !HELD && recorded[me] -> skip
#endif
	:: !HELD && !recorded[me] && key == started && to == purchased && lease != live -> write()
	:: !HELD && !recorded[me] && key == started && to == purchased && lease == live -> held = true
	:: !HELD && !recorded[me] && (key != started || to != purchased) -> skip
	fi;
	laws()
}

/* River ends the job that it believes to be running, or keeps it for later. */
inline followUp() {
	d_step {
		if
		:: job == running && recorded[me] && (to == pending || by == lookup) -> job = ready
		:: job == running && !(recorded[me] && (to == pending || by == lookup)) -> job = gone
		:: job != running -> skip
		fi
	}
}

/* The attempt is over, or its process died. */
inline rest() {
	d_step {
		token = (token == me -> 0 : token);
		engaged[me] = false;
		recorded[me] = false;
		plan = call; to = none; by = nobody; closes = 0; mine = 1;
		earlier = false; after_quiet = false; proved = false; held = false
	}
}

#ifdef BUG_LEASE_NOT_CHECKED
#define COVERED true
#else
#define COVERED (token == me && lease == live)
#endif

proctype Worker(byte me) {
	mtype plan = call;
	mtype result = unknown;
	mtype to = none;
	mtype by = nobody;
	byte closes = 0;
	byte mine = 1;
	bool earlier = false;     /* other calls were open when this one was journalled */
	bool after_quiet = false; /* the look-up began after the end of the quiet period */
	bool proved = false;      /* it found nothing, so that nothing was bought */
	bool held = false;        /* somebody else holds the intent whose label we have */

end:
	if
	:: atomic { job == ready && key != absent && (!UNFINISHED || settled_by == person) -> job = gone } goto end
	:: atomic { MY_TURN && CLAIMABLE -> claim();
		if
#ifdef PARKS
		:: plan == leave -> rest(); goto end
#endif
		:: plan == call -> goto claimed
#ifdef LOOKUP
		:: plan == find -> goto looking
#endif
		fi }
	fi;

#ifdef LOOKUP
looking:
	if
	:: atomic { lookUp(); concludeLookup();
		if
		:: !proved -> goto delivering
		:: proved
		fi }
	:: atomic { rest(); goto end }
	fi;

	/* Nothing was bought: on to the call, under the same lease, journalled first. */
	if
	:: atomic { token == me && lease == live -> journalCall() }
	:: atomic { token != me || lease != live -> proved = false; mine = 1; goto delivering }
	:: atomic { rest(); goto end }
	fi;
#endif

	/* Journalled, and committed. */
claimed:
	if
	:: atomic { COVERED -> check() }
	:: atomic { concludeNotBegun(); goto delivering }
	:: atomic { rest(); goto end }
	fi;

	/* Checked. */
	if
	:: atomic { send() }
	:: atomic { sending--; rest(); goto end }
	fi;

	/* Sent. */
	if
	:: atomic { buy(); concludeCall() }
	:: atomic { waiting--; late[mine]++; rest(); goto end }
	fi;
#ifdef BUG_JOURNAL_AFTER_SEND
	if
	:: atomic { open_calls++ }
	:: atomic { rest(); goto end }
	fi;
#endif

delivering:
	if
	:: atomic { complete();
		if
		:: held -> held = false; goto delivering /* offered again */
#ifdef BUG_LABEL_IN_SECOND_TRANSACTION
		:: !held && to == purchased && recorded[me] -> goto second
#endif
		:: !held -> goto delivering              /* COMMIT's answer is lost: it runs again */
		:: !held -> followUp(); rest(); goto end
		fi }
	:: atomic { rest(); goto end } /* dies, or is out of patience */
	fi;

#ifdef BUG_LABEL_IN_SECOND_TRANSACTION
second:
	if
	:: atomic { labels++; laws(); followUp(); rest(); goto end }
	:: atomic { rest(); goto end }
	fi
#endif
}

/* ---- the carrier, and time ---- */

proctype Carrier() {
end:
	do
	:: atomic { late[1] > 0 -> late[1]--; arrive(1) }
	:: atomic { late[1] > 0 -> late[1]-- }
#if defined(RECONFIGURED) || defined(REKEYED) || (defined(RESTORED) && (defined(LOOKUP) || defined(LIMIT_OTHER_KEY_AFTER_RESTORE)))
	:: atomic { late[2] > 0 -> late[2]--; arrive(2) }
	:: atomic { late[2] > 0 -> late[2]-- }
#endif
#ifdef LOOKUP
	:: atomic { shown < charges -> shown = charges }
#endif
#ifdef KEYED
	:: atomic { state != none && !old -> old = true }
	/* The margin covers the lease and the longest processing time: what was planned in time has arrived. */
#ifdef LIMIT_SHORT_KEY_MARGIN
	:: atomic { charges > 0 && old && !forgotten -> forgotten = true }
#else
	:: atomic { charges > 0 && old && !forgotten && !UNDER_WAY && lease != live -> forgotten = true }
#endif
#endif
	/* the database's clock */
	:: atomic { lease == live -> lease = ended }
	od
}

/* ---- accept.go, sweep.go, ring.go ---- */

inline accept() {
	if
	:: state == none ->
		assert(ORDERED_ONCE);
		ordered = true;
		accepted = true;
		state = pending;
		key = started;
		job = ready
	:: state != none -> asked_late = true /* the key is returned, and the answer made again */
	fi;
	laws()
}

inline sweepKeys() {
	key = absent;
	laws()
}

inline reviveAbandoned() {
	job = ready
}

inline insertLost() {
	job = ready
}

proctype Service() {
end:
	do
	:: atomic { key == absent && !asked_late && (state != none || !accepted) -> accept() }
#ifdef BUG_PARCEL_NOT_UNIQUE
	:: atomic { state != none -> assert(ORDERED_ONCE) }
#endif
#ifdef BUG_ANSWER_BEFORE_COMMIT
	:: atomic { state == none && !accepted -> accepted = true }
#endif

#if defined(BUG_PURGE_STARTED_KEY)
	:: atomic { key != absent -> token = 0; lease = unheld; sweepKeys() }
#elif defined(BUG_PURGE_INTENT_WITH_KEY)
	:: atomic { key == completed -> key = absent; state = none; labels = 0; accepted = false; told = none }
#else
	:: atomic { key == completed -> sweepKeys() }
#endif

	:: atomic { job == running && UNFINISHED && lease != live -> reviveAbandoned() }
	:: atomic { job == running && lease == live -> job = ready } /* River rescues what is not dead */
#ifndef BUG_NO_RINGER
	:: atomic { job == gone && UNFINISHED && settled_by != person && lease != live -> insertLost() }
#endif
	:: atomic { job != gone -> job = gone } /* lost, discarded, deleted */
	od
}

#ifdef RESTORED

/* Once, with every worker stopped, the tables are those of a backup. The carrier's are not. */
inline restore() {
	d_step {
		settled_by = nobody; lease = unheld; token = 0; open_calls = 0; called = 1;
		labels = 0; told = none; asked_late = false;
#ifndef BUG_RESTORE_NOT_RECKONED_WITH
		unmet = true
#endif
	}
	if
	:: state = pending; key = started; job = ready
	:: state = none; key = absent; job = gone; ordered = false; accepted = false; /* the order is lost */
#if defined(LOOKUP) || defined(LIMIT_OTHER_KEY_AFTER_RESTORE)
		if
		:: skip
		:: ordered_with = 2
		fi
#endif
	fi
}

proctype Operator() {
end:
	atomic { ordered && !engaged[1] && !engaged[2] && !engaged[W] -> restore() }
}

#endif

/* ---- settle.go, and the carrier's own site ---- */

#ifdef PERSON

inline settle(verdict) {
	d_step {
		state = verdict;
		settled_by = nobody;
		unmet = false;
		open_calls = 0;
		key = (FINAL -> completed : started);
		told = (FINAL && told == none -> state : told);
		labels = labels + (verdict == purchased -> 1 : 0);
		job = (verdict == pending -> ready : job);
		laws()
	}
}

/* What a person may call proof that nothing was bought, or that all of it was cancelled. */
#if defined(BUG_SETTLE_WITHOUT_LOOKUP)
#define NOT_BOUGHT true
#elif defined(LIMIT_PERSON_DOES_NOT_WAIT)
#define NOT_BOUGHT (charges == 0 || voided)
#else
#define NOT_BOUGHT ((charges == 0 || voided) && !UNDER_WAY)
#endif

#ifdef BUG_SETTLE_WITHOUT_LOOKUP
#define SETTLEABLE (state == in_doubt)
#else
#define SETTLEABLE (state == in_doubt && settled_by == person && lease == unheld)
#endif

proctype Person() {
end:
	do
	:: atomic { charges == 1 && !voided -> voided = true }
	:: atomic { SETTLEABLE && charges > labels -> settle(purchased) }
	:: atomic { SETTLEABLE && NOT_BOUGHT -> settle(failed) }
	/* A key that is remembered stands for the label that was cancelled: trying again would get it again. */
	:: atomic { SETTLEABLE && NOT_BOUGHT && !(voided && REMEMBERED(charged)) ->
		ghost = voided; voided = false; charges = 0; shown = 0; dear = false; charged = 1;
		settle(pending) }
	od
}

#endif

proctype Quiet() {
	atomic { timeout ->
		assert(NONE_VANISHES);
		assert(NONE_IS_FORGOTTEN)
	}
}

init {
	byte w = 1;
	atomic {
		do
		:: w <= W -> run Worker(w); w++
		:: w > W -> break
		od;
		run Carrier();
		run Service();
#ifdef RESTORED
		run Operator();
#endif
#ifdef PERSON
		run Person();
#endif
		run Quiet();
		w = 0
	}
}
