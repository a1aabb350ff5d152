-- +goose Up

-- One row per backfill. asked is how its dates were asked for, as JSON, for people. active is 1 until nothing of
-- it runs and nothing will. stop_running is 1 where a cancel is to stop what runs, too.
CREATE TABLE backfill (
  id              INTEGER PRIMARY KEY,
  project_id      INTEGER NOT NULL,
  workflow_id     INTEGER NOT NULL,
  asked           TEXT NOT NULL,
  timezone        TEXT NOT NULL,
  parallel        INTEGER NOT NULL,
  on_failure      TEXT NOT NULL,
  dry_run         INTEGER NOT NULL,
  worker_group    TEXT NOT NULL,
  priority        INTEGER NOT NULL,
  state           TEXT NOT NULL,
  active          INTEGER NOT NULL,
  stop_running    INTEGER NOT NULL,
  created_by      TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  changed_by      TEXT NOT NULL,
  finished_at     INTEGER NOT NULL
);
CREATE INDEX backfill_workflow ON backfill (workflow_id, id);
CREATE INDEX backfill_active ON backfill (active, id);

-- The workflows of a backfill: its own at place 0, then those downstream.
CREATE TABLE backfill_part (
  backfill_id     INTEGER NOT NULL,
  part            INTEGER NOT NULL,
  project_id      INTEGER NOT NULL,
  workflow_id     INTEGER NOT NULL,
  version         INTEGER NOT NULL,
  params          TEXT NOT NULL,
  on_failure      TEXT NOT NULL,
  PRIMARY KEY (backfill_id, part)
) WITHOUT ROWID;
CREATE INDEX backfill_part_workflow ON backfill_part (workflow_id, backfill_id);

-- One row per date of a workflow; place is the order in which they start, from 1. instance_id is 0 until then.
CREATE TABLE backfill_date (
  backfill_id     INTEGER NOT NULL,
  place           INTEGER NOT NULL,
  part            INTEGER NOT NULL,
  schedule_time   INTEGER NOT NULL,
  state           TEXT NOT NULL,
  instance_id     INTEGER NOT NULL,
  PRIMARY KEY (backfill_id, place)
) WITHOUT ROWID;
CREATE INDEX backfill_date_state ON backfill_date (backfill_id, state, place);
CREATE INDEX backfill_date_instance ON backfill_date (instance_id);
