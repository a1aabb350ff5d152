-- +goose Up

-- One row per takeover by one master: of a dead master's instances, or of the attempts of a lost
-- worker. steps is a JSON list of what happened when. The newest ten thousand are kept.
CREATE TABLE failover (
  id              BIGINT NOT NULL PRIMARY KEY,
  kind            VARCHAR(16) NOT NULL,
  node            VARCHAR(255) NOT NULL,
  incarnation     VARCHAR(255) NOT NULL,
  master          VARCHAR(255) NOT NULL,
  cause           VARCHAR(255) NOT NULL,
  detected_at     BIGINT NOT NULL,
  finished_at     BIGINT NOT NULL,
  instances       BIGINT NOT NULL,
  adopted         BIGINT NOT NULL,
  lost            BIGINT NOT NULL,
  steps           MEDIUMTEXT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
