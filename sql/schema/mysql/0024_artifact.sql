-- +goose Up

-- The files that an attempt has left. Their rows are written together, after all chunks: without them the chunks are
-- those of a transfer that has not come to its end. number counts from 0 and names a file among those of its attempt.
CREATE TABLE artifact (
  instance_id     BIGINT NOT NULL,
  task_index      BIGINT NOT NULL,
  attempt         BIGINT NOT NULL,
  number          BIGINT NOT NULL,
  name            VARCHAR(255) NOT NULL,
  size            BIGINT NOT NULL,
  sha256          VARCHAR(64) NOT NULL,
  created_at      BIGINT NOT NULL,
  PRIMARY KEY (instance_id, task_index, attempt, number)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- chunk counts from 0; all chunks of a file but the last are of one size.
CREATE TABLE artifact_chunk (
  instance_id     BIGINT NOT NULL,
  task_index      BIGINT NOT NULL,
  attempt         BIGINT NOT NULL,
  number          BIGINT NOT NULL,
  chunk           BIGINT NOT NULL,
  data            MEDIUMBLOB NOT NULL,
  PRIMARY KEY (instance_id, task_index, attempt, number, chunk)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
