package sql

import (
	"context"
	stdsql "database/sql"
	"fmt"
)

// transaction is how a batch reaches its database. A statement may wait until the next query
// or the commit, and so may its error. Whoever began it ends it: by a commit that returned
// nil, or by rollback.
type transaction interface {
	// exec runs a statement, which must meet want rows unless that is anyRows.
	exec(ctx context.Context, text string, args []any, want int) error
	query(ctx context.Context, text string, args []any) (*stdsql.Rows, error)
	// commit ends it. held says that a row which it changed was locked by one of its queries.
	commit(ctx context.Context, held bool) error
	rollback()
}

// anyRows is for a statement that may meet any number of rows.
const anyRows = -1

// begin starts a transaction of the writer.
func (w *writer) begin(ctx context.Context) (transaction, error) {
	if w.s.dial.mysql {
		return beginTrips(ctx, w.s)
	}
	tx, err := w.s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &fileTx{w, tx}, nil
}

// fileTx is a transaction on SQLite: each statement runs at once, by a prepared one where there is one.
type fileTx struct {
	w  *writer
	tx *stdsql.Tx
}

func (t *fileTx) exec(ctx context.Context, text string, args []any, want int) error {
	res, err := t.w.s.stmts.exec(ctx, t.tx, text, args)
	if err != nil || want == anyRows {
		return err
	}
	met, err := res.RowsAffected()
	if err == nil && met != int64(want) {
		err = fmt.Errorf("%d of %d rows met, though they were locked", met, want)
	}
	return err
}

func (t *fileTx) query(ctx context.Context, text string, args []any) (*stdsql.Rows, error) {
	return t.w.s.stmts.query(ctx, t.tx, text, args)
}

func (t *fileTx) commit(context.Context, bool) error { return t.tx.Commit() }

func (t *fileTx) rollback() { _ = t.tx.Rollback() }
