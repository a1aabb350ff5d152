package sql

import (
	"context"
	"fmt"
	"strconv"

	"github.com/porpoise/porpoise/dag"
)

const (
	// MaxSecrets bounds the secrets of one project, and those of all projects.
	MaxSecrets = 200
	// resealBatch is how many secrets get another key before the next are read.
	resealBatch = 100
)

// Secret is a value that tasks of a project name instead of hold; ProjectID 0 is every project. The store never
// sees the value: Sealed is the value encrypted by the key KeyID for About.
type Secret struct {
	ProjectID   int64
	Name        string
	KeyID       string
	Sealed      []byte
	Description string
	UpdatedAt   dag.Millis
	UpdatedBy   string
}

// About is what the value is sealed for, so that a row that is moved to another project or name does not open.
func (s *Secret) About() []byte {
	return []byte("porpoise secret " + strconv.FormatInt(s.ProjectID, 10) + " " + s.Name)
}

func scanSecret(scan func(...any) error) (Secret, error) {
	var s Secret
	err := scan(&s.ProjectID, &s.Name, &s.KeyID, &s.Sealed, &s.Description, &s.UpdatedAt, &s.UpdatedBy)
	return s, err
}

const selectSecrets = `SELECT project_id, name, key_id, sealed, description, updated_at, updated_by FROM secret`

// Secrets returns the secrets of a project, by name.
func (s *Store) Secrets(ctx context.Context, projectID int64) ([]Secret, error) {
	out, err := collect(ctx, s, scanSecret, selectSecrets+` WHERE project_id = ? ORDER BY name`, projectID)
	if err != nil {
		return nil, fmt.Errorf("read secrets of project %d: %w", projectID, explain(err))
	}
	return out, nil
}

// SecretsNamed returns those of the names that a task of the project sees, by name: the project's own, and
// where it has none that of all projects.
func (s *Store) SecretsNamed(ctx context.Context, projectID int64, names []string) (map[string]Secret, error) {
	found := make(map[string]Secret, len(names))
	if len(names) == 0 {
		return found, nil
	}
	args := []any{projectID}
	for _, name := range names {
		args = append(args, name)
	}
	rows, err := collect(ctx, s, scanSecret, selectSecrets+` WHERE project_id IN (0, ?) AND name IN (`+marks(len(names))+`) ORDER BY project_id`, args...)
	if err != nil {
		return nil, fmt.Errorf("read secrets for project %d: %w", projectID, explain(err))
	}
	for _, row := range rows {
		found[row.Name] = row // the project's own comes after that of all
	}
	return found, nil
}

// PutSecret makes a secret, or gives it another value; made says which. It returns ErrNotFound where the project
// is gone, and ErrFull where it would have more than MaxSecrets.
func (s *Store) PutSecret(ctx context.Context, secret Secret) (made bool, err error) {
	secret.UpdatedAt = orNow(secret.UpdatedAt, s.millis())
	err = s.write(ctx, func(tx *sqlTx) error {
		if secret.ProjectID != 0 {
			// The project's row is the lock: its deletion must not leave a secret behind.
			if err := s.lockProject(ctx, tx, secret.ProjectID); err != nil {
				return err
			}
		}
		var others, same int
		err := tx.QueryRowContext(ctx, `SELECT COALESCE(SUM(CASE WHEN name <> ? THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN name = ? THEN 1 ELSE 0 END), 0)
			FROM secret WHERE project_id = ?`, secret.Name, secret.Name, secret.ProjectID).Scan(&others, &same)
		if err != nil {
			return err
		}
		if others >= MaxSecrets {
			return ErrFull
		}
		made = same == 0
		_, err = tx.ExecContext(ctx, `INSERT INTO secret (project_id, name, key_id, sealed, description, updated_at, updated_by) VALUES (?, ?, ?, ?, ?, ?, ?)`+
			s.dial.onConflict("project_id, name")+`key_id = `+s.dial.given("key_id")+`, sealed = `+s.dial.given("sealed")+
			`, description = `+s.dial.given("description")+`, updated_at = `+s.dial.given("updated_at")+`, updated_by = `+s.dial.given("updated_by"),
			secret.ProjectID, secret.Name, secret.KeyID, secret.Sealed, secret.Description, secret.UpdatedAt, secret.UpdatedBy)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("put secret %s of project %d: %w", secret.Name, secret.ProjectID, explain(err))
	}
	return made, nil
}

// DeleteSecret takes a secret away; ErrNotFound where there is none.
func (s *Store) DeleteSecret(ctx context.Context, projectID int64, name string) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		return metOne(tx.ExecContext(ctx, `DELETE FROM secret WHERE project_id = ? AND name = ?`, projectID, name))
	})
	if err != nil {
		return fmt.Errorf("delete secret %s of project %d: %w", name, projectID, err)
	}
	return nil
}

// ResealSecrets seals anew what another key than keyID has sealed, and returns how many secrets that were. reseal
// returns the row sealed by keyID. A secret that somebody changes meanwhile keeps what he gave it. An error leaves those
// that are done as they are now: calling it again goes on.
func (s *Store) ResealSecrets(ctx context.Context, keyID string, reseal func(Secret) (Secret, error)) (done int, err error) {
	after := Secret{ProjectID: -1}
	for {
		rows, err := collect(ctx, s, scanSecret, selectSecrets+` WHERE key_id <> ? AND (project_id > ? OR project_id = ? AND name > ?) ORDER BY project_id, name LIMIT ?`,
			keyID, after.ProjectID, after.ProjectID, after.Name, resealBatch)
		if err != nil {
			return done, fmt.Errorf("read secrets of other keys: %w", explain(err))
		}
		if len(rows) == 0 {
			return done, nil
		}
		for _, old := range rows {
			sealed, err := reseal(old)
			if err != nil {
				return done, fmt.Errorf("seal secret %s of project %d anew: %w", old.Name, old.ProjectID, err)
			}
			n, err := s.replaceSealed(ctx, old, sealed)
			if err != nil {
				return done, err
			}
			done += n
		}
		after = rows[len(rows)-1]
	}
}

// replaceSealed changes a row that is still the old one; n is 0 where it is not.
func (s *Store) replaceSealed(ctx context.Context, old, sealed Secret) (n int, err error) {
	err = s.write(ctx, func(tx *sqlTx) error {
		res, err := tx.ExecContext(ctx, `UPDATE secret SET key_id = ?, sealed = ? WHERE project_id = ? AND name = ? AND key_id = ? AND sealed = ?`,
			sealed.KeyID, sealed.Sealed, old.ProjectID, old.Name, old.KeyID, old.Sealed)
		if err != nil {
			return err
		}
		met, err := res.RowsAffected()
		n = int(met)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("store secret %s of project %d anew: %w", old.Name, old.ProjectID, explain(err))
	}
	return n, nil
}
