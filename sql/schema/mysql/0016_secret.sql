-- +goose Up

-- Values that definitions name instead of hold. project_id 0 is every project. sealed is encrypted by the key
-- of key_id, which is in no table, and bound to project and name.
CREATE TABLE secret (
  project_id      BIGINT NOT NULL,
  name            VARCHAR(255) NOT NULL,
  key_id          VARCHAR(64) NOT NULL,
  sealed          MEDIUMBLOB NOT NULL,
  description     MEDIUMTEXT NOT NULL,
  updated_at      BIGINT NOT NULL,
  updated_by      VARCHAR(255) NOT NULL,
  PRIMARY KEY (project_id, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
