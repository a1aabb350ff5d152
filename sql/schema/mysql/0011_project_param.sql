-- +goose Up

-- Parameters that every task of a project sees, below those of its workflow.
CREATE TABLE project_param (
  project_id      BIGINT NOT NULL,
  name            VARCHAR(255) NOT NULL,
  value           MEDIUMTEXT NOT NULL,
  description     TEXT NOT NULL,
  updated_at      BIGINT NOT NULL,
  updated_by      VARCHAR(255) NOT NULL,
  PRIMARY KEY (project_id, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
