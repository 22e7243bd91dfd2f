-- River's own tables, made fit for thousands of short-lived jobs a second. Runs after River's
-- migrations, which own these objects.

-- Nothing here reads jobs by args, metadata or kind; the three indexes are half of the WAL of a
-- job's life. To get them back:
--   CREATE INDEX river_job_args_index ON river_job USING GIN (args);
--   CREATE INDEX river_job_metadata_index ON river_job USING GIN (metadata);
--   CREATE INDEX river_job_kind ON river_job (kind);
DROP INDEX IF EXISTS river_job_args_index;
DROP INDEX IF EXISTS river_job_metadata_index;
DROP INDEX IF EXISTS river_job_kind;

-- A queue table dies of dead rows, not of live ones: vacuum by count, at full speed.
ALTER TABLE river_job SET (
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 50000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 100000
);
