-- +goose Up

-- Parameters that every task of a project sees, below those of its workflow.
CREATE TABLE project_param (
  project_id      INTEGER NOT NULL,
  name            TEXT NOT NULL,
  value           TEXT NOT NULL,
  description     TEXT NOT NULL,
  updated_at      INTEGER NOT NULL,
  updated_by      TEXT NOT NULL,
  PRIMARY KEY (project_id, name)
);
