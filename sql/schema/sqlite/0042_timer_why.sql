-- +goose Up

-- Why a timer is not enabled, where it was not a person who disabled it.
ALTER TABLE timer ADD COLUMN why TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE timer DROP COLUMN why;
