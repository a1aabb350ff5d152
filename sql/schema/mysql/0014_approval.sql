-- +goose Up

-- args is JSON of what a wish says beside its verb and its tasks: the reason and the values of a decision on
-- an approval. It is empty for a wish that says nothing more.
ALTER TABLE control ADD COLUMN args MEDIUMTEXT NOT NULL DEFAULT ('');

-- One row per attempt of an approval task that waits for people; it goes with the attempt's end.
CREATE TABLE approval (
  instance_id     BIGINT NOT NULL,
  task_index      BIGINT NOT NULL,
  attempt         BIGINT NOT NULL,
  created_at      BIGINT NOT NULL,
  PRIMARY KEY (instance_id, task_index)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- One row per person and attempt: what that person said. It never changes.
CREATE TABLE decision (
  instance_id     BIGINT NOT NULL,
  task_index      BIGINT NOT NULL,
  attempt         BIGINT NOT NULL,
  decided_by      VARCHAR(255) NOT NULL,
  approve         BIGINT NOT NULL,
  reason          MEDIUMTEXT NOT NULL,
  form_values     MEDIUMTEXT NOT NULL,
  decided_at      BIGINT NOT NULL,
  PRIMARY KEY (instance_id, task_index, attempt, decided_by)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
