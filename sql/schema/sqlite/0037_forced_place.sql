-- +goose Up

-- Who gave a task its places beyond the size of its group, and why.
ALTER TABLE task_place ADD COLUMN forced_by TEXT NOT NULL DEFAULT '';
ALTER TABLE task_place ADD COLUMN forced_reason TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE task_place DROP COLUMN forced_reason;
ALTER TABLE task_place DROP COLUMN forced_by;
