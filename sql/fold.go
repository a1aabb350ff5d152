package sql

import (
	"context"
	stdsql "database/sql"

	"github.com/jmoiron/sqlx"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// foldName is the form of a name that must be unique: NFC and case folded. Folding may undo
// NFC, hence twice.
func foldName(name string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
}

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
