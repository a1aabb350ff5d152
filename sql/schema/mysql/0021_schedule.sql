-- +goose Up

-- One row per schedule. spec is its document as JSON. revision rises with each change of what it does: a fire that
-- was planned by an older one starts nothing. Every fire before planned_until has its row. why says, where it is not
-- enabled, who or what paused it.
CREATE TABLE schedule (
  id              BIGINT NOT NULL PRIMARY KEY,
  project_id      BIGINT NOT NULL,
  workflow_id     BIGINT NOT NULL,
  name            VARCHAR(512) NOT NULL,
  name_key        VARBINARY(1600) NOT NULL,
  spec            MEDIUMTEXT NOT NULL,
  revision        BIGINT NOT NULL,
  enabled         BIGINT NOT NULL,
  why             VARCHAR(512) NOT NULL,
  planned_until   BIGINT NOT NULL,
  created_by      VARCHAR(255) NOT NULL,
  created_at      BIGINT NOT NULL,
  changed_by      VARCHAR(255) NOT NULL,
  changed_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX schedule_name ON schedule (workflow_id, name_key);
CREATE INDEX schedule_project ON schedule (project_id, id);
CREATE INDEX schedule_plan ON schedule (enabled, planned_until, id);

-- One row per fire, which is the plan, the claim and the ledger. due_at is planned_at and its jitter. state is
-- planned, waiting, fired, skipped, missed or duplicate; open is 1 in the first two. instance_id is 0 until it fired.
CREATE TABLE fire (
  source_id       BIGINT NOT NULL,
  planned_at      BIGINT NOT NULL,
  due_at          BIGINT NOT NULL,
  bucket          BIGINT NOT NULL,
  revision        BIGINT NOT NULL,
  open            BIGINT NOT NULL,
  state           VARCHAR(16) NOT NULL,
  reason          VARCHAR(512) NOT NULL,
  instance_id     BIGINT NOT NULL,
  fired_at        BIGINT NOT NULL,
  master          VARCHAR(255) NOT NULL,
  epoch           BIGINT NOT NULL,
  PRIMARY KEY (source_id, planned_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX fire_due ON fire (open, due_at, bucket);
CREATE INDEX fire_planned ON fire (planned_at);

-- How many buckets the fires of a minute are folded onto. It is decided once.
CREATE TABLE fire_minute (
  minute          BIGINT NOT NULL PRIMARY KEY,
  buckets         BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What became of the fires that were pruned, so that a proof still adds up. day is the days since 1970 of planned_at.
CREATE TABLE fire_day (
  source_id       BIGINT NOT NULL,
  day             BIGINT NOT NULL,
  state           VARCHAR(16) NOT NULL,
  fires           BIGINT NOT NULL,
  late_ms         BIGINT NOT NULL,
  PRIMARY KEY (source_id, day, state)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Days on which schedules do not fire, or do alone. days is JSON; see package dag/schedule.
CREATE TABLE calendar (
  id              BIGINT NOT NULL PRIMARY KEY,
  project_id      BIGINT NOT NULL,
  name            VARCHAR(512) NOT NULL,
  name_key        VARBINARY(1600) NOT NULL,
  spec            MEDIUMTEXT NOT NULL,
  changed_by      VARCHAR(255) NOT NULL,
  changed_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX calendar_name ON calendar (project_id, name_key);
