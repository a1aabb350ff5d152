-- +goose Up

-- A listener is told of events by calls to its url: of those of all instances of a project, or, where instance_id
-- is set, of that one alone. The latter is the reply that a start asked for; its id is the instance's. secret is
-- sealed, empty for none; filter is JSON. What is delivered in one lane shares a bound: a listener has its own,
-- replies share that of their receiver.
CREATE TABLE listener (
  id              INTEGER PRIMARY KEY,
  project_id      INTEGER NOT NULL,
  instance_id     INTEGER NOT NULL,
  name            TEXT NOT NULL,
  name_key        TEXT NOT NULL,
  description     TEXT NOT NULL,
  url             TEXT NOT NULL,
  secret          BLOB NOT NULL,
  filter          TEXT NOT NULL,
  correlation_id  TEXT NOT NULL,
  lane            TEXT NOT NULL,
  enabled         INTEGER NOT NULL,
  created_by      TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL
);
CREATE UNIQUE INDEX listener_name ON listener (project_id, instance_id, name_key);

-- How far a listener has heard of an instance: events up to seq are delivered, or nothing to it. state: idle (it
-- has heard all), due (a master is to look at it at next_at), dead (given up). fence rises with each master that
-- takes it, wakes with each commit that brings events. since is the moment of the first of the failed attempts.
CREATE TABLE delivery (
  listener_id     INTEGER NOT NULL,
  instance_id     INTEGER NOT NULL,
  lane            TEXT NOT NULL,
  state           TEXT NOT NULL,
  seq             INTEGER NOT NULL,
  wakes           INTEGER NOT NULL,
  fence           INTEGER NOT NULL,
  attempts        INTEGER NOT NULL,
  next_at         INTEGER NOT NULL,
  since           INTEGER NOT NULL,
  status          INTEGER NOT NULL,
  error           TEXT NOT NULL,
  updated_at      INTEGER NOT NULL,
  PRIMARY KEY (listener_id, instance_id)
) WITHOUT ROWID;
CREATE INDEX delivery_due ON delivery (state, lane, next_at);
CREATE INDEX delivery_instance ON delivery (instance_id);

-- 1 where the instance has deliveries: a commit of any other instance looks for none.
ALTER TABLE workflow_instance ADD COLUMN listened INTEGER NOT NULL DEFAULT 0;
