-- +goose Up

-- generation counts how often the cluster was restored from a backup: what a worker reports of attempts
-- that an earlier generation gave it is of no use any more. While held_at is not 0 nothing is claimed,
-- dispatched or timed out; releases counts how often that has ended, since every end moves the moments
-- that instances wait for and takes the instances away from the memory of their masters.
ALTER TABLE cluster ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
ALTER TABLE cluster ADD COLUMN held_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cluster ADD COLUMN held_by TEXT NOT NULL DEFAULT '';
ALTER TABLE cluster ADD COLUMN held_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE cluster ADD COLUMN releases INTEGER NOT NULL DEFAULT 0;
