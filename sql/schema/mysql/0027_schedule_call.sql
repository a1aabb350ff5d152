-- +goose Up

-- The fire of a call: call_id is what its sender calls it, '' for the fire of a moment or an end.
ALTER TABLE fire ADD COLUMN call_id VARCHAR(255) NOT NULL DEFAULT '';

-- One row per call that a schedule has taken, written with its fire, and pruned with it. It is the claim: a call that comes
-- again, by its id or by its signature, starts nothing. params are what its body gave, as JSON.
CREATE TABLE schedule_call (
  source_id       BIGINT NOT NULL,
  call_id         VARCHAR(255) NOT NULL,
  signature       VARCHAR(255) NOT NULL,
  planned_at      BIGINT NOT NULL,
  params          MEDIUMTEXT NOT NULL,
  PRIMARY KEY (source_id, call_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX schedule_call_signature ON schedule_call (source_id, signature);

-- What listeners are told beside the events of instances: deliveries have its id in the place of an instance's. subject
-- is the name of the schedule or the timer that it is about.
CREATE TABLE alert (
  id              BIGINT NOT NULL PRIMARY KEY,
  project_id      BIGINT NOT NULL,
  kind            VARCHAR(64) NOT NULL,
  workflow        VARCHAR(512) NOT NULL,
  subject         VARCHAR(512) NOT NULL,
  message         VARCHAR(1024) NOT NULL,
  requested_by    VARCHAR(255) NOT NULL,
  created_at      BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE INDEX alert_created ON alert (created_at);
