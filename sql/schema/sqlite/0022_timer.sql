-- +goose Up

-- One row per timer. spec is what it does, as JSON, and never changes. Every firing of an enabled one before
-- planned_until has its row in timer_task. failures counts the tasks that failed in a row, failing_since is the
-- moment of the first of them.
CREATE TABLE timer (
  id              INTEGER PRIMARY KEY,
  project_id      INTEGER NOT NULL,
  name            TEXT NOT NULL,
  name_key        TEXT NOT NULL,
  spec            TEXT NOT NULL,
  enabled         INTEGER NOT NULL,
  planned_until   INTEGER NOT NULL,
  failures        INTEGER NOT NULL,
  failing_since   INTEGER NOT NULL,
  created_by      TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  changed_by      TEXT NOT NULL,
  changed_at      INTEGER NOT NULL
);
CREATE UNIQUE INDEX timer_name ON timer (project_id, name_key);
CREATE INDEX timer_plan ON timer (planned_until, id) WHERE enabled = 1;

-- One row per firing of a timer: the plan, the claim and the record in one. state is planned, calling, retry,
-- success, failed or skipped; open is 1 in the first three. due_at is when a master is to look at it: the moment
-- planned, that of the next try, or, while one calls, that from which on another one may.
CREATE TABLE timer_task (
  timer_id        INTEGER NOT NULL,
  planned_at      INTEGER NOT NULL,
  due_at          INTEGER NOT NULL,
  bucket          INTEGER NOT NULL,
  open            INTEGER NOT NULL,
  state           TEXT NOT NULL,
  tries           INTEGER NOT NULL,
  claimed_by      TEXT NOT NULL,
  called_at       INTEGER NOT NULL,
  cost_ms         INTEGER NOT NULL,
  status          INTEGER NOT NULL,
  response        TEXT NOT NULL,
  error           TEXT NOT NULL,
  PRIMARY KEY (timer_id, planned_at)
) WITHOUT ROWID;
CREATE INDEX timer_task_due ON timer_task (due_at, bucket) WHERE open = 1;
CREATE INDEX timer_task_ended ON timer_task (due_at) WHERE open = 0;

-- What became of the tasks of a project's timers, by the day of planned_at since 1970: it outlives their rows.
CREATE TABLE timer_day (
  project_id      INTEGER NOT NULL,
  day             INTEGER NOT NULL,
  state           TEXT NOT NULL,
  tasks           INTEGER NOT NULL,
  tries           INTEGER NOT NULL,
  late_ms         INTEGER NOT NULL,
  PRIMARY KEY (project_id, day, state)
);
