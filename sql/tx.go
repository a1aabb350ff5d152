package sql

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"
)

const (
	// maxTries bounds how often a transaction that lost a lock is tried.
	maxTries = 5
	// retryPause is the mean wait before the second try; it doubles each time.
	retryPause = 4 * time.Millisecond
)

// sqlTx is the transaction that Store.write gives.
type sqlTx = sqlx.Tx

// metOne is the error of an UPDATE or DELETE that must meet a row: ErrNotFound where it met none.
func metOne(res stdsql.Result, err error) error {
	if err != nil {
		return explain(err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return explain(err)
	}
	if n == 0 {
		return ErrNotFound
	}
	return nil
}

// references lists the first column of a query, with a word before each.
func references(ctx context.Context, tx *sqlTx, word, query string, args ...any) ([]string, error) {
	var out []string
	if err := tx.SelectContext(ctx, &out, query, args...); err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = word + out[i]
	}
	return out, nil
}

// write runs f in a transaction, whole, again after a deadlock or a lost lock: f must have no
// effect but on the database. Its error is ours.
func (s *Store) write(ctx context.Context, f func(tx *sqlTx) error) error {
	var err error
	for try := range maxTries {
		if try > 0 {
			if perr := pause(ctx, try); perr != nil {
				return perr
			}
		}
		err = s.writeOnce(ctx, f)
		s.stmts.makeWanted()
		if err != nil {
			s.note(err) // a success may have been of a transaction that only reads
		}
		if !retryable(err) {
			return explain(err)
		}
	}
	return fmt.Errorf("%w: gave up after %d tries: %w", ErrUnavailable, maxTries, err)
}

func (s *Store) writeOnce(ctx context.Context, f func(tx *sqlTx) error) error {
	if s.dial.mysql { // on SQLite the one connection for writes is in use all the time
		ctx = admit(ctx, s.db)
	}
	tx, err := s.db.BeginTxx(ctx, &stdsql.TxOptions{Isolation: s.isolation()})
	if err != nil {
		return err
	}
	// After a commit it does nothing. A lock wait timeout undoes only its statement in MySQL: the whole must go. And
	// a panic of f may be survived by whoever called: its rows must not stay locked for as long as this process lives.
	defer func() { _ = tx.Rollback() }()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *Store) isolation() stdsql.IsolationLevel {
	if s.dial.mysql {
		return s.cfg.Isolation
	}
	return stdsql.LevelDefault
}

// pause waits before try number n, between half and one and a half of the mean, so that two
// that met do not meet again.
func pause(ctx context.Context, n int) error {
	mean := retryPause << (n - 1)
	t := time.NewTimer(mean/2 + rand.N(mean))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
