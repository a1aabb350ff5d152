-- +goose Up

-- The newest instance of a workflow, of those that schedules started, that retention has deleted: where the ledger of fires
-- names one that is gone, up to it this is why.
CREATE TABLE retired (
  workflow_id     INTEGER PRIMARY KEY,
  up_to           INTEGER NOT NULL
);

-- +goose Down
DROP TABLE retired;
