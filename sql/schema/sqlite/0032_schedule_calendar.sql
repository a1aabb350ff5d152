-- +goose Up

-- Which schedules ask for which calendars, so that a change of one is about those alone. name_key is the calendar's, folded;
-- '' is of a schedule that was there before this table and asks for some: its document says which, and the next change of a
-- calendar of its project writes them down.
CREATE TABLE schedule_calendar (
  project_id      INTEGER NOT NULL,
  name_key        TEXT NOT NULL,
  schedule_id     INTEGER NOT NULL,
  PRIMARY KEY (project_id, name_key, schedule_id)
) WITHOUT ROWID;
CREATE INDEX schedule_calendar_schedule ON schedule_calendar (schedule_id);
INSERT INTO schedule_calendar (project_id, name_key, schedule_id) SELECT project_id, '', id FROM schedule WHERE spec LIKE '%"calendar"%';

-- The backfills of a project, the newest first.
CREATE INDEX backfill_project ON backfill (project_id, id);
