-- +goose Up

-- concurrency of the published version: it holds for every instance of the workflow. concurrency_limit
-- is 0 where there is none.
ALTER TABLE workflow ADD COLUMN concurrency_limit INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workflow ADD COLUMN when_full TEXT NOT NULL DEFAULT '';
ALTER TABLE workflow ADD COLUMN concurrency_key TEXT NOT NULL DEFAULT '';

-- One row per workflow and key that has places: who counts or gives places of the key locks it first,
-- after the rows of instances.
CREATE TABLE workflow_limit (
  workflow_id     INTEGER NOT NULL,
  limit_key       TEXT NOT NULL,
  PRIMARY KEY (workflow_id, limit_key)
) WITHOUT ROWID;

-- One row per instance under a limit, until its round ends. state: waiting (its turn has yet to come), held (it may
-- run, and counts), out (quarantined: it does not count). replaced_by is the newer instance that took
-- its place, 0 for none.
CREATE TABLE workflow_place (
  instance_id     INTEGER PRIMARY KEY,
  workflow_id     INTEGER NOT NULL,
  limit_key       TEXT NOT NULL,
  state           TEXT NOT NULL,
  priority        INTEGER NOT NULL,
  replaced_by     INTEGER NOT NULL,
  entered_at      INTEGER NOT NULL
);
CREATE INDEX place_order ON workflow_place (workflow_id, limit_key, state, priority, instance_id);
CREATE INDEX place_state ON workflow_place (state, workflow_id, limit_key);
