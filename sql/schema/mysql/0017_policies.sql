-- +goose Up

-- The node whose attempt failed last, where the task's next attempt goes to another one; '' for none.
ALTER TABLE task_instance ADD COLUMN avoid_worker VARCHAR(255) NOT NULL DEFAULT '';

-- Named sets of environment variables, which tasks of a project take by name. variables is a JSON map.
CREATE TABLE environment (
  project_id      BIGINT NOT NULL,
  name_key        VARCHAR(512) NOT NULL,
  name            VARCHAR(512) NOT NULL,
  variables       MEDIUMTEXT NOT NULL,
  description     TEXT NOT NULL,
  updated_at      BIGINT NOT NULL,
  updated_by      VARCHAR(255) NOT NULL,
  PRIMARY KEY (project_id, name_key)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
