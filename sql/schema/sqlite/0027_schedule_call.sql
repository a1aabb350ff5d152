-- +goose Up

-- The fire of a call: call_id is what its sender calls it, '' for the fire of a moment or an end.
ALTER TABLE fire ADD COLUMN call_id TEXT NOT NULL DEFAULT '';

-- One row per call that a schedule has taken, written with its fire, and pruned with it. It is the claim: a call that comes
-- again, by its id or by its signature, starts nothing. params are what its body gave, as JSON.
CREATE TABLE schedule_call (
  source_id       INTEGER NOT NULL,
  call_id         TEXT NOT NULL,
  signature       TEXT NOT NULL,
  planned_at      INTEGER NOT NULL,
  params          TEXT NOT NULL,
  PRIMARY KEY (source_id, call_id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX schedule_call_signature ON schedule_call (source_id, signature);

-- What listeners are told beside the events of instances: deliveries have its id in the place of an instance's. subject
-- is the name of the schedule or the timer that it is about.
CREATE TABLE alert (
  id              INTEGER PRIMARY KEY,
  project_id      INTEGER NOT NULL,
  kind            TEXT NOT NULL,
  workflow        TEXT NOT NULL,
  subject         TEXT NOT NULL,
  message         TEXT NOT NULL,
  requested_by    TEXT NOT NULL,
  created_at      INTEGER NOT NULL
);
CREATE INDEX alert_created ON alert (created_at);
