-- Restores from a backup. What was ordered and bought after the backup was made is not in it, and the
-- carrier knows of it: a purchase call that we would take for the first may be the second.
CREATE TABLE recoveries (
    recovery_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Nothing of what happened after this moment is known here.
    lost_since   timestamptz NOT NULL,
    began_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    began_by     text NOT NULL,
    began_why    text NOT NULL,
    -- Intents ordered until then may repeat one that was lost.
    ended_at     timestamptz,
    ended_by     text,
    ended_why    text,

    CONSTRAINT recoveries_lost CHECK (lost_since <= began_at),
    CONSTRAINT recoveries_ended CHECK (
        (ended_at IS NULL) = (ended_by IS NULL) AND (ended_at IS NULL) = (ended_why IS NULL)
    )
);

-- One at a time.
CREATE UNIQUE INDEX recoveries_open ON recoveries ((true)) WHERE ended_at IS NULL;

-- The last recovery that was taken into account when the intent was claimed, or when a person decided.
ALTER TABLE label_intents ADD COLUMN recovery_id bigint;
