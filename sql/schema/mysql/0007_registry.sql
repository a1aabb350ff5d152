-- +goose Up

-- One row: the registry that the cluster belongs to, by the id that is written in it too; '' before the first
-- start and after a restore. Who starts with another registry is refused. beat rises every few
-- seconds while a process of the cluster lives, so that an empty registry tells whether it was wiped or is a
-- second one.
CREATE TABLE cluster_registry (
  one             BIGINT NOT NULL PRIMARY KEY,
  id              VARCHAR(128) NOT NULL,
  beat            BIGINT NOT NULL,
  bound_at        BIGINT NOT NULL,
  bound_by        VARCHAR(255) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO cluster_registry (one, id, beat, bound_at, bound_by) VALUES (1, '', 0, 0, '');
