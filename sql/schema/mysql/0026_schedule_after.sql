-- +goose Up

-- A schedule may fire at ends of instances of another workflow: after_workflow is that one, 0 for none, and
-- after_states are the final states that count, with commas between them.
ALTER TABLE schedule ADD COLUMN after_workflow BIGINT NOT NULL DEFAULT 0, ADD COLUMN after_states VARCHAR(255) NOT NULL DEFAULT '';
CREATE INDEX schedule_after ON schedule (after_workflow);

-- The fire of an end: after_id is the instance that ended, 0 for the fire of a moment, and schedule_time is what that
-- one was about, 0 for nothing.
ALTER TABLE fire ADD COLUMN after_id BIGINT NOT NULL DEFAULT 0, ADD COLUMN schedule_time BIGINT NOT NULL DEFAULT 0;

-- One row per schedule and instance whose end it waits for, written with that end. It is the claim: however often the
-- instance ends again, it fires once. open is 1 until its fire has a row; the two are pruned together.
CREATE TABLE schedule_end (
  source_id       BIGINT NOT NULL,
  instance_id     BIGINT NOT NULL,
  ended_at        BIGINT NOT NULL,
  schedule_time   BIGINT NOT NULL,
  revision        BIGINT NOT NULL,
  open            BIGINT NOT NULL,
  PRIMARY KEY (source_id, instance_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX schedule_end_open ON schedule_end (open, ended_at, source_id, instance_id);
