-- What reconciliation has read and found. Nobody's name or address is in here: numbers, amounts, days
-- and the carrier's own names of charges. Nothing of it refers to the outbox's tables, which it never
-- locks: reconcile alone writes it.

-- A row for each run that kept its result.
CREATE TABLE reconcile_runs (
    carrier      text NOT NULL,
    as_of        date NOT NULL,
    first_run_at timestamptz NOT NULL DEFAULT now(),

    PRIMARY KEY (carrier, as_of)
);

-- Files by their content: one that comes again under another name is the same file.
CREATE TABLE invoice_files (
    file_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    carrier     text NOT NULL,
    sha256      text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    -- Without its folder, as it was called when it came first.
    name        text NOT NULL,
    format      text NOT NULL,
    lines       bigint NOT NULL,
    rejected    bigint NOT NULL,
    first_as_of date NOT NULL,

    CONSTRAINT invoice_files_content UNIQUE (carrier, sha256)
);

-- Invoices as they were judged; one in two currencies is two.
CREATE TABLE invoices (
    invoice_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    carrier      text NOT NULL,
    account      text NOT NULL,
    invoice_no   text NOT NULL,
    currency     text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    invoice_date date NOT NULL,
    -- NULL where the carrier states none.
    stated_cents bigint,
    lines        bigint NOT NULL,
    cents        bigint NOT NULL,
    foots        boolean NOT NULL,
    -- What tells contents apart: one for each file that held a part.
    digests      bigint[] NOT NULL,
    first_as_of  date NOT NULL,

    CONSTRAINT invoices_number UNIQUE (carrier, account, invoice_no, currency)
);

CREATE TABLE invoice_lines (
    invoice_id  bigint NOT NULL REFERENCES invoices ON DELETE CASCADE,
    file_id     bigint NOT NULL REFERENCES invoice_files,
    row_no      integer NOT NULL,
    line_no     text NOT NULL,
    kind        text NOT NULL,
    correction  boolean NOT NULL,
    tracking_no text NOT NULL,
    master_no   text NOT NULL,
    original_no text NOT NULL,
    reference   text NOT NULL,
    ship_date   date,
    charge_text text NOT NULL,
    cents       bigint NOT NULL
);

CREATE INDEX invoice_lines_invoice ON invoice_lines (invoice_id);

-- Findings that somebody has to look at, and what became of them.
CREATE TABLE findings (
    finding_id       text PRIMARY KEY CHECK (finding_id ~ '^F-[0-9a-f]{20}$'),
    carrier          text NOT NULL,
    kind             text NOT NULL,
    severity         text NOT NULL CHECK (severity IN ('error', 'warning', 'info')),
    why              text NOT NULL,
    account          text NOT NULL,
    invoice_no       text NOT NULL,
    invoice_date     date,
    line_no          text NOT NULL,
    tracking_no      text NOT NULL,
    reference        text NOT NULL,
    order_id         bigint NOT NULL,
    parcel_no        integer NOT NULL,
    label_version    integer NOT NULL,
    label_id         text NOT NULL,
    intent_id        text NOT NULL,
    billed_cents     bigint NOT NULL,
    expected_cents   bigint NOT NULL,
    difference_cents bigint NOT NULL,
    -- The currency of the difference, else of what was billed; empty where it is not about money.
    currency         text NOT NULL,
    charge_text      text NOT NULL,
    dispute_by       date,
    state            text NOT NULL CHECK (
        state IN ('new', 'open', 'acknowledged', 'disputed', 'credited', 'cleared')
    ),
    first_seen       date NOT NULL,
    last_seen        date NOT NULL,
    cleared_on       date,

    CONSTRAINT findings_seen CHECK (first_seen <= last_seen),
    CONSTRAINT findings_cleared CHECK ((state = 'cleared') = (cleared_on IS NOT NULL))
);

CREATE INDEX findings_carrier ON findings (carrier, state);

-- Who changed a finding's state, to what, and why. Only appended to.
CREATE TABLE finding_changes (
    change_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    finding_id text NOT NULL REFERENCES findings,
    state      text NOT NULL,
    actor      text NOT NULL CHECK (actor <> ''),
    why        text NOT NULL CHECK (why <> ''),
    changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX finding_changes_finding ON finding_changes (finding_id, change_id);
