-- +goose Up

-- args is JSON of what a wish says beside its verb and its tasks: the reason and the values of a decision on
-- an approval. It is empty for a wish that says nothing more.
ALTER TABLE control ADD COLUMN args TEXT NOT NULL DEFAULT '';

-- One row per attempt of an approval task that waits for people; it goes with the attempt's end.
CREATE TABLE approval (
  instance_id     INTEGER NOT NULL,
  task_index      INTEGER NOT NULL,
  attempt         INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  PRIMARY KEY (instance_id, task_index)
) WITHOUT ROWID;

-- One row per person and attempt: what that person said. It never changes.
CREATE TABLE decision (
  instance_id     INTEGER NOT NULL,
  task_index      INTEGER NOT NULL,
  attempt         INTEGER NOT NULL,
  decided_by      TEXT NOT NULL,
  approve         INTEGER NOT NULL,
  reason          TEXT NOT NULL,
  form_values     TEXT NOT NULL,
  decided_at      INTEGER NOT NULL,
  PRIMARY KEY (instance_id, task_index, attempt, decided_by)
) WITHOUT ROWID;
