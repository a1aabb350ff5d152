-- +goose Up

-- The node whose attempt failed last, where the task's next attempt goes to another one; '' for none.
ALTER TABLE task_instance ADD COLUMN avoid_worker VARCHAR(255) NOT NULL DEFAULT '';
