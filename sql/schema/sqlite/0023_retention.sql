-- +goose Up

-- One row per instance that was deleted while rows of its tasks, attempts and events are still to go. events is how
-- many of the latter it had, as the measure of the work.
CREATE TABLE instance_rest (
  instance_id     INTEGER PRIMARY KEY,
  events          INTEGER NOT NULL
);
CREATE INDEX backfill_finished ON backfill (finished_at, id) WHERE active = 0;
