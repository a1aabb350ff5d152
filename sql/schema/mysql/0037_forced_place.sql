-- +goose Up

-- Who gave a task its places beyond the size of its group, and why.
ALTER TABLE task_place
  ADD COLUMN forced_by VARCHAR(255) NOT NULL DEFAULT '',
  ADD COLUMN forced_reason VARCHAR(1024) NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE task_place DROP COLUMN forced_reason, DROP COLUMN forced_by;
