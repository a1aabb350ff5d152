-- +goose Up

-- Somebody has seen that an instance failed, and looks after it. It counts for the round that it names: a recovery
-- begins another.
CREATE TABLE acknowledgement (
  instance_id     BIGINT NOT NULL PRIMARY KEY,
  round           BIGINT NOT NULL,
  created_by      VARCHAR(255) NOT NULL,
  created_at      BIGINT NOT NULL,
  note            MEDIUMTEXT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- +goose Down
DROP TABLE acknowledgement;
