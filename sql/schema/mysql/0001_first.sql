-- Times are UTC milliseconds; 0 means none. Ids come from id_block. States are words of the documents.
-- +goose Up

-- One row, made at the cluster's birth. layout_floor is the lowest epoch that the next layout of slots
-- may have: each layout raises it before it is proposed, so that a registry that was wiped starts
-- above what masters have seen.
CREATE TABLE cluster (
  one             BIGINT NOT NULL PRIMARY KEY,
  id              VARCHAR(64) NOT NULL,
  slots           BIGINT NOT NULL,
  layout_floor    BIGINT NOT NULL,
  created_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE id_block (
  name            VARBINARY(64) NOT NULL PRIMARY KEY,
  next_id         BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE project (
  id              BIGINT NOT NULL PRIMARY KEY,
  name            VARCHAR(512) NOT NULL,
  name_key        VARBINARY(1600) NOT NULL,
  description     MEDIUMTEXT NOT NULL,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL,
  deleted_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX project_name ON project (name_key);

CREATE TABLE workflow (
  id              BIGINT NOT NULL PRIMARY KEY,
  project_id      BIGINT NOT NULL,
  name            VARCHAR(512) NOT NULL,
  name_key        VARBINARY(1600) NOT NULL,
  description     MEDIUMTEXT NOT NULL,
  published       BIGINT NOT NULL,
  latest          BIGINT NOT NULL,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL,
  deleted_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX workflow_name ON workflow (project_id, name_key);

CREATE TABLE workflow_version (
  workflow_id     BIGINT NOT NULL,
  version         BIGINT NOT NULL,
  text            MEDIUMTEXT NOT NULL,
  format          VARCHAR(16) NOT NULL,
  hash            VARCHAR(64) NOT NULL,
  created_at      BIGINT NOT NULL,
  created_by      VARCHAR(255) NOT NULL,
  PRIMARY KEY (workflow_id, version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE workflow_draft (
  workflow_id     BIGINT NOT NULL PRIMARY KEY,
  text            MEDIUMTEXT NOT NULL,
  format          VARCHAR(16) NOT NULL,
  updated_at      BIGINT NOT NULL,
  updated_by      VARCHAR(255) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE workflow_layout (
  workflow_id     BIGINT NOT NULL PRIMARY KEY,
  layout          MEDIUMTEXT NOT NULL,
  updated_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- lent is 1 where the master of the slot is at its limit and any master may take the command.
-- The next in order are lent first, so a walk along command_order finds them without an index.
CREATE TABLE command (
  id              BIGINT NOT NULL PRIMARY KEY,
  kind            VARCHAR(16) NOT NULL,
  instance_id     BIGINT NOT NULL,
  project_id      BIGINT NOT NULL,
  workflow_id     BIGINT NULL,
  schedule_time   BIGINT NULL,
  trigger_key     VARBINARY(255) NULL,
  slot            BIGINT NOT NULL,
  priority        BIGINT NOT NULL,
  lent            BIGINT NOT NULL DEFAULT 0,
  created_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX command_order ON command (priority, id, slot);
CREATE UNIQUE INDEX command_trigger ON command (workflow_id, schedule_time, trigger_key);

CREATE TABLE control (
  id              BIGINT NOT NULL PRIMARY KEY,
  instance_id     BIGINT NOT NULL,
  verb            VARCHAR(32) NOT NULL,
  tasks           MEDIUMTEXT NOT NULL,
  scope           VARCHAR(16) NOT NULL,
  forced          BIGINT NOT NULL,
  requested_by    VARCHAR(255) NOT NULL,
  created_at      BIGINT NOT NULL,
  applied_at      BIGINT NOT NULL,
  result          VARCHAR(255) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX control_instance ON control (instance_id, applied_at, id);
CREATE INDEX control_open ON control (applied_at, id);

CREATE TABLE workflow_instance (
  id              BIGINT NOT NULL PRIMARY KEY,
  workflow_id     BIGINT NOT NULL,
  project_id      BIGINT NOT NULL,
  version         BIGINT NOT NULL,
  state           VARCHAR(32) NOT NULL,
  reason          VARCHAR(64) NOT NULL,
  round           BIGINT NOT NULL,
  owner           VARCHAR(255) NOT NULL,
  owner_epoch     BIGINT NOT NULL,
  crash_count     BIGINT NOT NULL,
  seq             BIGINT NOT NULL,
  write_id        BIGINT NOT NULL,
  schedule_time   BIGINT NOT NULL,
  trigger_key     VARBINARY(255) NOT NULL,
  params          MEDIUMTEXT NOT NULL,
  start_tasks     MEDIUMTEXT NOT NULL,
  scope           VARCHAR(16) NOT NULL,
  dry_run         BIGINT NOT NULL,
  worker_group    VARCHAR(512) NOT NULL,
  priority        BIGINT NOT NULL,
  on_failure      VARCHAR(16) NOT NULL,
  rerun_of        BIGINT NOT NULL,
  created_by      VARCHAR(255) NOT NULL,
  created_at      BIGINT NOT NULL,
  started_at      BIGINT NOT NULL,
  finished_at     BIGINT NOT NULL,
  deadline        BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX instance_trigger ON workflow_instance (workflow_id, schedule_time, trigger_key);
CREATE INDEX instance_state ON workflow_instance (state, created_at, id);
CREATE INDEX instance_project ON workflow_instance (project_id, state, created_at, id);
CREATE INDEX instance_workflow ON workflow_instance (workflow_id, state, created_at, id);
CREATE INDEX instance_owner ON workflow_instance (owner, id);

CREATE TABLE task_instance (
  instance_id     BIGINT NOT NULL,
  task_index      BIGINT NOT NULL,
  name            VARCHAR(512) NOT NULL,
  type            VARCHAR(64) NOT NULL,
  state           VARCHAR(32) NOT NULL,
  reason          VARCHAR(64) NOT NULL,
  round           BIGINT NOT NULL,
  attempts        BIGINT NOT NULL,
  retries         BIGINT NOT NULL,
  lost            BIGINT NOT NULL,
  ready_at        BIGINT NOT NULL,
  next_at         BIGINT NOT NULL,
  started_at      BIGINT NOT NULL,
  finished_at     BIGINT NOT NULL,
  outputs         MEDIUMTEXT NOT NULL,
  PRIMARY KEY (instance_id, task_index)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE task_attempt (
  instance_id     BIGINT NOT NULL,
  task_index      BIGINT NOT NULL,
  number          BIGINT NOT NULL,
  round           BIGINT NOT NULL,
  token           VARCHAR(255) NOT NULL,
  worker          VARCHAR(255) NOT NULL,
  incarnation     VARCHAR(255) NOT NULL,
  state           VARCHAR(32) NOT NULL,
  reason          VARCHAR(64) NOT NULL,
  kill_reason     VARCHAR(64) NOT NULL,
  message         MEDIUMTEXT NOT NULL,
  dispatched_at   BIGINT NOT NULL,
  started_at      BIGINT NOT NULL,
  finished_at     BIGINT NOT NULL,
  deadline        BIGINT NOT NULL,
  exit_code       BIGINT NOT NULL,
  tail            MEDIUMBLOB NOT NULL,
  log_bytes       BIGINT NOT NULL,
  outputs         MEDIUMTEXT NOT NULL,
  PRIMARY KEY (instance_id, task_index, number)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE event (
  instance_id     BIGINT NOT NULL,
  seq             BIGINT NOT NULL,
  created_at      BIGINT NOT NULL,
  code            VARCHAR(64) NOT NULL,
  task_index      BIGINT NOT NULL,
  attempt         BIGINT NOT NULL,
  round           BIGINT NOT NULL,
  state           VARCHAR(32) NOT NULL,
  reason          VARCHAR(64) NOT NULL,
  message         MEDIUMTEXT NOT NULL,
  requested_by    VARCHAR(255) NOT NULL,
  warning         BIGINT NOT NULL,
  PRIMARY KEY (instance_id, seq)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE idempotency (
  user_id         BIGINT NOT NULL,
  request_key     VARBINARY(255) NOT NULL,
  hash            VARCHAR(128) NOT NULL,
  instance_id     BIGINT NOT NULL,
  created_at      BIGINT NOT NULL,
  PRIMARY KEY (user_id, request_key)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX idempotency_age ON idempotency (created_at);

CREATE TABLE user (
  id              BIGINT NOT NULL PRIMARY KEY,
  name            VARCHAR(512) NOT NULL,
  name_key        VARBINARY(1600) NOT NULL,
  password_hash   VARCHAR(255) NOT NULL,
  admin           BIGINT NOT NULL,
  disabled        BIGINT NOT NULL,
  must_change     BIGINT NOT NULL,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX user_name ON user (name_key);

CREATE TABLE project_member (
  project_id      BIGINT NOT NULL,
  user_id         BIGINT NOT NULL,
  role            VARCHAR(32) NOT NULL,
  created_at      BIGINT NOT NULL,
  PRIMARY KEY (project_id, user_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX member_user ON project_member (user_id, project_id);

CREATE TABLE token (
  id              BIGINT NOT NULL PRIMARY KEY,
  user_id         BIGINT NOT NULL,
  name            VARCHAR(512) NOT NULL,
  hash            VARBINARY(64) NOT NULL,
  role            VARCHAR(32) NOT NULL,
  project_id      BIGINT NOT NULL,
  created_at      BIGINT NOT NULL,
  expires_at      BIGINT NOT NULL,
  used_at         BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX token_hash ON token (hash);
CREATE INDEX token_user ON token (user_id, id);

CREATE TABLE session (
  hash            VARBINARY(64) NOT NULL PRIMARY KEY,
  user_id         BIGINT NOT NULL,
  created_at      BIGINT NOT NULL,
  seen_at         BIGINT NOT NULL,
  idle_at         BIGINT NOT NULL,
  expires_at      BIGINT NOT NULL,
  address         VARCHAR(255) NOT NULL,
  agent           VARCHAR(512) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX session_user ON session (user_id);
CREATE INDEX session_expiry ON session (expires_at);

CREATE TABLE sign_in_link (
  hash            VARBINARY(64) NOT NULL PRIMARY KEY,
  user_id         BIGINT NOT NULL,
  created_at      BIGINT NOT NULL,
  expires_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE join_token (
  id              BIGINT NOT NULL PRIMARY KEY,
  hash            VARBINARY(64) NOT NULL,
  role            VARCHAR(32) NOT NULL,
  node            VARCHAR(255) NOT NULL,
  created_by      VARCHAR(255) NOT NULL,
  created_at      BIGINT NOT NULL,
  expires_at      BIGINT NOT NULL,
  uses_left       BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX join_token_hash ON join_token (hash);

CREATE TABLE audit (
  id              BIGINT NOT NULL PRIMARY KEY,
  created_at      BIGINT NOT NULL,
  actor           VARCHAR(255) NOT NULL,
  address         VARCHAR(255) NOT NULL,
  action          VARCHAR(64) NOT NULL,
  object          VARCHAR(1024) NOT NULL,
  outcome         VARCHAR(32) NOT NULL,
  detail          MEDIUMTEXT NOT NULL,
  before_hash     VARCHAR(64) NOT NULL,
  after_hash      VARCHAR(64) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE certificate_authority (
  one             BIGINT NOT NULL PRIMARY KEY,
  certificate     MEDIUMBLOB NOT NULL,
  sealed_key      MEDIUMBLOB NOT NULL,
  created_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
