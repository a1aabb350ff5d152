-- +goose Up

-- One row per backfill. asked is how its dates were asked for, as JSON, for people. active is 1 until nothing of
-- it runs and nothing will. stop_running is 1 where a cancel is to stop what runs, too.
CREATE TABLE backfill (
  id              BIGINT NOT NULL PRIMARY KEY,
  project_id      BIGINT NOT NULL,
  workflow_id     BIGINT NOT NULL,
  asked           MEDIUMTEXT NOT NULL,
  timezone        VARCHAR(64) NOT NULL,
  parallel        BIGINT NOT NULL,
  on_failure      VARCHAR(16) NOT NULL,
  dry_run         BIGINT NOT NULL,
  worker_group    VARCHAR(512) NOT NULL,
  priority        BIGINT NOT NULL,
  state           VARCHAR(16) NOT NULL,
  active          BIGINT NOT NULL,
  stop_running    BIGINT NOT NULL,
  created_by      VARCHAR(255) NOT NULL,
  created_at      BIGINT NOT NULL,
  changed_by      VARCHAR(255) NOT NULL,
  finished_at     BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX backfill_workflow ON backfill (workflow_id, id);
CREATE INDEX backfill_active ON backfill (active, id);

-- The workflows of a backfill: its own at place 0, then those downstream.
CREATE TABLE backfill_part (
  backfill_id     BIGINT NOT NULL,
  part            BIGINT NOT NULL,
  project_id      BIGINT NOT NULL,
  workflow_id     BIGINT NOT NULL,
  version         BIGINT NOT NULL,
  params          MEDIUMTEXT NOT NULL,
  on_failure      VARCHAR(16) NOT NULL,
  PRIMARY KEY (backfill_id, part)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX backfill_part_workflow ON backfill_part (workflow_id, backfill_id);

-- One row per date of a workflow; place is the order in which they start, from 1. instance_id is 0 until then.
CREATE TABLE backfill_date (
  backfill_id     BIGINT NOT NULL,
  place           BIGINT NOT NULL,
  part            BIGINT NOT NULL,
  schedule_time   BIGINT NOT NULL,
  state           VARCHAR(16) NOT NULL,
  instance_id     BIGINT NOT NULL,
  PRIMARY KEY (backfill_id, place)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX backfill_date_state ON backfill_date (backfill_id, state, place);
CREATE INDEX backfill_date_instance ON backfill_date (instance_id);
