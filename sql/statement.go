package sql

import (
	"context"
	stdsql "database/sql"
)

// maxStatements bounds the prepared statements that the writer keeps on SQLite; the texts are
// some ten for each power of two.
const maxStatements = 256

// prepare makes the statements that the last batch missed. It must not run within a
// transaction, which holds SQLite's only connection for writes.
func (w *writer) prepare() {
	for text, st := range w.stmts {
		if st != nil {
			continue
		}
		st, err := w.s.db.PrepareContext(context.Background(), text) //nolint:sqlclosecheck // kept: closeStatements closes it
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

// exec runs one statement of a batch, prepared where the database is SQLite.
func (w *writer) exec(ctx context.Context, tx *stdsql.Tx, text string, args []any) (stdsql.Result, error) {
	if w.s.dial.mysql {
		return tx.ExecContext(ctx, text, args...)
	}
	st, known := w.stmts[text]
	if st != nil {
		return tx.StmtContext(ctx, st).ExecContext(ctx, args...) //nolint:sqlclosecheck // the end of tx closes it
	}
	if !known && len(w.stmts) < maxStatements {
		w.stmts[text] = nil // wanted: see prepare
	}
	return tx.ExecContext(ctx, text, args...)
}

// query runs one SELECT of a batch, prepared where the database is SQLite.
func (b *batch) query(ctx context.Context, text string, args []any) (*stdsql.Rows, error) {
	if st := b.w.stmts[text]; st != nil {
		return b.tx.StmtContext(ctx, st).QueryContext(ctx, args...) //nolint:sqlclosecheck // the end of tx closes it
	}
	if _, known := b.w.stmts[text]; !b.s.dial.mysql && !known && len(b.w.stmts) < maxStatements {
		b.w.stmts[text] = nil
	}
	return b.tx.QueryContext(ctx, text, args...)
}
