-- +goose Up

-- iteration is the number, from 1, of the iteration that a task which is repeated is in, and that an attempt
-- belongs to; 0 for tasks that are not repeated.
ALTER TABLE task_instance ADD COLUMN iteration INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task_attempt ADD COLUMN iteration INTEGER NOT NULL DEFAULT 0;

-- One row per child of a dynamic task, in the order of its items; task_instance.items is how many there are. While
-- state is waiting, child_id is only kept for the child that is to be made.
ALTER TABLE task_instance ADD COLUMN items INTEGER NOT NULL DEFAULT 0;
CREATE TABLE task_item (
  instance_id     INTEGER NOT NULL,
  task_index      INTEGER NOT NULL,
  item_index      INTEGER NOT NULL,
  state           TEXT NOT NULL,
  child_id        INTEGER NOT NULL,
  workflow_id     INTEGER NOT NULL,
  project_id      INTEGER NOT NULL,
  version         INTEGER NOT NULL,
  params          TEXT NOT NULL,
  outputs         TEXT NOT NULL,
  PRIMARY KEY (instance_id, task_index, item_index)
) WITHOUT ROWID;
