-- What may change about a label after it was bought.

ALTER TABLE labels
    -- Raised by one by whatever changes what the label shows; nothing else tells two of its states apart.
    ADD COLUMN revision integer NOT NULL DEFAULT 1,
    ADD COLUMN held boolean NOT NULL DEFAULT false,
    ADD COLUMN note text NOT NULL DEFAULT '',
    ADD COLUMN custom_reference text NOT NULL DEFAULT '',
    -- The weight the caller declares after the purchase. NULL: as it was ordered.
    ADD COLUMN weight_g bigint;

ALTER TABLE labels
    ADD CONSTRAINT labels_revision_check CHECK (revision > 0) NOT VALID,
    ADD CONSTRAINT labels_note_check CHECK (length(note) <= 500) NOT VALID,
    ADD CONSTRAINT labels_custom_reference_check CHECK (length(custom_reference) <= 64) NOT VALID,
    ADD CONSTRAINT labels_weight_g_check CHECK (weight_g > 0) NOT VALID;
