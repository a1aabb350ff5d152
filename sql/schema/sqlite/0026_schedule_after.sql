-- +goose Up

-- A schedule may fire at ends of instances of another workflow: after_workflow is that one, 0 for none, and
-- after_states are the final states that count, with commas between them.
ALTER TABLE schedule ADD COLUMN after_workflow INTEGER NOT NULL DEFAULT 0;
ALTER TABLE schedule ADD COLUMN after_states TEXT NOT NULL DEFAULT '';
CREATE INDEX schedule_after ON schedule (after_workflow) WHERE after_workflow <> 0;

-- The fire of an end: after_id is the instance that ended, 0 for the fire of a moment, and schedule_time is what that
-- one was about, 0 for nothing.
ALTER TABLE fire ADD COLUMN after_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE fire ADD COLUMN schedule_time INTEGER NOT NULL DEFAULT 0;

-- One row per schedule and instance whose end it waits for, written with that end. It is the claim: however often the
-- instance ends again, it fires once. open is 1 until its fire has a row; the two are pruned together.
CREATE TABLE schedule_end (
  source_id       INTEGER NOT NULL,
  instance_id     INTEGER NOT NULL,
  ended_at        INTEGER NOT NULL,
  schedule_time   INTEGER NOT NULL,
  revision        INTEGER NOT NULL,
  open            INTEGER NOT NULL,
  PRIMARY KEY (source_id, instance_id)
) WITHOUT ROWID;
CREATE INDEX schedule_end_open ON schedule_end (ended_at, source_id, instance_id) WHERE open = 1;
