-- +goose Up

-- At most rate_tasks tasks of a group start in any stretch of time of rate_per milliseconds; 0 is no such limit.
ALTER TABLE task_group ADD COLUMN rate_tasks BIGINT NOT NULL DEFAULT 0;
ALTER TABLE task_group ADD COLUMN rate_per BIGINT NOT NULL DEFAULT 0;

-- How many tasks of a group that has a rate were let go at a moment, for as long as that counts. The group's lock
-- guards its rows.
CREATE TABLE task_group_start (
  group_id        BIGINT NOT NULL,
  started_at      BIGINT NOT NULL,
  tasks           BIGINT NOT NULL,
  PRIMARY KEY (group_id, started_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
