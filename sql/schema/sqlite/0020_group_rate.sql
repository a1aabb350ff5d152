-- +goose Up

-- At most rate_tasks tasks of a group start in any stretch of time of rate_per milliseconds; 0 is no such limit.
ALTER TABLE task_group ADD COLUMN rate_tasks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task_group ADD COLUMN rate_per INTEGER NOT NULL DEFAULT 0;

-- How many tasks of a group that has a rate were let go at a moment, for as long as that counts. The group's lock
-- guards its rows.
CREATE TABLE task_group_start (
  group_id        INTEGER NOT NULL,
  started_at      INTEGER NOT NULL,
  tasks           INTEGER NOT NULL,
  PRIMARY KEY (group_id, started_at)
) WITHOUT ROWID;
