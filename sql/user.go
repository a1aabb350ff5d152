package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// User is a person who may sign in. PasswordHash is what argon2id made; "" signs nobody in.
type User struct {
	ID           int64
	Name         string
	PasswordHash string
	Admin        bool
	Disabled     bool
	MustChange   bool // the password, before anything else
	CreatedAt    dag.Millis
	UpdatedAt    dag.Millis
}

const userColumns = `id, name, password_hash, admin, disabled, must_change, created_at, updated_at`

func scanUser(scan func(...any) error) (User, error) {
	var u User
	err := scan(&u.ID, &u.Name, &u.PasswordHash, &u.Admin, &u.Disabled, &u.MustChange, &u.CreatedAt, &u.UpdatedAt)
	return u, err
}

// CreateUser makes a user and returns it with its id; ErrExists where the name is taken,
// however it is written.
func (s *Store) CreateUser(ctx context.Context, u User) (User, error) {
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return User{}, err
	}
	u.ID, u.CreatedAt = id, orNow(u.CreatedAt, s.millis())
	u.UpdatedAt = u.CreatedAt
	err = s.write(ctx, func(tx *sqlTx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO user (id, name, name_key, password_hash, admin, disabled, must_change, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, u.ID, u.Name, dag.FoldName(u.Name), u.PasswordHash, flag(u.Admin), flag(u.Disabled),
			flag(u.MustChange), u.CreatedAt, u.UpdatedAt)
		return err
	})
	if err != nil {
		return User{}, fmt.Errorf("create user %q: %w", u.Name, err)
	}
	return u, nil
}

// User returns the user of that name, however it is written, or ErrNotFound.
func (s *Store) User(ctx context.Context, name string) (User, error) {
	u, err := scanUser(s.read.QueryRowContext(ctx, `SELECT `+userColumns+` FROM user WHERE name_key = ?`, dag.FoldName(name)).Scan)
	if err != nil {
		return User{}, fmt.Errorf("read user %q: %w", name, explain(err))
	}
	return u, nil
}

// UserByID returns one user, or ErrNotFound.
func (s *Store) UserByID(ctx context.Context, id int64) (User, error) {
	u, err := scanUser(s.read.QueryRowContext(ctx, `SELECT `+userColumns+` FROM user WHERE id = ?`, id).Scan)
	if err != nil {
		return User{}, fmt.Errorf("read user %d: %w", id, explain(err))
	}
	return u, nil
}

// FirstAdmin returns the oldest admin who is not disabled, or ErrNotFound.
func (s *Store) FirstAdmin(ctx context.Context) (User, error) {
	u, err := scanUser(s.read.QueryRowContext(ctx, `SELECT `+userColumns+` FROM user WHERE admin = 1 AND disabled = 0 ORDER BY id LIMIT 1`).Scan)
	if err != nil {
		return User{}, fmt.Errorf("read the first admin: %w", explain(err))
	}
	return u, nil
}

// FinishSetUp gives a user that must change the password a name and a password of its own,
// and ends its sessions and links. Of two callers one wins; the other gets ErrStale, as does
// whoever comes later. ErrExists says that the name is another's.
func (s *Store) FinishSetUp(ctx context.Context, u User) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		err := metOne(tx.ExecContext(ctx, `UPDATE user SET name = ?, name_key = ?, password_hash = ?, must_change = 0, updated_at = ?
			WHERE id = ? AND must_change = 1`, u.Name, dag.FoldName(u.Name), u.PasswordHash, s.millis(), u.ID))
		if errors.Is(err, ErrNotFound) {
			return ErrStale
		}
		if err != nil {
			return err
		}
		return endSessions(ctx, tx, u.ID)
	})
	if err != nil {
		return fmt.Errorf("finish the set-up of user %d: %w", u.ID, err)
	}
	return nil
}

// Users returns a page of all users, by name.
func (s *Store) Users(ctx context.Context, page Page) ([]User, string, error) {
	var after nameCursor
	if err := page.decode("users", &after); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	out, err := collect(ctx, s, scanUser, `SELECT `+userColumns+` FROM user WHERE name_key > ? ORDER BY name_key LIMIT ?`, after.Name, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("read users: %w", err)
	}
	return cut(out, limit, "users", func(u User) any { return nameCursor{dag.FoldName(u.Name)} })
}

// UpdateUser writes all of user u.ID but its id and birth. Where the password or the role
// changes, or the user is disabled, its sessions end in the same transaction.
func (s *Store) UpdateUser(ctx context.Context, u User) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		old, err := scanUser(tx.QueryRowContext(ctx, `SELECT `+userColumns+` FROM user WHERE id = ?`+s.dial.forUpdate(), u.ID).Scan)
		if err != nil {
			return err
		}
		err = metOne(tx.ExecContext(ctx, `UPDATE user SET name = ?, name_key = ?, password_hash = ?, admin = ?, disabled = ?, must_change = ?,
			updated_at = ? WHERE id = ?`, u.Name, dag.FoldName(u.Name), u.PasswordHash, flag(u.Admin), flag(u.Disabled), flag(u.MustChange),
			s.millis(), u.ID))
		if err != nil || old.PasswordHash == u.PasswordHash && old.Admin == u.Admin && (old.Disabled || !u.Disabled) {
			return err
		}
		return endSessions(ctx, tx, u.ID)
	})
	if err != nil {
		return fmt.Errorf("update user %d: %w", u.ID, err)
	}
	return nil
}

// DeleteUser deletes a user with its tokens, sessions, links and roles.
func (s *Store) DeleteUser(ctx context.Context, id int64) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		if err := metOne(tx.ExecContext(ctx, `DELETE FROM user WHERE id = ?`, id)); err != nil {
			return err
		}
		for _, text := range []string{
			`DELETE FROM token WHERE user_id = ?`, `DELETE FROM project_member WHERE user_id = ?`,
		} {
			if _, err := tx.ExecContext(ctx, text, id); err != nil {
				return err
			}
		}
		return endSessions(ctx, tx, id)
	})
	if err != nil {
		return fmt.Errorf("delete user %d: %w", id, err)
	}
	return nil
}

// Member is the role of a user in a project. User is the name, joined.
type Member struct {
	ProjectID int64
	UserID    int64
	User      string
	Role      string
}

func scanMember(scan func(...any) error) (Member, error) {
	var m Member
	err := scan(&m.ProjectID, &m.UserID, &m.User, &m.Role)
	return m, err
}

const selectMember = `SELECT m.project_id, m.user_id, u.name, m.role FROM project_member m JOIN user u ON u.id = m.user_id`

// maxMembers bounds the roles that one read returns.
const maxMembers = 10000

// Members returns who has a role in a project, by user id.
func (s *Store) Members(ctx context.Context, projectID int64) ([]Member, error) {
	out, err := collect(ctx, s, scanMember, selectMember+` WHERE m.project_id = ? ORDER BY m.user_id LIMIT ?`, projectID, maxMembers)
	if err != nil {
		return nil, fmt.Errorf("read members of project %d: %w", projectID, err)
	}
	return out, nil
}

// Memberships returns the roles of a user, by project id.
func (s *Store) Memberships(ctx context.Context, userID int64) ([]Member, error) {
	out, err := collect(ctx, s, scanMember, selectMember+` WHERE m.user_id = ? ORDER BY m.project_id LIMIT ?`, userID, maxMembers)
	if err != nil {
		return nil, fmt.Errorf("read roles of user %d: %w", userID, err)
	}
	return out, nil
}

// RoleOwner is the role of which a project keeps at least one holder, once it has one.
const RoleOwner = "owner"

// keepOwner refuses, by ErrLastOwner, to take the last owner's role away. The lock on the
// project keeps two owners from leaving at the same time; the owners are read with a lock as
// well, since a plain read shows what the transaction's first read has seen, before the lock.
func (s *Store) keepOwner(ctx context.Context, tx *sqlTx, projectID, userID int64) error {
	var id int64
	if err := tx.QueryRowContext(ctx, `SELECT id FROM project WHERE id = ?`+s.dial.forUpdate(), projectID).Scan(&id); err != nil {
		return err
	}
	var owns, others int
	err := tx.QueryRowContext(ctx, `SELECT COALESCE(SUM(CASE WHEN user_id = ? THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN user_id = ? THEN 0 ELSE 1 END), 0)
		FROM project_member WHERE project_id = ? AND role = ?`+s.dial.forUpdate(), userID, userID, projectID, RoleOwner).Scan(&owns, &others)
	if err == nil && owns == 1 && others == 0 {
		err = ErrLastOwner
	}
	return err
}

// PutMember gives a user a role in a project, in place of an earlier one; ErrNotFound where
// there is no such project or user, ErrLastOwner where no owner would be left.
func (s *Store) PutMember(ctx context.Context, m Member) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		var n int
		err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM project p, user u WHERE p.id = ? AND p.deleted_at = 0 AND u.id = ?`, m.ProjectID, m.UserID).Scan(&n)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrNotFound
		}
		if m.Role != RoleOwner {
			if err := s.keepOwner(ctx, tx, m.ProjectID, m.UserID); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO project_member (project_id, user_id, role, created_at) VALUES (?, ?, ?, ?)`+
			s.dial.onConflict("project_id, user_id")+`role = `+s.dial.given("role"), m.ProjectID, m.UserID, m.Role, s.millis())
		return err
	})
	if err != nil {
		return fmt.Errorf("give user %d a role in project %d: %w", m.UserID, m.ProjectID, err)
	}
	return nil
}

// DeleteMember takes a user's role in a project away; ErrNotFound where there was none,
// ErrLastOwner where no owner would be left.
func (s *Store) DeleteMember(ctx context.Context, projectID, userID int64) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		if err := s.keepOwner(ctx, tx, projectID, userID); err != nil {
			return err
		}
		return metOne(tx.ExecContext(ctx, `DELETE FROM project_member WHERE project_id = ? AND user_id = ?`, projectID, userID))
	})
	if err != nil {
		return fmt.Errorf("take the role of user %d in project %d: %w", userID, projectID, err)
	}
	return nil
}
