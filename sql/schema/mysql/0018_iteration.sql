-- +goose Up

-- iteration is the number, from 1, of the iteration that a task which is repeated is in, and that an attempt
-- belongs to; 0 for tasks that are not repeated.
ALTER TABLE task_instance ADD COLUMN iteration BIGINT NOT NULL DEFAULT 0;
ALTER TABLE task_attempt ADD COLUMN iteration BIGINT NOT NULL DEFAULT 0;
