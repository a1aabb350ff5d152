-- +goose Up

-- The newest instance of a workflow, of those that schedules started, that retention has deleted: where the ledger of fires
-- names one that is gone, up to it this is why.
CREATE TABLE retired (
  workflow_id     BIGINT NOT NULL PRIMARY KEY,
  up_to           BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- +goose Down
DROP TABLE retired;
