-- Carriers that buy in two steps, that repeat their failures, and whose documents come later.

ALTER TABLE label_intents
    -- What a two-step carrier made for the intent, at no cost: committed before it is bought, so that
    -- the carrier can be asked about this very thing.
    ADD COLUMN remote_id text CHECK (remote_id ~ '^[\x21-\x7e]{1,255}$'),
    -- Which of the intent's carrier keys is in use. Another is made only for a carrier that repeats
    -- a failure for ever under the key that met it, and only while no call is open.
    ADD COLUMN key_generation integer NOT NULL DEFAULT 1 CHECK (key_generation > 0);

ALTER TABLE labels
    -- stored: in label_documents. due: still to be fetched from the carrier. none: the carrier has
    -- none to give; a person must get it.
    ADD COLUMN document_state text NOT NULL DEFAULT 'stored' CHECK (
        document_state IN ('stored', 'due', 'none')
    );

UPDATE labels AS l
SET document_state = CASE WHEN l.bought_at > now() - interval '7 days' THEN 'due' ELSE 'none' END
WHERE NOT EXISTS (SELECT 1 FROM label_documents AS d WHERE d.label_id = l.label_id);

-- Whoever fetches and watches over missing documents reads this, not the table.
CREATE INDEX labels_without_document ON labels (bought_at) WHERE document_state <> 'stored';
