package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// Session is a signed-in browser. Hash is of the cookie's secret, which the store never sees.
// It ends at IdleAt, which each use moves on, and at ExpiresAt, which stays.
type Session struct {
	Hash      string
	UserID    int64
	CreatedAt dag.Millis
	SeenAt    dag.Millis
	IdleAt    dag.Millis
	ExpiresAt dag.Millis
	Address   string
	Agent     string
}

// SignInLink signs a user in once, without a password, before ExpiresAt.
type SignInLink struct {
	Hash      string
	UserID    int64
	CreatedAt dag.Millis
	ExpiresAt dag.Millis
}

// purgeBatch bounds the expired rows that a new one of their kind takes away with it.
const purgeBatch = 100

// CreateSession writes a session, and deletes some that have expired.
func (s *Store) CreateSession(ctx context.Context, n Session) error {
	if n.Hash == "" {
		return fmt.Errorf("create session: %w", errNoSecret)
	}
	n.CreatedAt = orNow(n.CreatedAt, s.millis())
	n.SeenAt = orNow(n.SeenAt, n.CreatedAt)
	err := s.write(ctx, func(tx *sqlTx) error {
		if err := s.purge(ctx, tx, "session", "hash", "expires_at", n.CreatedAt); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO session (hash, user_id, created_at, seen_at, idle_at, expires_at, address, agent)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, n.Hash, n.UserID, n.CreatedAt, n.SeenAt, n.IdleAt, n.ExpiresAt, n.Address, n.Agent)
		return err
	})
	if err != nil {
		return fmt.Errorf("create session of user %d: %w", n.UserID, err)
	}
	return nil
}

// purge deletes up to purgeBatch rows whose time has passed. The subquery within a subquery is
// for MySQL, which deletes from no table that it reads.
func (s *Store) purge(ctx context.Context, tx *sqlTx, table, key, column string, now dag.Millis) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`DELETE FROM %s WHERE %s IN (SELECT k FROM (SELECT %s AS k FROM %s WHERE %s < ? LIMIT %d) AS old)`,
		table, key, key, table, column, purgeBatch), now)
	return err
}

// Session returns a session, ended or not, or ErrNotFound.
func (s *Store) Session(ctx context.Context, hash string) (Session, error) {
	n, err := scanSession(s.read.QueryRowContext(ctx, `SELECT `+sessionColumns+` FROM session WHERE hash = ?`, hash).Scan)
	if err != nil {
		return Session{}, fmt.Errorf("read session: %w", explain(err))
	}
	return n, nil
}

const sessionColumns = `hash, user_id, created_at, seen_at, idle_at, expires_at, address, agent`

func scanSession(scan func(...any) error) (Session, error) {
	var n Session
	err := scan(&n.Hash, &n.UserID, &n.CreatedAt, &n.SeenAt, &n.IdleAt, &n.ExpiresAt, &n.Address, &n.Agent)
	return n, err
}

// maxSessions bounds the sessions that one read returns.
const maxSessions = 200

// Sessions returns the sessions of a user that have not ended by now, the last used first.
func (s *Store) Sessions(ctx context.Context, userID int64, now dag.Millis) ([]Session, error) {
	out, err := collect(ctx, s, scanSession, `SELECT `+sessionColumns+` FROM session WHERE user_id = ? AND idle_at > ? AND expires_at > ?
		ORDER BY seen_at DESC, hash LIMIT ?`, userID, now, now, maxSessions)
	if err != nil {
		return nil, fmt.Errorf("read sessions of user %d: %w", userID, err)
	}
	return out, nil
}

// TouchSession says that a session was used at seen and may now idle until idle; ErrNotFound
// where it has gone.
func (s *Store) TouchSession(ctx context.Context, hash string, seen, idle dag.Millis) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		return metOne(tx.ExecContext(ctx, `UPDATE session SET seen_at = ?, idle_at = ? WHERE hash = ?`, seen, idle, hash))
	})
	if err != nil {
		return fmt.Errorf("touch session: %w", err)
	}
	return nil
}

// DeleteSession ends one session; one that has gone is no error.
func (s *Store) DeleteSession(ctx context.Context, hash string) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM session WHERE hash = ?`, hash)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete session: %w", err)
	}
	return nil
}

// DeleteSessions ends all sessions of a user, and its sign-in links.
func (s *Store) DeleteSessions(ctx context.Context, userID int64) error {
	err := s.write(ctx, func(tx *sqlTx) error { return endSessions(ctx, tx, userID) })
	if err != nil {
		return fmt.Errorf("delete sessions of user %d: %w", userID, err)
	}
	return nil
}

func endSessions(ctx context.Context, tx *sqlTx, userID int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM session WHERE user_id = ?`, userID); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM sign_in_link WHERE user_id = ?`, userID)
	return err
}

// CreateSignInLink writes a link.
func (s *Store) CreateSignInLink(ctx context.Context, l SignInLink) error {
	if l.Hash == "" {
		return fmt.Errorf("create sign-in link: %w", errNoSecret)
	}
	l.CreatedAt = orNow(l.CreatedAt, s.millis())
	err := s.write(ctx, func(tx *sqlTx) error {
		if err := s.purge(ctx, tx, "sign_in_link", "hash", "expires_at", l.CreatedAt); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO sign_in_link (hash, user_id, created_at, expires_at) VALUES (?, ?, ?, ?)`,
			l.Hash, l.UserID, l.CreatedAt, l.ExpiresAt)
		return err
	})
	if err != nil {
		return fmt.Errorf("create sign-in link of user %d: %w", l.UserID, err)
	}
	return nil
}

// TakeSignInLink deletes a link and returns it, to one caller only; ErrNotFound where it was
// taken, never was, or expired by now.
func (s *Store) TakeSignInLink(ctx context.Context, hash string, now dag.Millis) (SignInLink, error) {
	var l SignInLink
	err := s.write(ctx, func(tx *sqlTx) error {
		err := tx.QueryRowContext(ctx, `SELECT hash, user_id, created_at, expires_at FROM sign_in_link WHERE hash = ?`+s.dial.forUpdate(), hash).
			Scan(&l.Hash, &l.UserID, &l.CreatedAt, &l.ExpiresAt)
		if err != nil {
			return err
		}
		return metOne(tx.ExecContext(ctx, `DELETE FROM sign_in_link WHERE hash = ?`, hash))
	})
	if err == nil && l.ExpiresAt <= now {
		err = ErrNotFound
	}
	if err != nil {
		return SignInLink{}, fmt.Errorf("take sign-in link: %w", err)
	}
	return l, nil
}
