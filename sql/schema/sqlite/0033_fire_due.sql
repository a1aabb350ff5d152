-- +goose Up
-- A fire that has its outcome leaves the index of those that are due, and none is written for it.
DROP INDEX fire_due;
CREATE INDEX fire_due ON fire (due_at, bucket) WHERE open = 1;

-- +goose Down
DROP INDEX fire_due;
CREATE INDEX fire_due ON fire (open, due_at, bucket);
