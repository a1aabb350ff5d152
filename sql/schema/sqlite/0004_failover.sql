-- +goose Up

-- One row per takeover by one master: of a dead master's instances, or of the attempts of a lost
-- worker. steps is a JSON list of what happened when. The newest ten thousand are kept.
CREATE TABLE failover (
  id              INTEGER PRIMARY KEY,
  kind            TEXT NOT NULL,
  node            TEXT NOT NULL,
  incarnation     TEXT NOT NULL,
  master          TEXT NOT NULL,
  cause           TEXT NOT NULL,
  detected_at     INTEGER NOT NULL,
  finished_at     INTEGER NOT NULL,
  instances       INTEGER NOT NULL,
  adopted         INTEGER NOT NULL,
  lost            INTEGER NOT NULL,
  steps           TEXT NOT NULL
);
