-- +goose Up

-- The node whose attempt failed last, where the task's next attempt goes to another one; '' for none.
ALTER TABLE task_instance ADD COLUMN avoid_worker TEXT NOT NULL DEFAULT '';

-- Named sets of environment variables, which tasks of a project take by name. variables is a JSON map.
CREATE TABLE environment (
  project_id      INTEGER NOT NULL,
  name_key        TEXT NOT NULL,
  name            TEXT NOT NULL,
  variables       TEXT NOT NULL,
  description     TEXT NOT NULL,
  updated_at      INTEGER NOT NULL,
  updated_by      TEXT NOT NULL,
  PRIMARY KEY (project_id, name_key)
);
