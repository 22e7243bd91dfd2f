-- A label is voided by a job of its own: since when that is asked for, and what the carrier said.

ALTER TABLE labels
    ADD COLUMN void_requested_at timestamptz,
    ADD COLUMN void_code text NOT NULL DEFAULT '',
    ADD COLUMN void_message text NOT NULL DEFAULT '';

-- The ringer looks for those that have no job, the gauges count them; there are never many.
CREATE INDEX labels_void_open ON labels (void_requested_at) WHERE void_state IN ('requested', 'in_doubt');
