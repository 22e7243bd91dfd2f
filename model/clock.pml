/* The times of one label intent. intent.pml takes for granted that whatever was sent before a quiet
 * period has arrived, and shows, at its end; and that a key is remembered for as long as it is relied
 * on. Here both are computed, with the lease, the time-outs and the ages that outbox/decide.go
 * compares, in whole ticks of one clock, against a carrier that may be as slow as it promises.
 *
 * With -DKEYED the carrier honours a key, for WINDOW ticks since its first use; with -DLOOKUP it shows
 * labels by our reference, LAG ticks after they were bought. Every step of a worker takes any time,
 * except that from the check of its lease to the send it sleeps SLEEP ticks at most. */

#ifndef W
#define W 2
#endif

#define LEASE 4
#define TIMEOUT 1
#define MARGIN 1      /* kept free at the lease's end */
#define MIN_LOOKUPS 2
#define SPACING 1
#define PROCESSING 2  /* a purchase takes effect at most so long after we stopped waiting for it */
#define LAG 1

#define MOST_OPEN 3
#define NEVER 255     /* no deadline, no age */

#if defined(BUG_LAG_LEFT_OUT)
#define QUIET_PERIOD PROCESSING
#elif defined(BUG_PROCESSING_LEFT_OUT)
#define QUIET_PERIOD LAG
#else
#define QUIET_PERIOD (PROCESSING + LAG)
#endif

/* How long a process may sleep, and how long after its lease's end a call may therefore begin. */
#ifndef SLEEP
#define SLEEP QUIET_PERIOD
#endif
#if defined(BUG_SLEEPER_NOT_WAITED_FOR) || !defined(LOOKUP)
#define ALLOWANCE 0
#else
#define ALLOWANCE QUIET_PERIOD
#endif

/* A call that was planned as the key's last is over so much later, at most. */
#define LAST_CALL (LEASE - MARGIN + SLEEP + PROCESSING)
#ifndef KEY_MARGIN
#define KEY_MARGIN LAST_CALL
#endif
#define WINDOW (LAST_CALL + (W - 1) * LEASE + 1)

mtype = { bought, busy, unknown, found_none };

/* The tables. Times are kept as ages, each held at the value from which on it makes no difference. */
bool ordered = false;
bool finished = false;
bool doubted = false;      /* state in_doubt, where that makes a difference */
byte open_calls = 0;
byte empty_lookups = 0;
byte token = 0;            /* whose lease it is; 0 if nobody's that lives */
byte lease_left = 0;       /* locked_until less now */
byte since_call = 0;       /* now less last_call_until, plus AHEAD because that may lie ahead */
byte since_lookup = 0;     /* now less last_lookup_at */
byte since_first = NEVER;  /* now less first_called_at; NEVER before that */

/* The carrier. */
byte charges = 0;
byte since_charge = 0;
byte late[PROCESSING + 1]; /* requests on their way, by how long ago we stopped waiting for them */

/* What each worker measures since before its claim, and how soon it must act. */
byte age[W + 1] = NEVER;
byte must[W + 1] = NEVER;
bool engaged[W + 1];

#define CHARGED_ONCE (charges <= 1)

#define AHEAD (LEASE + ALLOWANCE)

#ifdef LOOKUP
#define MOST_SINCE_CALL (AHEAD + QUIET_PERIOD)
#define MOST_SINCE_LOOKUP SPACING
#else
#define MOST_SINCE_CALL 0
#define MOST_SINCE_LOOKUP 0
#endif

#ifdef KEYED
#define MOST_SINCE_FIRST WINDOW
#define MOST_SINCE_CHARGE WINDOW
#define REMEMBERED (charges > 0 && since_charge < WINDOW)
#define KEY_HONOURED (since_first + KEY_MARGIN < WINDOW && !doubted)
#else
#define MOST_SINCE_FIRST 0
#define MOST_SINCE_CHARGE LAG
#define REMEMBERED false
#define KEY_HONOURED false
#endif

/* ---- decide.go, claim.go, journal.go ---- */

#define CLAIMABLE (MY_TURN && ordered && !finished && lease_left == 0 && open_calls < MOST_OPEN)
#define CALL (open_calls == 0 || KEY_HONOURED)
#define FIND (!CALL && (empty_lookups == 0 || since_lookup >= SPACING))
#define QUIET_PERIOD_SEEN (empty_lookups + 1 >= MIN_LOOKUPS && since_call >= AHEAD + QUIET_PERIOD)

/* Workers without an attempt are all alike: it is the first of them that claims. */
#if W == 2
#define MY_TURN (me == 1 || engaged[1])
#else
#define MY_TURN (me == 1 || (engaged[1] && (me == 2 || engaged[2])))
#endif

inline takeLease() {
	d_step {
		engaged[me] = true;
		token = me;
		lease_left = LEASE;
		age[me] = 0
	}
}

inline planCall(opened) {
	d_step {
		open_calls = opened + 1;
		empty_lookups = 0;
		doubted = false;
#ifdef BUG_KEY_AGE_FROM_LAST_CALL
		since_first = 0;
#else
		since_first = (since_first == NEVER -> 0 : since_first);
#endif
#ifdef LOOKUP
#ifdef BUG_QUIET_PERIOD_FROM_CLAIM
		since_call = AHEAD
#else
		since_call = LEASE - lease_left /* until the lease's end, and the allowance: so much of AHEAD has passed */
#endif
#endif
	}
}

/* ---- attempt.go ---- */

#ifdef BUG_LEASE_NOT_CHECKED
#define COVERED true
#else
#define COVERED (age[me] + TIMEOUT + MARGIN <= LEASE)
#endif

inline arrive() {
	if
#ifdef KEYED
	:: REMEMBERED -> skip
#endif
	:: !REMEMBERED -> charges++; since_charge = 0
	fi;
	assert(CHARGED_ONCE)
}

/* ---- complete.go, write.go ---- */

inline release() {
	lease_left = 0;
	token = 0
}

#if defined(KEYED) && defined(LOOKUP)
#define DOUBT doubted = true
#else
#define DOUBT skip
#endif

/* The quiet period counts from the end of a call, unless another is open, whose process may sleep yet. */
#if !defined(LOOKUP)
#define CALL_ENDED skip
#elif defined(BUG_OTHER_CALL_FORGOTTEN)
#define CALL_ENDED since_call = AHEAD
#else
#define CALL_ENDED since_call = (open_calls <= 1 || since_call > AHEAD -> AHEAD : since_call)
#endif

inline complete() {
	if
	:: result == bought && !finished && (token == me || lease_left == 0) -> finished = true; release()
	:: result == bought && (finished || (token != me && lease_left > 0)) -> skip
	:: result == busy && token == me -> CALL_ENDED; open_calls--; release()
	:: result == unknown && token == me -> CALL_ENDED; release()
#if defined(KEYED) && defined(LOOKUP)
	:: result == busy && token == me && open_calls > 1 -> CALL_ENDED; open_calls--; DOUBT; release()
	:: result == unknown && token == me -> CALL_ENDED; DOUBT; release()
#endif
#ifdef LOOKUP
	:: result == found_none && token == me ->
		empty_lookups = (empty_lookups < MIN_LOOKUPS -> empty_lookups + 1 : empty_lookups);
		since_lookup = (age[me] < MOST_SINCE_LOOKUP -> age[me] : MOST_SINCE_LOOKUP);
		DOUBT;
		release()
#endif
	:: result != bought && token != me -> skip
	fi
}

inline rest() {
	d_step {
		token = (token == me -> 0 : token);
		engaged[me] = false;
		age[me] = NEVER;
		must[me] = NEVER;
		result = unknown;
		after_quiet = false
	}
}

proctype Worker(byte me) {
	mtype result = unknown;
	bool after_quiet = false; /* the look-up was the last that is needed, and began after the quiet period */

end:
	if
	:: atomic { CLAIMABLE && CALL -> takeLease(); planCall(open_calls); goto claimed }
#ifdef LOOKUP
	:: atomic { CLAIMABLE && FIND -> takeLease(); after_quiet = QUIET_PERIOD_SEEN }
#endif
	fi;

#ifdef LOOKUP
	/* Looking. */
	if
	:: atomic { charges > 0 && since_charge >= LAG -> result = bought; age[me] = NEVER; goto delivering }
	:: atomic { !(charges > 0 && since_charge >= LAG) -> result = found_none;
#ifndef BUG_LOOKUP_DATED_AT_ITS_END
		if
		:: after_quiet
		:: !after_quiet -> goto delivering
		fi
#endif
		}
	:: atomic { rest(); goto end }
	fi;

	/* Nothing was bought. */
#ifdef BUG_LOOKUP_DATED_AT_ITS_END
	if
	:: atomic { QUIET_PERIOD_SEEN }
	:: atomic { !QUIET_PERIOD_SEEN -> goto delivering }
	fi;
#endif
	if
	:: atomic { token == me && lease_left > 0 ->
		after_quiet = false; result = unknown;
#ifdef BUG_SECOND_CALL_NOT_JOURNALLED
		skip
#else
		planCall(0)
#endif
		}
	:: atomic { token != me || lease_left == 0 -> goto delivering }
	:: atomic { rest(); goto end }
	fi;
#endif

claimed:
	if
	:: atomic { COVERED -> must[me] = SLEEP; age[me] = NEVER }
	:: atomic { result = busy; age[me] = NEVER; goto delivering } /* not begun */
	:: atomic { rest(); goto end }
	fi;

	/* Checked. */
	if
	:: atomic { must[me] = TIMEOUT }
	:: atomic { rest(); goto end }
	fi;

	/* Sent. */
	if
	:: atomic { arrive(); must[me] = NEVER; result = bought }
	:: atomic { arrive(); must[me] = NEVER; result = unknown }
	:: atomic { late[0]++; must[me] = NEVER; result = unknown }
	:: atomic { must[me] = NEVER; result = busy }
	:: atomic { late[0]++; rest(); goto end }
	fi;

delivering:
	if
	:: atomic { complete(); rest(); goto end }
	:: atomic { rest(); goto end }
	fi
}

/* ---- time, and what happens in it ---- */

/* Nobody is past a deadline, and the carrier keeps to its longest processing time. */
#define MAY_PASS (ordered && must[1] > 0 && must[2] > 0 && must[W] > 0 && late[PROCESSING] == 0)

#define TICKED(v, most) ((v) < (most) -> (v) + 1 : (v))

inline tick() {
	lease_left = (lease_left > 0 -> lease_left - 1 : 0);
	since_call = TICKED(since_call, MOST_SINCE_CALL);
	since_lookup = TICKED(since_lookup, MOST_SINCE_LOOKUP);
	since_first = (since_first == NEVER -> NEVER : TICKED(since_first, MOST_SINCE_FIRST));
	since_charge = TICKED(since_charge, MOST_SINCE_CHARGE);
	i = W;
	do
	:: i > 0 ->
		must[i] = (must[i] == NEVER -> NEVER : must[i] - 1);
		age[i] = (age[i] == NEVER -> NEVER : TICKED(age[i], LEASE));
		i--
	:: i == 0 -> break
	od;
	i = PROCESSING;
	do
	:: i > 0 -> late[i] = late[i - 1]; i--
	:: i == 0 -> break
	od;
	late[0] = 0
}

proctype Clock() {
	byte i = 0;
end:
	do
	:: atomic { !ordered -> ordered = true }
	:: d_step { MAY_PASS -> tick() }
	od
}

proctype Carrier() {
end:
	do
	:: atomic { late[0] > 0 -> late[0]--; arrive() }
	:: atomic { late[0] > 0 -> late[0]-- }
	:: atomic { late[1] > 0 -> late[1]--; arrive() }
	:: atomic { late[1] > 0 -> late[1]-- }
	:: atomic { late[PROCESSING] > 0 -> late[PROCESSING]--; arrive() }
	:: atomic { late[PROCESSING] > 0 -> late[PROCESSING]-- }
	od
}

init {
	byte w = 1;
	atomic {
		do
		:: w <= W -> run Worker(w); w++
		:: w > W -> break
		od;
		run Clock();
		run Carrier();
		w = 0
	}
}
