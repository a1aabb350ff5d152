-- Times are UTC milliseconds; 0 means none. Ids come from id_block. States are words of the documents.
-- +goose Up

-- One row, made at the cluster's birth. layout_floor is the lowest epoch that the next layout of slots
-- may have: each layout raises it before it is proposed, so that a registry that was wiped starts
-- above what masters have seen.
CREATE TABLE cluster (
  one             INTEGER PRIMARY KEY,
  id              TEXT NOT NULL,
  slots           INTEGER NOT NULL,
  layout_floor    INTEGER NOT NULL,
  created_at      INTEGER NOT NULL
);

CREATE TABLE id_block (
  name            TEXT NOT NULL PRIMARY KEY,
  next_id         INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE project (
  id              INTEGER PRIMARY KEY,
  name            TEXT NOT NULL,
  name_key        TEXT NOT NULL,
  description     TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  deleted_at      INTEGER NOT NULL
);
CREATE UNIQUE INDEX project_name ON project (name_key);

CREATE TABLE workflow (
  id              INTEGER PRIMARY KEY,
  project_id      INTEGER NOT NULL,
  name            TEXT NOT NULL,
  name_key        TEXT NOT NULL,
  description     TEXT NOT NULL,
  published       INTEGER NOT NULL,
  latest          INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  deleted_at      INTEGER NOT NULL
);
CREATE UNIQUE INDEX workflow_name ON workflow (project_id, name_key);

CREATE TABLE workflow_version (
  workflow_id     INTEGER NOT NULL,
  version         INTEGER NOT NULL,
  text            TEXT NOT NULL,
  format          TEXT NOT NULL,
  hash            TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  created_by      TEXT NOT NULL,
  PRIMARY KEY (workflow_id, version)
) WITHOUT ROWID;

CREATE TABLE workflow_draft (
  workflow_id     INTEGER PRIMARY KEY,
  text            TEXT NOT NULL,
  format          TEXT NOT NULL,
  updated_at      INTEGER NOT NULL,
  updated_by      TEXT NOT NULL
);

CREATE TABLE workflow_layout (
  workflow_id     INTEGER PRIMARY KEY,
  layout          TEXT NOT NULL,
  updated_at      INTEGER NOT NULL
);

-- lent is 1 where the master of the slot is at its limit and any master may take the command.
-- The next in order are lent first, so a walk along command_order finds them without an index.
CREATE TABLE command (
  id              INTEGER PRIMARY KEY,
  kind            TEXT NOT NULL,
  instance_id     INTEGER NOT NULL,
  project_id      INTEGER NOT NULL,
  workflow_id     INTEGER NULL,
  schedule_time   INTEGER NULL,
  trigger_key     TEXT NULL,
  slot            INTEGER NOT NULL,
  priority        INTEGER NOT NULL,
  lent            INTEGER NOT NULL DEFAULT 0,
  created_at      INTEGER NOT NULL
);
CREATE INDEX command_order ON command (priority, id, slot);
CREATE UNIQUE INDEX command_trigger ON command (workflow_id, schedule_time, trigger_key);

CREATE TABLE control (
  id              INTEGER PRIMARY KEY,
  instance_id     INTEGER NOT NULL,
  verb            TEXT NOT NULL,
  tasks           TEXT NOT NULL,
  scope           TEXT NOT NULL,
  forced          INTEGER NOT NULL,
  requested_by    TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  applied_at      INTEGER NOT NULL,
  result          TEXT NOT NULL
);
CREATE INDEX control_instance ON control (instance_id, applied_at, id);
CREATE INDEX control_open ON control (applied_at, id);

CREATE TABLE workflow_instance (
  id              INTEGER PRIMARY KEY,
  workflow_id     INTEGER NOT NULL,
  project_id      INTEGER NOT NULL,
  version         INTEGER NOT NULL,
  state           TEXT NOT NULL,
  reason          TEXT NOT NULL,
  round           INTEGER NOT NULL,
  owner           TEXT NOT NULL,
  owner_epoch     INTEGER NOT NULL,
  crash_count     INTEGER NOT NULL,
  seq             INTEGER NOT NULL,
  write_id        INTEGER NOT NULL,
  schedule_time   INTEGER NOT NULL,
  trigger_key     TEXT NOT NULL,
  params          TEXT NOT NULL,
  start_tasks     TEXT NOT NULL,
  scope           TEXT NOT NULL,
  dry_run         INTEGER NOT NULL,
  worker_group    TEXT NOT NULL,
  priority        INTEGER NOT NULL,
  on_failure      TEXT NOT NULL,
  rerun_of        INTEGER NOT NULL,
  created_by      TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  started_at      INTEGER NOT NULL,
  finished_at     INTEGER NOT NULL,
  deadline        INTEGER NOT NULL
);
CREATE UNIQUE INDEX instance_trigger ON workflow_instance (workflow_id, schedule_time, trigger_key);
CREATE INDEX instance_state ON workflow_instance (state, created_at, id);
CREATE INDEX instance_project ON workflow_instance (project_id, state, created_at, id);
CREATE INDEX instance_workflow ON workflow_instance (workflow_id, state, created_at, id);
CREATE INDEX instance_owner ON workflow_instance (owner, id) WHERE owner <> '';

CREATE TABLE task_instance (
  instance_id     INTEGER NOT NULL,
  task_index      INTEGER NOT NULL,
  name            TEXT NOT NULL,
  type            TEXT NOT NULL,
  state           TEXT NOT NULL,
  reason          TEXT NOT NULL,
  round           INTEGER NOT NULL,
  attempts        INTEGER NOT NULL,
  retries         INTEGER NOT NULL,
  lost            INTEGER NOT NULL,
  ready_at        INTEGER NOT NULL,
  next_at         INTEGER NOT NULL,
  started_at      INTEGER NOT NULL,
  finished_at     INTEGER NOT NULL,
  outputs         TEXT NOT NULL,
  PRIMARY KEY (instance_id, task_index)
) WITHOUT ROWID;

CREATE TABLE task_attempt (
  instance_id     INTEGER NOT NULL,
  task_index      INTEGER NOT NULL,
  number          INTEGER NOT NULL,
  round           INTEGER NOT NULL,
  token           TEXT NOT NULL,
  worker          TEXT NOT NULL,
  incarnation     TEXT NOT NULL,
  state           TEXT NOT NULL,
  reason          TEXT NOT NULL,
  kill_reason     TEXT NOT NULL,
  message         TEXT NOT NULL,
  dispatched_at   INTEGER NOT NULL,
  started_at      INTEGER NOT NULL,
  finished_at     INTEGER NOT NULL,
  deadline        INTEGER NOT NULL,
  exit_code       INTEGER NOT NULL,
  tail            BLOB NOT NULL,
  log_bytes       INTEGER NOT NULL,
  outputs         TEXT NOT NULL,
  PRIMARY KEY (instance_id, task_index, number)
) WITHOUT ROWID;

CREATE TABLE event (
  instance_id     INTEGER NOT NULL,
  seq             INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  code            TEXT NOT NULL,
  task_index      INTEGER NOT NULL,
  attempt         INTEGER NOT NULL,
  round           INTEGER NOT NULL,
  state           TEXT NOT NULL,
  reason          TEXT NOT NULL,
  message         TEXT NOT NULL,
  requested_by    TEXT NOT NULL,
  warning         INTEGER NOT NULL,
  PRIMARY KEY (instance_id, seq)
) WITHOUT ROWID;

CREATE TABLE idempotency (
  user_id         INTEGER NOT NULL,
  request_key     TEXT NOT NULL,
  hash            TEXT NOT NULL,
  instance_id     INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  PRIMARY KEY (user_id, request_key)
) WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);

CREATE TABLE user (
  id              INTEGER PRIMARY KEY,
  name            TEXT NOT NULL,
  name_key        TEXT NOT NULL,
  password_hash   TEXT NOT NULL,
  admin           INTEGER NOT NULL,
  disabled        INTEGER NOT NULL,
  must_change     INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL
);
CREATE UNIQUE INDEX user_name ON user (name_key);

CREATE TABLE project_member (
  project_id      INTEGER NOT NULL,
  user_id         INTEGER NOT NULL,
  role            TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  PRIMARY KEY (project_id, user_id)
) WITHOUT ROWID;
CREATE INDEX member_user ON project_member (user_id, project_id);

CREATE TABLE token (
  id              INTEGER PRIMARY KEY,
  user_id         INTEGER NOT NULL,
  name            TEXT NOT NULL,
  hash            TEXT NOT NULL,
  role            TEXT NOT NULL,
  project_id      INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  expires_at      INTEGER NOT NULL,
  used_at         INTEGER NOT NULL
);
CREATE UNIQUE INDEX token_hash ON token (hash);
CREATE INDEX token_user ON token (user_id, id);

CREATE TABLE session (
  hash            TEXT NOT NULL PRIMARY KEY,
  user_id         INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  seen_at         INTEGER NOT NULL,
  idle_at         INTEGER NOT NULL,
  expires_at      INTEGER NOT NULL,
  address         TEXT NOT NULL,
  agent           TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX session_user ON session (user_id);
CREATE INDEX session_expiry ON session (expires_at);

CREATE TABLE sign_in_link (
  hash            TEXT NOT NULL PRIMARY KEY,
  user_id         INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  expires_at      INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE join_token (
  id              INTEGER PRIMARY KEY,
  hash            TEXT NOT NULL,
  role            TEXT NOT NULL,
  node            TEXT NOT NULL,
  created_by      TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  expires_at      INTEGER NOT NULL,
  uses_left       INTEGER NOT NULL
);
CREATE UNIQUE INDEX join_token_hash ON join_token (hash);

CREATE TABLE audit (
  id              INTEGER PRIMARY KEY,
  created_at      INTEGER NOT NULL,
  actor           TEXT NOT NULL,
  address         TEXT NOT NULL,
  action          TEXT NOT NULL,
  object          TEXT NOT NULL,
  outcome         TEXT NOT NULL,
  detail          TEXT NOT NULL,
  before_hash     TEXT NOT NULL,
  after_hash      TEXT NOT NULL
);

CREATE TABLE certificate_authority (
  one             INTEGER PRIMARY KEY,
  certificate     BLOB NOT NULL,
  sealed_key      BLOB NOT NULL,
  created_at      INTEGER NOT NULL
);
