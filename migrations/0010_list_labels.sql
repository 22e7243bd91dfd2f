-- Lists read a page from where the last one ended, whatever lies before and behind it.

CREATE INDEX labels_listed ON labels (caller_id, bought_at, label_id);
CREATE INDEX labels_listed_by_tracking ON labels (caller_id, tracking_no, bought_at, label_id);
-- Few labels are ever voided.
CREATE INDEX labels_listed_by_void ON labels (caller_id, bought_at, label_id) WHERE void_state <> 'none';

-- Few intents are in doubt, and none is when it is accepted: this costs the way of most of them nothing.
-- Those in doubt are those that somebody is to settle, by the constraint label_intents_doubt.
CREATE INDEX label_intents_in_doubt ON label_intents (caller_id, created_at, intent_id) WHERE settled_by IS NOT NULL;
