-- +goose Up

-- The files that an attempt has left. Their rows are written together, after all chunks: without them the chunks are
-- those of a transfer that has not come to its end. number counts from 0 and names a file among those of its attempt.
CREATE TABLE artifact (
  instance_id     INTEGER NOT NULL,
  task_index      INTEGER NOT NULL,
  attempt         INTEGER NOT NULL,
  number          INTEGER NOT NULL,
  name            TEXT NOT NULL,
  size            INTEGER NOT NULL,
  sha256          TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  PRIMARY KEY (instance_id, task_index, attempt, number)
) WITHOUT ROWID;

-- chunk counts from 0; all chunks of a file but the last are of one size.
CREATE TABLE artifact_chunk (
  instance_id     INTEGER NOT NULL,
  task_index      INTEGER NOT NULL,
  attempt         INTEGER NOT NULL,
  number          INTEGER NOT NULL,
  chunk           INTEGER NOT NULL,
  data            BLOB NOT NULL,
  PRIMARY KEY (instance_id, task_index, attempt, number, chunk)
);
