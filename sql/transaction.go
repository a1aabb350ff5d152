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

// maxStatements bounds the prepared statements that the writer keeps on SQLite; the texts are
// some ten for each power of two.
const maxStatements = 256

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

// fileTx is a transaction on SQLite: each statement runs at once, by the writer's prepared ones.
type fileTx struct {
	w  *writer
	tx *stdsql.Tx
}

func (t *fileTx) exec(ctx context.Context, text string, args []any, want int) error {
	var res stdsql.Result
	var err error
	if st := t.w.prepared(text); st != nil {
		res, err = t.tx.StmtContext(ctx, st).ExecContext(ctx, args...) //nolint:sqlclosecheck // the transaction's end closes it
	} else {
		res, err = t.tx.ExecContext(ctx, text, args...)
	}
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
	if st := t.w.prepared(text); st != nil {
		return t.tx.StmtContext(ctx, st).QueryContext(ctx, args...) //nolint:sqlclosecheck // the transaction's end closes it
	}
	return t.tx.QueryContext(ctx, text, args...)
}

func (t *fileTx) commit(context.Context, bool) error { return t.tx.Commit() }

func (t *fileTx) rollback() { _ = t.tx.Rollback() }

// prepared returns the statement of that text, or nil and remembers that it is wanted: see prepare.
func (w *writer) prepared(text string) *stdsql.Stmt {
	st, known := w.stmts[text]
	if !known && len(w.stmts) < maxStatements {
		w.stmts[text] = nil
	}
	return st
}

// prepare makes the statements that the last batch missed. It must not run within a
// transaction, which holds SQLite's only connection for writes.
func (w *writer) prepare() {
	for text, st := range w.stmts {
		if st != nil {
			continue
		}
		st, err := w.s.db.PrepareContext(context.Background(), text) //nolint:sqlclosecheck // see closeStatements
		if err != nil {
			delete(w.stmts, text)
			w.s.log.Warn("statement not prepared", "error", err)
			continue
		}
		w.stmts[text] = st
	}
}

func (w *writer) closeStatements() {
	for _, st := range w.stmts {
		if st != nil {
			_ = st.Close()
		}
	}
}
