-- +goose Up

-- A child instance was made for an attempt of a sub_workflow task of its parent; parent_attempt is the attempt
-- that waits for it, which a recovery moves. depth is 0 for an instance without parent.
ALTER TABLE workflow_instance ADD COLUMN parent_instance_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workflow_instance ADD COLUMN parent_task VARCHAR(512) NOT NULL DEFAULT '';
ALTER TABLE workflow_instance ADD COLUMN parent_attempt BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workflow_instance ADD COLUMN depth BIGINT NOT NULL DEFAULT 0;
CREATE INDEX instance_parent ON workflow_instance (parent_instance_id, id);

-- child_id is the instance that the attempt, or the latest one of the task, waits or waited for; 0 for none.
ALTER TABLE task_instance ADD COLUMN child_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE task_attempt ADD COLUMN child_id BIGINT NOT NULL DEFAULT 0;

-- A row with the verb child_ended is no wish: it tells a parent that the child of an attempt has ended.
ALTER TABLE control ADD COLUMN attempt BIGINT NOT NULL DEFAULT 0;
ALTER TABLE control ADD COLUMN child_id BIGINT NOT NULL DEFAULT 0;
