-- +goose Up

-- The test cases of a workflow, as porpoise test reads them; beside its draft, and of no version. revision rises with
-- every change.
CREATE TABLE workflow_cases (
  workflow_id     INTEGER PRIMARY KEY,
  text            TEXT NOT NULL,
  revision        INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  updated_by      TEXT NOT NULL
);

-- +goose Down
DROP TABLE workflow_cases;
