-- +goose Up

-- Somebody has seen that an instance failed, and looks after it. It counts for the round that it names: a recovery
-- begins another.
CREATE TABLE acknowledgement (
  instance_id     INTEGER PRIMARY KEY,
  round           INTEGER NOT NULL,
  created_by      TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  note            TEXT NOT NULL
);

-- +goose Down
DROP TABLE acknowledgement;
