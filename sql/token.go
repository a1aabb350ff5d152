package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// Token lets a program act for a user. Hash is of its secret. Role and ProjectID, where set,
// narrow what the user may; ExpiresAt 0 is never; UsedAt is as of some minutes ago.
type Token struct {
	ID        int64
	UserID    int64
	Name      string
	Hash      string
	Role      string
	ProjectID int64
	CreatedAt dag.Millis
	ExpiresAt dag.Millis
	UsedAt    dag.Millis
}

const tokenColumns = `id, user_id, name, hash, role, project_id, created_at, expires_at, used_at`

func scanToken(scan func(...any) error) (Token, error) {
	var t Token
	err := scan(&t.ID, &t.UserID, &t.Name, &t.Hash, &t.Role, &t.ProjectID, &t.CreatedAt, &t.ExpiresAt, &t.UsedAt)
	return t, err
}

// CreateToken writes a token and returns it with its id.
func (s *Store) CreateToken(ctx context.Context, t Token) (Token, error) {
	if t.Hash == "" {
		return Token{}, fmt.Errorf("create token: %w", errNoSecret)
	}
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return Token{}, err
	}
	t.ID, t.CreatedAt = id, orNow(t.CreatedAt, s.millis())
	err = s.write(ctx, func(tx *sqlTx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO token (id, user_id, name, hash, role, project_id, created_at, expires_at, used_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, t.ID, t.UserID, t.Name, t.Hash, t.Role, t.ProjectID, t.CreatedAt, t.ExpiresAt, t.UsedAt)
		return err
	})
	if err != nil {
		return Token{}, fmt.Errorf("create token of user %d: %w", t.UserID, err)
	}
	return t, nil
}

// TokenByHash returns the token of a secret, expired or not, or ErrNotFound.
func (s *Store) TokenByHash(ctx context.Context, hash string) (Token, error) {
	t, err := scanToken(s.read.QueryRowContext(ctx, `SELECT `+tokenColumns+` FROM token WHERE hash = ?`, hash).Scan)
	if err != nil {
		return Token{}, fmt.Errorf("read token: %w", explain(err))
	}
	return t, nil
}

// TouchToken notes that a token was used; one that has gone is no error.
func (s *Store) TouchToken(ctx context.Context, id int64, used dag.Millis) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		return metOne(tx.ExecContext(ctx, `UPDATE token SET used_at = ? WHERE id = ?`, used, id))
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("touch token %d: %w", id, err)
	}
	return nil
}

// Tokens returns a page of a user's tokens, in the order in which they were made; of all
// users where userID is 0.
func (s *Store) Tokens(ctx context.Context, userID int64, page Page) ([]Token, string, error) {
	var after keyCursor
	if err := page.decode("tokens", &after); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	where, args := `user_id = ? AND id > ?`, []any{userID, after.Key, limit + 1}
	if userID == 0 {
		where, args = `id > ?`, args[1:]
	}
	out, err := collect(ctx, s, scanToken, `SELECT `+tokenColumns+` FROM token WHERE `+where+` ORDER BY id LIMIT ?`, args...)
	if err != nil {
		return nil, "", fmt.Errorf("read tokens of user %d: %w", userID, err)
	}
	return cut(out, limit, "tokens", func(t Token) any { return keyCursor{t.ID} })
}

// DeleteToken deletes a token of a user (of anybody where userID is 0), or returns ErrNotFound.
func (s *Store) DeleteToken(ctx context.Context, userID, id int64) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		return metOne(tx.ExecContext(ctx, `DELETE FROM token WHERE id = ? AND (user_id = ? OR ? = 0)`, id, userID, userID))
	})
	if err != nil {
		return fmt.Errorf("delete token %d: %w", id, err)
	}
	return nil
}

// JoinToken lets a new node get its certificate, UsesLeft times before ExpiresAt. Node, where
// set, is the only one that it serves.
type JoinToken struct {
	ID        int64
	Hash      string
	Role      string
	Node      string
	CreatedBy string
	CreatedAt dag.Millis
	ExpiresAt dag.Millis
	UsesLeft  int
}

// CreateJoinToken writes a join token and returns it with its id.
func (s *Store) CreateJoinToken(ctx context.Context, t JoinToken) (JoinToken, error) {
	if t.Hash == "" {
		return JoinToken{}, fmt.Errorf("create join token: %w", errNoSecret)
	}
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return JoinToken{}, err
	}
	t.ID, t.CreatedAt = id, orNow(t.CreatedAt, s.millis())
	err = s.write(ctx, func(tx *sqlTx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO join_token (id, hash, role, node, created_by, created_at, expires_at, uses_left)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, t.ID, t.Hash, t.Role, t.Node, t.CreatedBy, t.CreatedAt, t.ExpiresAt, t.UsesLeft)
		return err
	})
	if err != nil {
		return JoinToken{}, fmt.Errorf("create join token: %w", err)
	}
	return t, nil
}

// TakeJoinToken uses a join token once and returns it as it is after that; ErrNotFound where
// it is used up, never was, or expired by now.
func (s *Store) TakeJoinToken(ctx context.Context, hash string, now dag.Millis) (JoinToken, error) {
	var t JoinToken
	err := s.write(ctx, func(tx *sqlTx) error {
		err := metOne(tx.ExecContext(ctx, `UPDATE join_token SET uses_left = uses_left - 1 WHERE hash = ? AND uses_left > 0 AND expires_at > ?`, hash, now))
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT id, hash, role, node, created_by, created_at, expires_at, uses_left FROM join_token WHERE hash = ?`, hash).
			Scan(&t.ID, &t.Hash, &t.Role, &t.Node, &t.CreatedBy, &t.CreatedAt, &t.ExpiresAt, &t.UsesLeft)
	})
	if err != nil {
		return JoinToken{}, fmt.Errorf("take join token: %w", err)
	}
	return t, nil
}
