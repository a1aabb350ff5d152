-- +goose Up

-- Where the dates in an instance's parameters are those of a calendar: an IANA name, '' for UTC.
ALTER TABLE workflow_instance ADD COLUMN timezone TEXT NOT NULL DEFAULT '';
