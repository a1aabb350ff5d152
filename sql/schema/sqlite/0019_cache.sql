-- +goose Up

-- What a task gave, for later attempts that have the same key: a hash of the workflow, the task and all that its
-- outputs depend on. instance_id and attempt are where it ran, created_at is when that ended. Beyond a number of rows
-- per workflow the oldest go, whatever their expires_at.
CREATE TABLE task_cache (
  cache_key       TEXT NOT NULL PRIMARY KEY,
  workflow_id     INTEGER NOT NULL,
  task            TEXT NOT NULL,
  instance_id     INTEGER NOT NULL,
  attempt         INTEGER NOT NULL,
  outputs         TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  expires_at      INTEGER NOT NULL
);
CREATE INDEX task_cache_workflow ON task_cache (workflow_id, created_at);
CREATE INDEX task_cache_expires ON task_cache (expires_at);

-- cache_key is the key under which the attempt's success is kept, '' for none; cached_from is the instance whose
-- outputs it took over instead of running, 0 for none.
ALTER TABLE task_attempt ADD COLUMN cache_key TEXT NOT NULL DEFAULT '';
ALTER TABLE task_attempt ADD COLUMN cached_from INTEGER NOT NULL DEFAULT 0;
