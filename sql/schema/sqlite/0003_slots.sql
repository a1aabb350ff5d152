-- +goose Up

-- layout_epoch is the epoch of the layout of slots in whose name the instance was claimed last; 0 for
-- none. Nothing decides by it: who looks at the cluster from outside can tell by it whether a master
-- claimed while all had agreed to take nothing.
ALTER TABLE workflow_instance ADD COLUMN layout_epoch INTEGER NOT NULL DEFAULT 0;

-- Of equal priority, projects have their turns: so they stand apart in the order. slot and lent are
-- there so that a master walks over the commands of others without a look at their rows.
DROP INDEX command_order;
CREATE INDEX command_order ON command (priority, project_id, id, slot, lent);

-- One row for each layout of slots that was committed, the last 1000. members, excluded and steps
-- are JSON lists.
CREATE TABLE rebalance (
  epoch           INTEGER PRIMARY KEY,
  coordinator     TEXT NOT NULL,
  cause           TEXT NOT NULL,
  started_at      INTEGER NOT NULL,
  committed_at    INTEGER NOT NULL,
  restarts        INTEGER NOT NULL,
  moved           INTEGER NOT NULL,
  members         TEXT NOT NULL,
  excluded        TEXT NOT NULL,
  steps           TEXT NOT NULL
);
