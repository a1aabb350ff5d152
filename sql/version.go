package sql

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/porpoise/porpoise/dag"
)

// SaveVersion is a definition to be saved as the next version of a workflow.
type SaveVersion struct {
	ProjectID   int64
	Name        string
	Description string
	Text        string
	Format      string
	By          string
	// IfMatch is the latest version that the author has seen; nil creates a workflow and
	// nothing else; AnyVersion overwrites on purpose.
	IfMatch *int
	Publish bool
	// Message says why the version is saved, in the author's words.
	Message string
	// Draft is the revision of the draft that the text comes from: that draft, if it is
	// still the one, goes as the version comes. 0 is none.
	Draft int64

	concurrency dag.Concurrency // what the text says of it
}

// AnyVersion is the IfMatch that fits whatever there is, also nothing.
const AnyVersion = -1

// SaveVersion saves a definition, which must be valid, and returns its workflow and version;
// created says that the workflow is new. The text of the latest version makes no new one, but
// may be published. It returns ErrExists where IfMatch is nil and a version is there, ErrStale
// where IfMatch is not the latest version, ErrNotFound where it is one of no workflow.
func (s *Store) SaveVersion(ctx context.Context, v SaveVersion) (w Workflow, saved Version, created bool, err error) {
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return Workflow{}, Version{}, false, err
	}
	sum := sha256.Sum256([]byte(v.Text))
	v.concurrency = dag.ReadConcurrency([]byte(v.Text), v.Format)
	err = s.write(ctx, func(tx *sqlTx) error {
		saved = Version{Text: v.Text, Format: v.Format, Hash: hex.EncodeToString(sum[:]), CreatedAt: s.millis(), CreatedBy: v.By, Message: v.Message}
		if w, created, err = s.workflowToSave(ctx, tx, v, id); err != nil {
			return err
		}
		saved.WorkflowID = w.ID
		if err := s.putVersion(ctx, tx, v, &w, &saved); err != nil {
			return err
		}
		return s.dropDraft(ctx, tx, v, &w)
	})
	if err != nil {
		return Workflow{}, Version{}, false, fmt.Errorf("save workflow %q: %w", v.Name, err)
	}
	return w, saved, created, nil
}

// workflowToSave locks the workflow and compares it with IfMatch, or makes it with the given id.
func (s *Store) workflowToSave(ctx context.Context, tx *sqlTx, v SaveVersion, id int64) (Workflow, bool, error) {
	w, created, err := s.lockOrMake(ctx, tx, v.ProjectID, v.Name, v.Description, id)
	switch {
	case err != nil:
		return w, false, err
	case created && v.IfMatch != nil && *v.IfMatch != AnyVersion:
		return w, false, ErrNotFound // which undoes the making, too
	case v.IfMatch == nil && w.Latest > 0:
		return w, false, ErrExists
	case v.IfMatch != nil && *v.IfMatch != AnyVersion && *v.IfMatch != w.Latest:
		return w, false, fmt.Errorf("%w: the latest version is %d", ErrStale, w.Latest)
	}
	return w, created, nil
}

// lockOrMake locks the workflow of a name, or makes it, without any version, with the given id.
func (s *Store) lockOrMake(ctx context.Context, tx *sqlTx, projectID int64, name, description string, id int64) (w Workflow, made bool, err error) {
	var project string
	// The lock on the project keeps two first saves of one name, and a delete of the project, apart.
	err = tx.QueryRowContext(ctx, `SELECT name FROM project WHERE id = ? AND deleted_at = 0`+s.dial.forUpdate(), projectID).Scan(&project)
	if err != nil {
		return Workflow{}, false, err
	}
	w, err = scanWorkflow(tx.QueryRowContext(ctx, selectWorkflow+` WHERE w.project_id = ? AND w.name_key = ? AND w.deleted_at = 0`+s.dial.forUpdate(),
		projectID, dag.FoldName(name)).Scan)
	if err == nil || !errors.Is(explain(err), ErrNotFound) {
		return w, false, err
	}
	now := s.millis()
	w = Workflow{ID: id, ProjectID: projectID, Project: project, Name: name, Description: description, CreatedAt: now, UpdatedAt: now, ChangedAt: now}
	_, err = tx.ExecContext(ctx, `INSERT INTO workflow (id, project_id, name, name_key, description, published, latest, created_at, updated_at, deleted_at)
		VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, 0)`, w.ID, w.ProjectID, w.Name, dag.FoldName(w.Name), w.Description, now, now)
	return w, true, err
}

// dropDraft removes the draft that the version came from, unless it has moved on.
func (s *Store) dropDraft(ctx context.Context, tx *sqlTx, v SaveVersion, w *Workflow) error {
	if v.Draft == 0 || v.Draft != w.DraftRevision {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM workflow_draft WHERE workflow_id = ? AND revision = ?`, w.ID, v.Draft); err != nil {
		return err
	}
	w.DraftRevision, w.ChangedBy, w.ChangedAt = 0, v.By, s.millis()
	return metOne(tx.ExecContext(ctx, `UPDATE workflow SET draft_revision = 0, changed_by = ?, changed_at = ? WHERE id = ?`, w.ChangedBy, w.ChangedAt, w.ID))
}

// putVersion adds the version unless the latest has the same text, and publishes it if asked.
func (s *Store) putVersion(ctx context.Context, tx *sqlTx, v SaveVersion, w *Workflow, saved *Version) error {
	if w.Latest > 0 {
		last, err := scanVersion(tx.QueryRowContext(ctx, `SELECT `+versionColumns+` FROM workflow_version WHERE workflow_id = ? AND version = ?`,
			w.ID, w.Latest).Scan)
		if err != nil {
			return err
		}
		if last.Hash == saved.Hash && last.Format == saved.Format {
			*saved = last
			if !v.Publish || w.Published == last.Version {
				return nil
			}
		}
	}
	if saved.Version == 0 {
		saved.Version = w.Latest + 1
		_, err := tx.ExecContext(ctx, `INSERT INTO workflow_version (workflow_id, version, text, format, hash, created_at, created_by, message)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, w.ID, saved.Version, saved.Text, saved.Format, saved.Hash, saved.CreatedAt, saved.CreatedBy, saved.Message)
		if err != nil {
			return err
		}
		w.Name, w.Description = v.Name, v.Description
	}
	w.Latest = saved.Version
	if v.Publish {
		w.Published = saved.Version
	}
	w.UpdatedAt = s.millis()
	w.ChangedBy, w.ChangedAt = v.By, w.UpdatedAt
	if v.Publish {
		if err := s.publishLimit(ctx, tx, w.ID, v.concurrency); err != nil {
			return err
		}
	}
	return metOne(tx.ExecContext(ctx, `UPDATE workflow SET name = ?, description = ?, published = ?, latest = ?, updated_at = ?, changed_by = ?, changed_at = ? WHERE id = ?`,
		w.Name, w.Description, w.Published, w.Latest, w.UpdatedAt, w.ChangedBy, w.ChangedAt, w.ID))
}

const versionColumns = `workflow_id, version, text, format, hash, created_at, created_by, message`

func scanVersion(scan func(...any) error) (Version, error) {
	var v Version
	err := scan(&v.WorkflowID, &v.Version, &v.Text, &v.Format, &v.Hash, &v.CreatedAt, &v.CreatedBy, &v.Message)
	return v, err
}

// Version returns one version of a workflow, also of a deleted one, or ErrNotFound.
func (s *Store) Version(ctx context.Context, workflowID int64, n int) (Version, error) {
	key := versionKey{workflowID, n}
	if v, ok := s.versions.get(key); ok {
		return v, nil
	}
	v, err := scanVersion(s.read.QueryRowContext(ctx, `SELECT `+versionColumns+` FROM workflow_version WHERE workflow_id = ? AND version = ?`,
		workflowID, n).Scan)
	if err != nil {
		return Version{}, fmt.Errorf("read version %d of workflow %d: %w", n, workflowID, explain(err))
	}
	s.versions.put(key, v)
	return v, nil
}

// Versions returns a page of a workflow's versions, the latest first, without their texts.
func (s *Store) Versions(ctx context.Context, workflowID int64, page Page) ([]Version, string, error) {
	before := keyCursor{1 << 31}
	if err := page.decode("versions", &before); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	out, err := collect(ctx, s, scanVersion, `SELECT workflow_id, version, '', format, hash, created_at, created_by, message FROM workflow_version
		WHERE workflow_id = ? AND version < ? ORDER BY version DESC LIMIT ?`, workflowID, before.Key, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("read versions of workflow %d: %w", workflowID, err)
	}
	return cut(out, limit, "versions", func(v Version) any { return keyCursor{int64(v.Version)} })
}

type versionKey struct {
	workflow int64
	version  int
}

// maxVersions and maxVersionBytes bound the cache of versions: starts repeat the same few.
const (
	maxVersions     = 256
	maxVersionBytes = 16 << 20
)

// versionCache keeps versions, which never change. When it is full, it forgets all: what is in
// use is back at once.
type versionCache struct {
	mu    sync.Mutex
	kept  map[versionKey]Version
	bytes int
}

func newVersionCache() *versionCache { return &versionCache{kept: map[versionKey]Version{}} }

func (c *versionCache) get(k versionKey) (Version, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.kept[k]
	return v, ok
}

func (c *versionCache) put(k versionKey, v Version) {
	if len(v.Text) > maxVersionBytes/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) >= maxVersions || c.bytes+len(v.Text) > maxVersionBytes {
		clear(c.kept)
		c.bytes = 0
	}
	if _, known := c.kept[k]; !known {
		c.bytes += len(v.Text)
	}
	c.kept[k] = v
}
