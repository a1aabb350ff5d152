-- +goose Up

-- One row per schedule. spec is its document as JSON. revision rises with each change of what it does: a fire that
-- was planned by an older one starts nothing. Every fire before planned_until has its row. why says, where it is not
-- enabled, who or what paused it.
CREATE TABLE schedule (
  id              INTEGER PRIMARY KEY,
  project_id      INTEGER NOT NULL,
  workflow_id     INTEGER NOT NULL,
  name            TEXT NOT NULL,
  name_key        TEXT NOT NULL,
  spec            TEXT NOT NULL,
  revision        INTEGER NOT NULL,
  enabled         INTEGER NOT NULL,
  why             TEXT NOT NULL,
  planned_until   INTEGER NOT NULL,
  created_by      TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  changed_by      TEXT NOT NULL,
  changed_at      INTEGER NOT NULL
);
CREATE UNIQUE INDEX schedule_name ON schedule (workflow_id, name_key);
CREATE INDEX schedule_project ON schedule (project_id, id);
CREATE INDEX schedule_plan ON schedule (planned_until, id) WHERE enabled = 1;

-- One row per fire, which is the plan, the claim and the ledger. due_at is planned_at and its jitter. state is
-- planned, waiting, fired, skipped, missed or duplicate; open is 1 in the first two. instance_id is 0 until it fired.
CREATE TABLE fire (
  source_id       INTEGER NOT NULL,
  planned_at      INTEGER NOT NULL,
  due_at          INTEGER NOT NULL,
  bucket          INTEGER NOT NULL,
  revision        INTEGER NOT NULL,
  open            INTEGER NOT NULL,
  state           TEXT NOT NULL,
  reason          TEXT NOT NULL,
  instance_id     INTEGER NOT NULL,
  fired_at        INTEGER NOT NULL,
  master          TEXT NOT NULL,
  epoch           INTEGER NOT NULL,
  PRIMARY KEY (source_id, planned_at)
) WITHOUT ROWID;
CREATE INDEX fire_due ON fire (due_at, bucket) WHERE open = 1;
CREATE INDEX fire_planned ON fire (planned_at);

-- How many buckets the fires of a minute are folded onto. It is decided once.
CREATE TABLE fire_minute (
  minute          INTEGER PRIMARY KEY,
  buckets         INTEGER NOT NULL
);

-- What became of the fires that were pruned, so that a proof still adds up. day is the days since 1970 of planned_at.
CREATE TABLE fire_day (
  source_id       INTEGER NOT NULL,
  day             INTEGER NOT NULL,
  state           TEXT NOT NULL,
  fires           INTEGER NOT NULL,
  late_ms         INTEGER NOT NULL,
  PRIMARY KEY (source_id, day, state)
) WITHOUT ROWID;

-- Days on which schedules do not fire, or do alone. days is JSON; see package dag/schedule.
CREATE TABLE calendar (
  id              INTEGER PRIMARY KEY,
  project_id      INTEGER NOT NULL,
  name            TEXT NOT NULL,
  name_key        TEXT NOT NULL,
  spec            TEXT NOT NULL,
  changed_by      TEXT NOT NULL,
  changed_at      INTEGER NOT NULL
);
CREATE UNIQUE INDEX calendar_name ON calendar (project_id, name_key);
