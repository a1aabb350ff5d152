-- +goose Up

-- complete_by is the moment by which the attempt must have moved on or shown a sign of life; 0 where it
-- is over, or waits for nothing but a moment. Its owner writes it with the attempt and extends it.
ALTER TABLE task_attempt ADD COLUMN complete_by INTEGER NOT NULL DEFAULT 0;
CREATE INDEX attempt_overdue ON task_attempt (complete_by) WHERE complete_by > 0;

-- One row. fence rises with each master that becomes the supervisor; whoever writes as the
-- supervisor compares it, so that one who slept does nothing.
CREATE TABLE supervisor (
  one             INTEGER PRIMARY KEY,
  fence           INTEGER NOT NULL,
  holder          TEXT NOT NULL,
  since           INTEGER NOT NULL,
  looked_at       INTEGER NOT NULL,
  every_ms        INTEGER NOT NULL
);
INSERT INTO supervisor (one, fence, holder, since, looked_at, every_ms) VALUES (1, 0, '', 0, 0, 0);

-- One row per thing that got stuck and is, or was, to be recovered. step is the state of the
-- attempt that is stuck; start and command are of an instance without owner and of a command that nobody
-- takes, task_index is -1 there. state: asked (the owner has yet to answer), applied (it did, and the
-- step is watched), done (it moved on), error (given up: an operator must look). The newest ten
-- thousand are kept.
CREATE TABLE recovery (
  id              INTEGER PRIMARY KEY,
  instance_id     INTEGER NOT NULL,
  task_index      INTEGER NOT NULL,
  attempt         INTEGER NOT NULL,
  step            TEXT NOT NULL,
  state           TEXT NOT NULL,
  failures        INTEGER NOT NULL,
  give_up         INTEGER NOT NULL,
  fence           INTEGER NOT NULL,
  first_at        INTEGER NOT NULL,
  asked_at        INTEGER NOT NULL,
  complete_by     INTEGER NOT NULL,
  answered_at     INTEGER NOT NULL,
  answered_by     TEXT NOT NULL,
  result          TEXT NOT NULL
);
CREATE UNIQUE INDEX recovery_step ON recovery (instance_id, task_index, attempt, step);
CREATE INDEX recovery_state ON recovery (state, id);
