-- +goose Up

-- The test cases of a workflow, as porpoise test reads them; beside its draft, and of no version. revision rises with
-- every change.
CREATE TABLE workflow_cases (
  workflow_id     BIGINT NOT NULL PRIMARY KEY,
  text            MEDIUMTEXT NOT NULL,
  revision        BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL,
  updated_by      VARCHAR(255) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- +goose Down
DROP TABLE workflow_cases;
