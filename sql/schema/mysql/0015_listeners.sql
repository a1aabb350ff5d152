-- +goose Up

-- A listener is told of events by calls to its url: of those of all instances of a project, or, where instance_id
-- is set, of that one alone. The latter is the reply that a start asked for; its id is the instance's. secret is
-- sealed, empty for none; filter is JSON. What is delivered in one lane shares a bound: a listener has its own,
-- replies share that of their receiver.
CREATE TABLE listener (
  id              BIGINT NOT NULL PRIMARY KEY,
  project_id      BIGINT NOT NULL,
  instance_id     BIGINT NOT NULL,
  name            VARCHAR(512) NOT NULL,
  name_key        VARBINARY(1600) NOT NULL,
  description     MEDIUMTEXT NOT NULL,
  url             MEDIUMTEXT NOT NULL,
  secret          VARBINARY(4096) NOT NULL,
  filter          MEDIUMTEXT NOT NULL,
  correlation_id  VARCHAR(255) NOT NULL,
  lane            VARCHAR(255) NOT NULL,
  enabled         BIGINT NOT NULL,
  created_by      VARCHAR(255) NOT NULL,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX listener_name ON listener (project_id, instance_id, name_key);

-- How far a listener has heard of an instance: events up to seq are delivered, or nothing to it. state: idle (it
-- has heard all), due (a master is to look at it at next_at), dead (given up). fence rises with each master that
-- takes it, wakes with each commit that brings events. since is the moment of the first of the failed attempts.
CREATE TABLE delivery (
  listener_id     BIGINT NOT NULL,
  instance_id     BIGINT NOT NULL,
  lane            VARCHAR(255) NOT NULL,
  state           VARCHAR(16) NOT NULL,
  seq             BIGINT NOT NULL,
  wakes           BIGINT NOT NULL,
  fence           BIGINT NOT NULL,
  attempts        BIGINT NOT NULL,
  next_at         BIGINT NOT NULL,
  since           BIGINT NOT NULL,
  status          BIGINT NOT NULL,
  error           MEDIUMTEXT NOT NULL,
  updated_at      BIGINT NOT NULL,
  PRIMARY KEY (listener_id, instance_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX delivery_due ON delivery (state, lane, next_at);
CREATE INDEX delivery_instance ON delivery (instance_id);

-- 1 where the instance has deliveries: a commit of any other instance looks for none.
ALTER TABLE workflow_instance ADD COLUMN listened BIGINT NOT NULL DEFAULT 0;
