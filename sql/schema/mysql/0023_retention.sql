-- +goose Up

-- One row per instance that was deleted while rows of its tasks, attempts and events are still to go. events is how
-- many of the latter it had, as the measure of the work.
CREATE TABLE instance_rest (
  instance_id     BIGINT NOT NULL PRIMARY KEY,
  events          BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX backfill_finished ON backfill (active, finished_at, id);
