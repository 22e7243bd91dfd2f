-- Who may call, and with which API keys.

CREATE TABLE callers (
    caller_id  text PRIMARY KEY CHECK (caller_id ~ '^[a-z0-9_-]{1,64}$'),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    key_id       text PRIMARY KEY CHECK (key_id ~ '^[0-9A-Za-z]{8}$'),
    caller_id    text NOT NULL REFERENCES callers,
    -- SHA-256 of the secret part: at about 190 random bits no slow hash is needed.
    secret_hash  bytea NOT NULL CHECK (length(secret_hash) = 32),
    scopes       text[] NOT NULL CHECK (
        cardinality(scopes) > 0
        AND scopes <@ ARRAY['labels:write', 'labels:read', 'finance:read', 'operator']
    ),
    created_at   timestamptz NOT NULL DEFAULT now(),
    revoked_at   timestamptz
);

CREATE INDEX api_keys_caller ON api_keys (caller_id);
