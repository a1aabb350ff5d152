-- +goose Up

-- One row per timer. spec is what it does, as JSON, and never changes. Every firing of an enabled one before
-- planned_until has its row in timer_task. failures counts the tasks that failed in a row, failing_since is the
-- moment of the first of them.
CREATE TABLE timer (
  id              BIGINT NOT NULL PRIMARY KEY,
  project_id      BIGINT NOT NULL,
  name            VARCHAR(512) NOT NULL,
  name_key        VARBINARY(1600) NOT NULL,
  spec            MEDIUMTEXT NOT NULL,
  enabled         BIGINT NOT NULL,
  planned_until   BIGINT NOT NULL,
  failures        BIGINT NOT NULL,
  failing_since   BIGINT NOT NULL,
  created_by      VARCHAR(255) NOT NULL,
  created_at      BIGINT NOT NULL,
  changed_by      VARCHAR(255) NOT NULL,
  changed_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX timer_name ON timer (project_id, name_key);
CREATE INDEX timer_plan ON timer (enabled, planned_until, id);

-- One row per firing of a timer: the plan, the claim and the record in one. state is planned, calling, retry,
-- success, failed or skipped; open is 1 in the first three. due_at is when a master is to look at it: the moment
-- planned, that of the next try, or, while one calls, that from which on another one may.
CREATE TABLE timer_task (
  timer_id        BIGINT NOT NULL,
  planned_at      BIGINT NOT NULL,
  due_at          BIGINT NOT NULL,
  bucket          BIGINT NOT NULL,
  open            BIGINT NOT NULL,
  state           VARCHAR(16) NOT NULL,
  tries           BIGINT NOT NULL,
  claimed_by      VARCHAR(255) NOT NULL,
  called_at       BIGINT NOT NULL,
  cost_ms         BIGINT NOT NULL,
  status          BIGINT NOT NULL,
  response        MEDIUMTEXT NOT NULL,
  error           MEDIUMTEXT NOT NULL,
  PRIMARY KEY (timer_id, planned_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX timer_task_due ON timer_task (open, due_at, bucket);

-- What became of the tasks of a project's timers, by the day of planned_at since 1970: it outlives their rows.
CREATE TABLE timer_day (
  project_id      BIGINT NOT NULL,
  day             BIGINT NOT NULL,
  state           VARCHAR(16) NOT NULL,
  tasks           BIGINT NOT NULL,
  tries           BIGINT NOT NULL,
  late_ms         BIGINT NOT NULL,
  PRIMARY KEY (project_id, day, state)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
