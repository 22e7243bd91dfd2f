-- Purchase calls that were counted and never sent, because claiming had taken so long that the lease no
-- longer covered them. They cost nothing, and each makes the intent's next leases longer, so that the
-- call is sent in the end, however slow the machine.
ALTER TABLE label_intents ADD COLUMN unbegun integer NOT NULL DEFAULT 0;
