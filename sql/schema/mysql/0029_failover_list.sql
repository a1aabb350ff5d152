-- +goose Up

-- Takeovers are listed by the time at which they were seen, also once a second for who watches the cluster.
CREATE INDEX failover_detected ON failover (detected_at, id);
