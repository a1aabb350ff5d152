-- +goose Up

-- One row per task group of a project: who counts or gives its places locks it first, after the rows of
-- instances and of lines. size 0 gives no place.
CREATE TABLE task_group (
  id              BIGINT NOT NULL PRIMARY KEY,
  project_id      BIGINT NOT NULL,
  name            VARCHAR(512) NOT NULL,
  name_key        VARBINARY(1600) NOT NULL,
  description     MEDIUMTEXT NOT NULL,
  size            BIGINT NOT NULL,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX task_group_name ON task_group (project_id, name_key);

-- One row per task that waits for places of a group or has them. state: waiting, given (its owner has yet to
-- hear of it), held. turn is the priority of instance and task. ask names the question that it answers, so
-- that an answer to an older one counts for nothing. forced is 1 where somebody gave the places beyond the size.
CREATE TABLE task_place (
  instance_id     BIGINT NOT NULL,
  task_index      BIGINT NOT NULL,
  group_id        BIGINT NOT NULL,
  state           VARCHAR(16) NOT NULL,
  turn            BIGINT NOT NULL,
  weight          BIGINT NOT NULL,
  ask             BIGINT NOT NULL,
  forced          BIGINT NOT NULL,
  ready_at        BIGINT NOT NULL,
  PRIMARY KEY (instance_id, task_index)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX task_place_order ON task_place (group_id, state, turn, ready_at, instance_id, task_index);
CREATE INDEX task_place_state ON task_place (state, instance_id);
