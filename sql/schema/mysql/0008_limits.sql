-- +goose Up

-- concurrency of the published version: it holds for every instance of the workflow. concurrency_limit
-- is 0 where there is none.
ALTER TABLE workflow ADD COLUMN concurrency_limit BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workflow ADD COLUMN when_full VARCHAR(16) NOT NULL DEFAULT '';
ALTER TABLE workflow ADD COLUMN concurrency_key VARCHAR(2048) NOT NULL DEFAULT '';

-- One row per workflow and key that has places: who counts or gives places of the key locks it first,
-- after the rows of instances.
CREATE TABLE workflow_limit (
  workflow_id     BIGINT NOT NULL,
  limit_key       VARBINARY(255) NOT NULL,
  PRIMARY KEY (workflow_id, limit_key)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- One row per instance under a limit, until its round ends. state: waiting (its turn has yet to come), held (it may
-- run, and counts), out (quarantined: it does not count). replaced_by is the newer instance that took
-- its place, 0 for none.
CREATE TABLE workflow_place (
  instance_id     BIGINT NOT NULL PRIMARY KEY,
  workflow_id     BIGINT NOT NULL,
  limit_key       VARBINARY(255) NOT NULL,
  state           VARCHAR(16) NOT NULL,
  priority        BIGINT NOT NULL,
  replaced_by     BIGINT NOT NULL,
  entered_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX place_order ON workflow_place (workflow_id, limit_key, state, priority, instance_id);
CREATE INDEX place_state ON workflow_place (state, workflow_id, limit_key);
