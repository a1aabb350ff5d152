-- +goose Up

-- From which revision of a schedule on open fires are good: a change leaves what was due before it, a pause does not.
ALTER TABLE schedule ADD COLUMN fires_from BIGINT NOT NULL DEFAULT 0;
UPDATE schedule SET fires_from = revision;

-- +goose Down
ALTER TABLE schedule DROP COLUMN fires_from;
