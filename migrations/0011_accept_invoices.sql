-- Which of several contents of one invoice a person said is valid. Until a run has the accepted content at
-- hand, what was stored before stays: there is never nothing.
CREATE TABLE invoice_contents (
    carrier    text NOT NULL,
    account    text NOT NULL,
    invoice_no text NOT NULL,
    currency   text NOT NULL,
    -- As in invoices.digests.
    digest     bigint NOT NULL,
    accepted   boolean NOT NULL,
    decided_at timestamptz NOT NULL DEFAULT now(),

    PRIMARY KEY (carrier, account, invoice_no, currency, digest)
);

-- The content that a finding about a copy of an invoice is about; NULL for all others.
ALTER TABLE findings ADD COLUMN content bigint;
