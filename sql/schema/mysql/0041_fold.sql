-- +goose Up

-- Sums of days that are old are folded into one, of day 0. Fires before folded_until have no day of their own any more.
ALTER TABLE cluster ADD COLUMN folded_until BIGINT NOT NULL DEFAULT 0;
CREATE INDEX fire_day_day ON fire_day (day);
CREATE INDEX timer_day_day ON timer_day (day);

-- +goose Down
DROP INDEX timer_day_day ON timer_day;
DROP INDEX fire_day_day ON fire_day;
ALTER TABLE cluster DROP COLUMN folded_until;
