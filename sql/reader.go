package sql

import (
	"context"
	stdsql "database/sql"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// reader is the pool of reads. On SQLite it keeps the statements that come again prepared:
// parsing one costs as much as running it. On MySQL a prepared statement would cost a trip
// of its own on each connection, so there is none.
type reader struct {
	*sqlx.DB
	keep bool

	mu    sync.RWMutex
	stmts map[string]*stdsql.Stmt // nil: seen once
}

func newReader(db *sqlx.DB, keep bool) *reader {
	return &reader{DB: db, keep: keep, stmts: make(map[string]*stdsql.Stmt)}
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
	if !r.keep {
		return nil
	}
	r.mu.RLock()
	known, seen := r.stmts[text]
	r.mu.RUnlock()
	if known != nil {
		return known
	}
	r.mu.Lock()
	room := seen || len(r.stmts) < maxStatements
	if room && !seen {
		r.stmts[text] = nil
	}
	r.mu.Unlock()
	if !seen || !room {
		return nil
	}
	// Not under the lock: it waits for a connection, whose holder may want to read more. A text
	// that cannot be prepared tells its error when it runs.
	st, err := r.PrepareContext(ctx, text)
	if err != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if other := r.stmts[text]; other != nil {
		_ = st.Close() //nolint:sqlclosecheck // the one that is kept must stay open
		return other
	}
	r.stmts[text] = st
	return st
}

// Close closes the statements and the pool.
func (r *reader) Close() error {
	r.mu.Lock()
	for _, st := range r.stmts {
		if st != nil {
			_ = st.Close()
		}
	}
	clear(r.stmts)
	r.mu.Unlock()
	return r.DB.Close()
}
