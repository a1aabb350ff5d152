-- +goose Up

-- draft_seq is the last revision that a draft of the workflow has had, so that none comes twice;
-- draft_revision is the one that is there now, 0 for none. changed_by and changed_at are of the
-- last change to versions, publication or draft.
ALTER TABLE workflow ADD COLUMN draft_seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workflow ADD COLUMN draft_revision BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workflow ADD COLUMN changed_by VARCHAR(255) NOT NULL DEFAULT '';
ALTER TABLE workflow ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workflow_version ADD COLUMN message VARCHAR(512) NOT NULL DEFAULT '';
ALTER TABLE workflow_draft ADD COLUMN base_version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workflow_draft ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
UPDATE workflow SET draft_seq = 1, draft_revision = 1 WHERE id IN (SELECT workflow_id FROM workflow_draft);
UPDATE workflow SET changed_at = updated_at;
