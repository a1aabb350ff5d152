package sql

import (
	"context"
	stdsql "database/sql"
	"time"

	"github.com/jmoiron/sqlx"
)

// reader is the pool of reads. On SQLite it keeps the statements that come again prepared. On MySQL a prepared
// statement would cost a trip of its own on each connection, so there is none.
type reader struct {
	*sqlx.DB
	stmts *prepared // nil on MySQL
}

// acquireWait is how long a statement waits for a connection where all are in use.
const acquireWait = 2 * time.Second

// admit waits for a free connection. Where there is none for too long it returns a context that has
// run out, so that the statement fails at once with what that means: the database is away.
func admit(ctx context.Context, db *sqlx.DB) context.Context {
	if st := db.Stats(); st.InUse < st.MaxOpenConnections {
		return ctx
	}
	wait, cancel := context.WithTimeout(ctx, acquireWait)
	defer cancel()
	if conn, err := db.Conn(wait); err == nil {
		_ = conn.Close()
		return ctx
	}
	gone, stop := context.WithDeadline(ctx, time.UnixMilli(0))
	stop()
	return gone
}

// QueryContext is sqlx's, by a prepared statement where there is one.
func (r *reader) QueryContext(ctx context.Context, text string, args ...any) (*stdsql.Rows, error) {
	ctx = admit(ctx, r.DB)
	if st := r.prepared(ctx, text); st != nil { //nolint:sqlclosecheck // kept: Close closes it
		return st.QueryContext(ctx, args...)
	}
	return r.DB.QueryContext(ctx, text, args...)
}

// QueryRowContext is sqlx's, by a prepared statement where there is one.
func (r *reader) QueryRowContext(ctx context.Context, text string, args ...any) *stdsql.Row {
	ctx = admit(ctx, r.DB)
	if st := r.prepared(ctx, text); st != nil { //nolint:sqlclosecheck // kept: Close closes it
		return st.QueryRowContext(ctx, args...)
	}
	return r.DB.QueryRowContext(ctx, text, args...)
}

// prepared returns the statement of a text that comes for the second time or later, or nil.
func (r *reader) prepared(ctx context.Context, text string) *stdsql.Stmt {
	st, again := r.stmts.get(text)
	if st == nil && again {
		st = r.stmts.make(ctx, text)
	}
	return st
}

// Close closes the statements and the pool.
func (r *reader) Close() error {
	r.stmts.close()
	return r.DB.Close()
}
