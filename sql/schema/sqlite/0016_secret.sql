-- +goose Up

-- Values that definitions name instead of hold. project_id 0 is every project. sealed is encrypted by the key
-- of key_id, which is in no table, and bound to project and name.
CREATE TABLE secret (
  project_id      INTEGER NOT NULL,
  name            TEXT NOT NULL,
  key_id          TEXT NOT NULL,
  sealed          BLOB NOT NULL,
  description     TEXT NOT NULL,
  updated_at      INTEGER NOT NULL,
  updated_by      TEXT NOT NULL,
  PRIMARY KEY (project_id, name)
);
