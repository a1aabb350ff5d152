-- +goose Up

-- complete_by is the moment by which the attempt must have moved on or shown a sign of life; 0 where it
-- is over, or waits for nothing but a moment. Its owner writes it with the attempt and extends it.
ALTER TABLE task_attempt ADD COLUMN complete_by BIGINT NOT NULL DEFAULT 0;
CREATE INDEX attempt_overdue ON task_attempt (complete_by);

-- One row. fence rises with each master that becomes the supervisor; whoever writes as the
-- supervisor compares it, so that one who slept does nothing.
CREATE TABLE supervisor (
  one             BIGINT NOT NULL PRIMARY KEY,
  fence           BIGINT NOT NULL,
  holder          VARCHAR(255) NOT NULL,
  since           BIGINT NOT NULL,
  looked_at       BIGINT NOT NULL,
  every_ms        BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO supervisor (one, fence, holder, since, looked_at, every_ms) VALUES (1, 0, '', 0, 0, 0);

-- One row per thing that got stuck and is, or was, to be recovered. step is the state of the
-- attempt that is stuck; start and command are of an instance without owner and of a command that nobody
-- takes, task_index is -1 there. state: asked (the owner has yet to answer), applied (it did, and the
-- step is watched), done (it moved on), error (given up: an operator must look). The newest ten
-- thousand are kept.
CREATE TABLE recovery (
  id              BIGINT NOT NULL PRIMARY KEY,
  instance_id     BIGINT NOT NULL,
  task_index      BIGINT NOT NULL,
  attempt         BIGINT NOT NULL,
  step            VARCHAR(32) NOT NULL,
  state           VARCHAR(32) NOT NULL,
  failures        BIGINT NOT NULL,
  give_up         BIGINT NOT NULL,
  fence           BIGINT NOT NULL,
  first_at        BIGINT NOT NULL,
  asked_at        BIGINT NOT NULL,
  complete_by     BIGINT NOT NULL,
  answered_at     BIGINT NOT NULL,
  answered_by     VARCHAR(255) NOT NULL,
  result          VARCHAR(255) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE UNIQUE INDEX recovery_step ON recovery (instance_id, task_index, attempt, step);
CREATE INDEX recovery_state ON recovery (state, id);
