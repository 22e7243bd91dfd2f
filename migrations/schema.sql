-- The tables as the migrations make them, for reading only: made by `make db/schema`.

CREATE TABLE public.api_keys (
    key_id text NOT NULL,
    caller_id text NOT NULL,
    secret_hash bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT api_keys_key_id_check CHECK ((key_id ~ '^[0-9A-Za-z]{8}$'::text)),
    CONSTRAINT api_keys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['labels:write'::text, 'labels:read'::text, 'finance:read'::text, 'operator'::text]))),
    CONSTRAINT api_keys_secret_hash_check CHECK ((length(secret_hash) = 32))
);

CREATE TABLE public.callers (
    caller_id text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT callers_caller_id_check CHECK ((caller_id ~ '^[a-z0-9_-]{1,64}$'::text))
);

CREATE TABLE public.carrier_calls (
    call_id bigint NOT NULL,
    intent_id uuid NOT NULL,
    kind text NOT NULL,
    lease_token uuid,
    outcome text NOT NULL,
    reason text NOT NULL,
    carrier_code text DEFAULT ''::text NOT NULL,
    carrier_message text DEFAULT ''::text NOT NULL,
    carrier_label_id text,
    tracking_no text,
    cost_cents bigint,
    currency text,
    actor text,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT carrier_calls_kind_check CHECK ((kind = ANY (ARRAY['buy'::text, 'find'::text, 'void'::text, 'settle'::text])))
);

ALTER TABLE public.carrier_calls ALTER COLUMN call_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.carrier_calls_call_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.finding_changes (
    change_id bigint NOT NULL,
    finding_id text NOT NULL,
    state text NOT NULL,
    actor text NOT NULL,
    why text NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT finding_changes_actor_check CHECK ((actor <> ''::text)),
    CONSTRAINT finding_changes_why_check CHECK ((why <> ''::text))
);

ALTER TABLE public.finding_changes ALTER COLUMN change_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.finding_changes_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.findings (
    finding_id text NOT NULL,
    carrier text NOT NULL,
    kind text NOT NULL,
    severity text NOT NULL,
    why text NOT NULL,
    account text NOT NULL,
    invoice_no text NOT NULL,
    invoice_date date,
    line_no text NOT NULL,
    tracking_no text NOT NULL,
    reference text NOT NULL,
    order_id bigint NOT NULL,
    parcel_no integer NOT NULL,
    label_version integer NOT NULL,
    label_id text NOT NULL,
    intent_id text NOT NULL,
    billed_cents bigint NOT NULL,
    expected_cents bigint NOT NULL,
    difference_cents bigint NOT NULL,
    currency text NOT NULL,
    charge_text text NOT NULL,
    dispute_by date,
    state text NOT NULL,
    first_seen date NOT NULL,
    last_seen date NOT NULL,
    cleared_on date,
    content bigint,
    CONSTRAINT findings_cleared CHECK (((state = 'cleared'::text) = (cleared_on IS NOT NULL))),
    CONSTRAINT findings_finding_id_check CHECK ((finding_id ~ '^F-[0-9a-f]{20}$'::text)),
    CONSTRAINT findings_seen CHECK ((first_seen <= last_seen)),
    CONSTRAINT findings_severity_check CHECK ((severity = ANY (ARRAY['error'::text, 'warning'::text, 'info'::text]))),
    CONSTRAINT findings_state_check CHECK ((state = ANY (ARRAY['new'::text, 'open'::text, 'acknowledged'::text, 'disputed'::text, 'credited'::text, 'cleared'::text])))
);

CREATE TABLE public.idempotency_keys (
    caller_id text NOT NULL COLLATE pg_catalog."C",
    idem_key text NOT NULL COLLATE pg_catalog."C",
    request_hash bytea NOT NULL,
    state text DEFAULT 'started'::text NOT NULL,
    locked_until timestamp with time zone,
    lease_token uuid,
    response_status smallint,
    response_body bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    CONSTRAINT idempotency_keys_answer CHECK ((((state = 'completed'::text) = (response_status IS NOT NULL)) AND ((state = 'completed'::text) = (response_body IS NOT NULL)) AND ((state = 'completed'::text) = (expires_at IS NOT NULL)))),
    CONSTRAINT idempotency_keys_lease CHECK (((locked_until IS NULL) = (lease_token IS NULL))),
    CONSTRAINT idempotency_keys_lease_ends CHECK (((state = 'started'::text) OR (lease_token IS NULL))),
    CONSTRAINT idempotency_keys_state_check CHECK ((state = ANY (ARRAY['started'::text, 'completed'::text])))
)
WITH (fillfactor='70');

CREATE TABLE public.invoice_contents (
    carrier text NOT NULL,
    account text NOT NULL,
    invoice_no text NOT NULL,
    currency text NOT NULL,
    digest bigint NOT NULL,
    accepted boolean NOT NULL,
    decided_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.invoice_files (
    file_id bigint NOT NULL,
    carrier text NOT NULL,
    sha256 text NOT NULL,
    name text NOT NULL,
    format text NOT NULL,
    lines bigint NOT NULL,
    rejected bigint NOT NULL,
    first_as_of date NOT NULL,
    CONSTRAINT invoice_files_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);

ALTER TABLE public.invoice_files ALTER COLUMN file_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.invoice_files_file_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.invoice_lines (
    invoice_id bigint NOT NULL,
    file_id bigint NOT NULL,
    row_no integer NOT NULL,
    line_no text NOT NULL,
    kind text NOT NULL,
    correction boolean NOT NULL,
    tracking_no text NOT NULL,
    master_no text NOT NULL,
    original_no text NOT NULL,
    reference text NOT NULL,
    ship_date date,
    charge_text text NOT NULL,
    cents bigint NOT NULL
);

CREATE TABLE public.invoices (
    invoice_id bigint NOT NULL,
    carrier text NOT NULL,
    account text NOT NULL,
    invoice_no text NOT NULL,
    currency text NOT NULL,
    invoice_date date NOT NULL,
    stated_cents bigint,
    lines bigint NOT NULL,
    cents bigint NOT NULL,
    foots boolean NOT NULL,
    digests bigint[] NOT NULL,
    first_as_of date NOT NULL,
    CONSTRAINT invoices_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text))
);

ALTER TABLE public.invoices ALTER COLUMN invoice_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.invoices_invoice_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.label_documents (
    label_id uuid NOT NULL,
    format text NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT label_documents_content_check CHECK ((length(content) > 0))
);

CREATE TABLE public.label_intents (
    intent_id uuid NOT NULL,
    caller_id text NOT NULL COLLATE pg_catalog."C",
    idem_key text NOT NULL COLLATE pg_catalog."C",
    request_hash bytea NOT NULL,
    request_id text NOT NULL,
    order_id bigint NOT NULL,
    parcel_no integer NOT NULL,
    label_version integer NOT NULL,
    carrier text NOT NULL,
    reference text NOT NULL,
    request json NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    settled_by text,
    attempts integer DEFAULT 0 NOT NULL,
    calls integer DEFAULT 0 NOT NULL,
    open_calls integer DEFAULT 0 NOT NULL,
    refusals integer DEFAULT 0 NOT NULL,
    deferrals integer DEFAULT 0 NOT NULL,
    empty_lookups integer DEFAULT 0 NOT NULL,
    failed_lookups integer DEFAULT 0 NOT NULL,
    not_before timestamp with time zone,
    first_called_at timestamp with time zone,
    call_token uuid,
    called_account text,
    called_with_key boolean,
    last_call_until timestamp with time zone,
    last_lookup_at timestamp with time zone,
    label_id uuid,
    carrier_code text,
    carrier_message text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    recovery_id bigint,
    unbegun integer DEFAULT 0 NOT NULL,
    remote_id text,
    key_generation integer DEFAULT 1 NOT NULL,
    CONSTRAINT label_intents_called CHECK (((calls = 0) = (first_called_at IS NULL))),
    CONSTRAINT label_intents_doubt CHECK (((state = 'in_doubt'::text) = (settled_by IS NOT NULL))),
    CONSTRAINT label_intents_finished CHECK (((state = ANY (ARRAY['purchased'::text, 'rejected'::text, 'failed'::text])) = (finished_at IS NOT NULL))),
    CONSTRAINT label_intents_key_generation_check CHECK ((key_generation > 0)),
    CONSTRAINT label_intents_label_version_check CHECK ((label_version > 0)),
    CONSTRAINT label_intents_not_bought CHECK (((state <> ALL (ARRAY['rejected'::text, 'failed'::text])) OR (open_calls = 0))),
    CONSTRAINT label_intents_open_calls CHECK (((open_calls >= 0) AND (open_calls <= calls))),
    CONSTRAINT label_intents_order_id_check CHECK ((order_id > 0)),
    CONSTRAINT label_intents_parcel_no_check CHECK ((parcel_no > 0)),
    CONSTRAINT label_intents_purchased CHECK (((state = 'purchased'::text) = (label_id IS NOT NULL))),
    CONSTRAINT label_intents_request_hash_check CHECK ((length(request_hash) = 32)),
    CONSTRAINT label_intents_settled_by_check CHECK ((settled_by = ANY (ARRAY['lookup'::text, 'person'::text]))),
    CONSTRAINT label_intents_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'purchased'::text, 'rejected'::text, 'failed'::text, 'in_doubt'::text])))
)
WITH (fillfactor='80');

CREATE TABLE public.labels (
    label_id uuid NOT NULL,
    intent_id uuid NOT NULL,
    caller_id text NOT NULL,
    order_id bigint NOT NULL,
    parcel_no integer NOT NULL,
    label_version integer NOT NULL,
    carrier text NOT NULL,
    account text NOT NULL,
    service text NOT NULL,
    tracking_no text NOT NULL,
    cost_cents bigint NOT NULL,
    currency text NOT NULL,
    label_format text NOT NULL,
    created_by_key text NOT NULL,
    carrier_key text NOT NULL,
    reference text NOT NULL,
    carrier_label_id text NOT NULL,
    learned_by text NOT NULL,
    bought_at timestamp with time zone NOT NULL,
    void_state text DEFAULT 'none'::text NOT NULL,
    voided_at timestamp with time zone,
    document_state text DEFAULT 'stored'::text NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    held boolean DEFAULT false NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    custom_reference text DEFAULT ''::text NOT NULL,
    weight_g bigint,
    void_requested_at timestamp with time zone,
    void_code text DEFAULT ''::text NOT NULL,
    void_message text DEFAULT ''::text NOT NULL,
    CONSTRAINT labels_cost_cents_check CHECK ((cost_cents >= 0)),
    CONSTRAINT labels_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT labels_document_state_check CHECK ((document_state = ANY (ARRAY['stored'::text, 'due'::text, 'none'::text]))),
    CONSTRAINT labels_learned_by_check CHECK ((learned_by = ANY (ARRAY['call'::text, 'lookup'::text, 'late_call'::text, 'person'::text]))),
    CONSTRAINT labels_tracking_no_check CHECK ((tracking_no <> ''::text)),
    CONSTRAINT labels_void_state_check CHECK ((void_state = ANY (ARRAY['none'::text, 'requested'::text, 'voided'::text, 'refused'::text, 'in_doubt'::text]))),
    CONSTRAINT labels_voided CHECK (((void_state = 'voided'::text) = (voided_at IS NOT NULL)))
);

CREATE TABLE public.reconcile_runs (
    carrier text NOT NULL,
    as_of date NOT NULL,
    first_run_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.recoveries (
    recovery_id bigint NOT NULL,
    lost_since timestamp with time zone NOT NULL,
    began_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    began_by text NOT NULL,
    began_why text NOT NULL,
    ended_at timestamp with time zone,
    ended_by text,
    ended_why text,
    CONSTRAINT recoveries_ended CHECK ((((ended_at IS NULL) = (ended_by IS NULL)) AND ((ended_at IS NULL) = (ended_why IS NULL)))),
    CONSTRAINT recoveries_lost CHECK ((lost_since <= began_at))
);

ALTER TABLE public.recoveries ALTER COLUMN recovery_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.recoveries_recovery_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY public.callers
    ADD CONSTRAINT callers_pkey PRIMARY KEY (caller_id);

ALTER TABLE ONLY public.carrier_calls
    ADD CONSTRAINT carrier_calls_pkey PRIMARY KEY (call_id);

ALTER TABLE ONLY public.finding_changes
    ADD CONSTRAINT finding_changes_pkey PRIMARY KEY (change_id);

ALTER TABLE ONLY public.findings
    ADD CONSTRAINT findings_pkey PRIMARY KEY (finding_id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (caller_id, idem_key);

ALTER TABLE ONLY public.invoice_contents
    ADD CONSTRAINT invoice_contents_pkey PRIMARY KEY (carrier, account, invoice_no, currency, digest);

ALTER TABLE ONLY public.invoice_files
    ADD CONSTRAINT invoice_files_content UNIQUE (carrier, sha256);

ALTER TABLE ONLY public.invoice_files
    ADD CONSTRAINT invoice_files_pkey PRIMARY KEY (file_id);

ALTER TABLE ONLY public.invoices
    ADD CONSTRAINT invoices_number UNIQUE (carrier, account, invoice_no, currency);

ALTER TABLE ONLY public.invoices
    ADD CONSTRAINT invoices_pkey PRIMARY KEY (invoice_id);

ALTER TABLE ONLY public.label_documents
    ADD CONSTRAINT label_documents_pkey PRIMARY KEY (label_id);

ALTER TABLE public.label_intents
    ADD CONSTRAINT label_intents_caller_id_check CHECK (((caller_id ~ '^[a-z0-9_-]+$'::text) AND (length(caller_id) <= 64))) NOT VALID;

ALTER TABLE ONLY public.label_intents
    ADD CONSTRAINT label_intents_caller_key UNIQUE (caller_id, idem_key);

ALTER TABLE public.label_intents
    ADD CONSTRAINT label_intents_idem_key_check CHECK (((idem_key ~ '^[\x21-\x7e]+$'::text) AND (length(idem_key) <= 255))) NOT VALID;

ALTER TABLE ONLY public.label_intents
    ADD CONSTRAINT label_intents_parcel UNIQUE (order_id, parcel_no, label_version);

ALTER TABLE ONLY public.label_intents
    ADD CONSTRAINT label_intents_pkey PRIMARY KEY (intent_id);

ALTER TABLE ONLY public.label_intents
    ADD CONSTRAINT label_intents_reference UNIQUE (reference);

ALTER TABLE public.label_intents
    ADD CONSTRAINT label_intents_reference_check CHECK (((reference ~ '^[A-Z0-9]+$'::text) AND (length(reference) <= 35))) NOT VALID;

ALTER TABLE public.label_intents
    ADD CONSTRAINT label_intents_remote_id_check CHECK (((remote_id ~ '^[\x21-\x7e]+$'::text) AND (length(remote_id) <= 255))) NOT VALID;

ALTER TABLE ONLY public.labels
    ADD CONSTRAINT labels_carrier_label UNIQUE (carrier, account, carrier_label_id);

ALTER TABLE public.labels
    ADD CONSTRAINT labels_custom_reference_check CHECK ((length(custom_reference) <= 64)) NOT VALID;

ALTER TABLE ONLY public.labels
    ADD CONSTRAINT labels_intent UNIQUE (intent_id);

ALTER TABLE public.labels
    ADD CONSTRAINT labels_note_check CHECK ((length(note) <= 500)) NOT VALID;

ALTER TABLE ONLY public.labels
    ADD CONSTRAINT labels_parcel UNIQUE (order_id, parcel_no, label_version);

ALTER TABLE ONLY public.labels
    ADD CONSTRAINT labels_pkey PRIMARY KEY (label_id);

ALTER TABLE public.labels
    ADD CONSTRAINT labels_revision_check CHECK ((revision > 0)) NOT VALID;

ALTER TABLE public.labels
    ADD CONSTRAINT labels_weight_g_check CHECK ((weight_g > 0)) NOT VALID;

ALTER TABLE ONLY public.reconcile_runs
    ADD CONSTRAINT reconcile_runs_pkey PRIMARY KEY (carrier, as_of);

ALTER TABLE ONLY public.recoveries
    ADD CONSTRAINT recoveries_pkey PRIMARY KEY (recovery_id);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);

CREATE INDEX api_keys_caller ON public.api_keys USING btree (caller_id);

CREATE INDEX carrier_calls_intent ON public.carrier_calls USING btree (intent_id);

CREATE INDEX finding_changes_finding ON public.finding_changes USING btree (finding_id, change_id);

CREATE INDEX findings_carrier ON public.findings USING btree (carrier, state);

CREATE INDEX idempotency_keys_expiry ON public.idempotency_keys USING btree (expires_at) WHERE (state = 'completed'::text);

CREATE INDEX invoice_lines_invoice ON public.invoice_lines USING btree (invoice_id);

CREATE INDEX label_intents_in_doubt ON public.label_intents USING btree (caller_id, created_at, intent_id) WHERE (settled_by IS NOT NULL);

CREATE INDEX label_intents_unfinished ON public.label_intents USING btree (created_at) WHERE (state = ANY (ARRAY['pending'::text, 'in_doubt'::text]));

CREATE INDEX labels_listed ON public.labels USING btree (caller_id, bought_at, label_id);

CREATE INDEX labels_listed_by_tracking ON public.labels USING btree (caller_id, tracking_no, bought_at, label_id);

CREATE INDEX labels_listed_by_void ON public.labels USING btree (caller_id, bought_at, label_id) WHERE (void_state <> 'none'::text);

CREATE INDEX labels_tracking ON public.labels USING btree (carrier, tracking_no);

CREATE INDEX labels_void_open ON public.labels USING btree (void_requested_at) WHERE (void_state = ANY (ARRAY['requested'::text, 'in_doubt'::text]));

CREATE INDEX labels_without_document ON public.labels USING btree (bought_at) WHERE (document_state <> 'stored'::text);

CREATE UNIQUE INDEX recoveries_open ON public.recoveries USING btree ((true)) WHERE (ended_at IS NULL);

CREATE TRIGGER invoices_take_their_lines AFTER DELETE ON public.invoices REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.delete_lines_of_invoices();

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_caller_id_fkey FOREIGN KEY (caller_id) REFERENCES public.callers(caller_id);

ALTER TABLE ONLY public.carrier_calls
    ADD CONSTRAINT carrier_calls_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.label_intents(intent_id);

ALTER TABLE ONLY public.finding_changes
    ADD CONSTRAINT finding_changes_finding_id_fkey FOREIGN KEY (finding_id) REFERENCES public.findings(finding_id);

ALTER TABLE ONLY public.label_documents
    ADD CONSTRAINT label_documents_label_id_fkey FOREIGN KEY (label_id) REFERENCES public.labels(label_id);

ALTER TABLE ONLY public.label_intents
    ADD CONSTRAINT label_intents_label FOREIGN KEY (label_id) REFERENCES public.labels(label_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.labels
    ADD CONSTRAINT labels_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.label_intents(intent_id);
