-- The life of an intent. The tables state the invariants; the code in outbox/ moves the rows.

-- The label intent: the durable order to buy one label. Kept for ever: its unique constraints,
-- not the idempotency key that is purged after a day, are what makes a second purchase impossible.
CREATE TABLE label_intents (
    intent_id        uuid PRIMARY KEY,
    caller_id        text COLLATE "C" NOT NULL CHECK (caller_id ~ '^[a-z0-9_-]{1,64}$'),
    idem_key         text COLLATE "C" NOT NULL CHECK (idem_key ~ '^[\x21-\x7e]{1,255}$'),
    request_hash     bytea NOT NULL CHECK (length(request_hash) = 32),
    request_id       text NOT NULL,
    order_id         bigint NOT NULL CHECK (order_id > 0),
    parcel_no        integer NOT NULL CHECK (parcel_no > 0),
    label_version    integer NOT NULL CHECK (label_version > 0),
    carrier          text NOT NULL,
    -- What carriers see and what we look up by.
    reference        text NOT NULL CHECK (reference ~ '^[A-Z0-9]{1,35}$'),
    -- The shipment as it was accepted, configured defaults filled in: later attempts and later
    -- configurations send the same bytes. json, not jsonb, which would reorder them.
    request          json NOT NULL,
    state            text NOT NULL DEFAULT 'pending' CHECK (
        state IN ('pending', 'purchased', 'rejected', 'failed', 'in_doubt')
    ),
    -- In doubt only: who decides. 'lookup' is being looked up by a job; 'person' waits for an
    -- invoice or a person, and no job will touch it.
    settled_by       text CHECK (settled_by IN ('lookup', 'person')),
    -- Leases taken.
    attempts         integer NOT NULL DEFAULT 0,
    -- Purchase calls begun, and how many of them ended in an outcome we do not know. A call is
    -- counted in both before it is sent, so a crash leaves open_calls raised: that is the doubt.
    calls            integer NOT NULL DEFAULT 0,
    open_calls       integer NOT NULL DEFAULT 0,
    -- Calls proved not to have bought anything, and calls put off because the carrier asked.
    refusals         integer NOT NULL DEFAULT 0,
    deferrals        integer NOT NULL DEFAULT 0,
    -- Since the last purchase call: look-ups that found nothing, and look-ups that failed in a row.
    empty_lookups    integer NOT NULL DEFAULT 0,
    failed_lookups   integer NOT NULL DEFAULT 0,
    -- The carrier asked not to be called before.
    not_before       timestamptz,
    first_called_at  timestamptz,
    -- The lease under which the last call was counted; the last moment at which that call can have
    -- been under way (until it is known to have ended: its lease's end, and the time that a process
    -- may have slept over it); when the last look-up that found nothing began.
    call_token       uuid,
    -- The account that the calls were sent to, and whether each of them bore our key: another
    -- account, or a key that an open call did not bear, tells nothing about that call.
    called_account   text,
    called_with_key  boolean,
    last_call_until  timestamptz,
    last_lookup_at   timestamptz,
    label_id         uuid,
    carrier_code     text,
    carrier_message  text,
    created_at       timestamptz NOT NULL DEFAULT now(),
    finished_at      timestamptz,

    CONSTRAINT label_intents_caller_key UNIQUE (caller_id, idem_key),
    CONSTRAINT label_intents_parcel UNIQUE (order_id, parcel_no, label_version),
    CONSTRAINT label_intents_reference UNIQUE (reference),
    CONSTRAINT label_intents_finished CHECK (
        (state IN ('purchased', 'rejected', 'failed')) = (finished_at IS NOT NULL)
    ),
    CONSTRAINT label_intents_purchased CHECK ((state = 'purchased') = (label_id IS NOT NULL)),
    CONSTRAINT label_intents_doubt CHECK ((state = 'in_doubt') = (settled_by IS NOT NULL)),
    CONSTRAINT label_intents_open_calls CHECK (open_calls BETWEEN 0 AND calls),
    CONSTRAINT label_intents_called CHECK ((calls = 0) = (first_called_at IS NULL)),
    -- "Failed" and "rejected" say that nothing was bought: not while a call is open.
    CONSTRAINT label_intents_not_bought CHECK (
        state NOT IN ('rejected', 'failed') OR open_calls = 0
    )
) WITH (fillfactor = 80);

-- Whoever watches over intents that are not final (the ringer, the gauges) reads this, not the table.
CREATE INDEX label_intents_unfinished ON label_intents (created_at)
    WHERE state IN ('pending', 'in_doubt');

-- The idempotency key: the lease while the intent runs, the saved answer for a day after.
CREATE TABLE idempotency_keys (
    caller_id        text COLLATE "C" NOT NULL,
    idem_key         text COLLATE "C" NOT NULL,
    request_hash     bytea NOT NULL,
    state            text NOT NULL DEFAULT 'started' CHECK (state IN ('started', 'completed')),
    -- Written and judged with the database's clock only.
    locked_until     timestamptz,
    lease_token      uuid,
    response_status  smallint,
    -- The exact bytes that were and will be answered.
    response_body    bytea,
    created_at       timestamptz NOT NULL DEFAULT now(),
    expires_at       timestamptz,

    PRIMARY KEY (caller_id, idem_key),
    CONSTRAINT idempotency_keys_answer CHECK (
        (state = 'completed') = (response_status IS NOT NULL)
        AND (state = 'completed') = (response_body IS NOT NULL)
        AND (state = 'completed') = (expires_at IS NOT NULL)
    ),
    CONSTRAINT idempotency_keys_lease CHECK ((locked_until IS NULL) = (lease_token IS NULL)),
    CONSTRAINT idempotency_keys_lease_ends CHECK (state = 'started' OR lease_token IS NULL)
) WITH (fillfactor = 70);

CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at) WHERE state = 'completed';

CREATE TABLE labels (
    label_id          uuid PRIMARY KEY,
    intent_id         uuid NOT NULL REFERENCES label_intents,
    caller_id         text NOT NULL,
    order_id          bigint NOT NULL,
    parcel_no         integer NOT NULL,
    label_version     integer NOT NULL,
    carrier           text NOT NULL,
    account           text NOT NULL,
    service           text NOT NULL,
    tracking_no       text NOT NULL CHECK (tracking_no <> ''),
    cost_cents        bigint NOT NULL CHECK (cost_cents >= 0),
    currency          text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    label_format      text NOT NULL,
    -- The caller's key that ordered it, and the key that the carrier saw.
    created_by_key    text NOT NULL,
    carrier_key       text NOT NULL,
    reference         text NOT NULL,
    carrier_label_id  text NOT NULL,
    -- How we learned of it: the carrier's answer, a look-up, an answer that came after its lease,
    -- or a person.
    learned_by        text NOT NULL CHECK (learned_by IN ('call', 'lookup', 'late_call', 'person')),
    bought_at         timestamptz NOT NULL,
    void_state        text NOT NULL DEFAULT 'none' CHECK (
        void_state IN ('none', 'requested', 'voided', 'refused', 'in_doubt')
    ),
    voided_at         timestamptz,

    CONSTRAINT labels_intent UNIQUE (intent_id),
    CONSTRAINT labels_parcel UNIQUE (order_id, parcel_no, label_version),
    CONSTRAINT labels_carrier_label UNIQUE (carrier, account, carrier_label_id),
    CONSTRAINT labels_voided CHECK ((void_state = 'voided') = (voided_at IS NOT NULL))
);

-- Reconciliation joins invoice lines by tracking number, which carriers reuse: not unique.
CREATE INDEX labels_tracking ON labels (carrier, tracking_no);

-- A purchased intent names a label that exists.
ALTER TABLE label_intents
    ADD CONSTRAINT label_intents_label FOREIGN KEY (label_id) REFERENCES labels
    DEFERRABLE INITIALLY DEFERRED;

-- The printable bytes, apart: labels stays narrow.
CREATE TABLE label_documents (
    label_id  uuid PRIMARY KEY REFERENCES labels,
    format    text NOT NULL,
    content   bytea NOT NULL CHECK (length(content) > 0)
);

-- Evidence: one row for every carrier call whose outcome was not "bought" at once, and for every
-- decision that settled a doubt. Only ever inserted.
CREATE TABLE carrier_calls (
    call_id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    intent_id         uuid NOT NULL REFERENCES label_intents,
    kind              text NOT NULL CHECK (kind IN ('buy', 'find', 'void', 'settle')),
    lease_token       uuid,
    outcome           text NOT NULL,
    -- Why the outcome led to what it led to, one of the named reasons in outbox/decide.go.
    reason            text NOT NULL,
    carrier_code      text NOT NULL DEFAULT '',
    carrier_message   text NOT NULL DEFAULT '',
    -- What the carrier named, if it named a label that was not adopted.
    carrier_label_id  text,
    tracking_no       text,
    cost_cents        bigint,
    currency          text,
    -- Who settled it, for kind 'settle'.
    actor             text,
    recorded_at       timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX carrier_calls_intent ON carrier_calls (intent_id);
