-- +goose Up

-- iteration is the number, from 1, of the iteration that a task which is repeated is in, and that an attempt
-- belongs to; 0 for tasks that are not repeated.
ALTER TABLE task_instance ADD COLUMN iteration BIGINT NOT NULL DEFAULT 0;
ALTER TABLE task_attempt ADD COLUMN iteration BIGINT NOT NULL DEFAULT 0;

-- One row per child of a dynamic task, in the order of its items; task_instance.items is how many there are. While
-- state is waiting, child_id is only kept for the child that is to be made.
ALTER TABLE task_instance ADD COLUMN items BIGINT NOT NULL DEFAULT 0;
CREATE TABLE task_item (
  instance_id     BIGINT NOT NULL,
  task_index      BIGINT NOT NULL,
  item_index      BIGINT NOT NULL,
  state           VARCHAR(16) NOT NULL,
  child_id        BIGINT NOT NULL,
  workflow_id     BIGINT NOT NULL,
  project_id      BIGINT NOT NULL,
  version         BIGINT NOT NULL,
  params          MEDIUMTEXT NOT NULL,
  outputs         MEDIUMTEXT NOT NULL,
  PRIMARY KEY (instance_id, task_index, item_index)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
