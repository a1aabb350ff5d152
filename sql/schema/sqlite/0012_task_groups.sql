-- +goose Up

-- One row per task group of a project: who counts or gives its places locks it first, after the rows of
-- instances and of lines. size 0 gives no place.
CREATE TABLE task_group (
  id              INTEGER PRIMARY KEY,
  project_id      INTEGER NOT NULL,
  name            TEXT NOT NULL,
  name_key        TEXT NOT NULL,
  description     TEXT NOT NULL,
  size            INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL
);
CREATE UNIQUE INDEX task_group_name ON task_group (project_id, name_key);

-- One row per task that waits for places of a group or has them. state: waiting, given (its owner has yet to
-- hear of it), held. turn is the priority of instance and task. ask names the question that it answers, so
-- that an answer to an older one counts for nothing. forced is 1 where somebody gave the places beyond the size.
CREATE TABLE task_place (
  instance_id     INTEGER NOT NULL,
  task_index      INTEGER NOT NULL,
  group_id        INTEGER NOT NULL,
  state           TEXT NOT NULL,
  turn            INTEGER NOT NULL,
  weight          INTEGER NOT NULL,
  ask             INTEGER NOT NULL,
  forced          INTEGER NOT NULL,
  ready_at        INTEGER NOT NULL,
  PRIMARY KEY (instance_id, task_index)
) WITHOUT ROWID;
CREATE INDEX task_place_order ON task_place (group_id, state, turn, ready_at, instance_id, task_index);
CREATE INDEX task_place_state ON task_place (state, instance_id);
