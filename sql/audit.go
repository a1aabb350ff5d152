package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// AuditRow says who did what to which object, from where, and how it ended. The hashes are of
// the object before and after.
type AuditRow struct {
	ID         int64
	CreatedAt  dag.Millis
	Actor      string
	Address    string
	Action     string
	Object     string
	Outcome    string
	Detail     string
	BeforeHash string
	AfterHash  string
}

var auditInsert = &table{
	name: "audit",
	cols: []string{"id", "created_at", "actor", "address", "action", "object", "outcome", "detail", "before_hash", "after_hash"},
}

// AddAudit appends to the audit. Nothing of it is ever changed.
func (s *Store) AddAudit(ctx context.Context, rows []AuditRow) error {
	if len(rows) == 0 {
		return nil
	}
	first, err := s.NextIDs(ctx, len(rows))
	if err != nil {
		return fmt.Errorf("append to audit: %w", err)
	}
	var args []any
	for i, r := range rows {
		args = append(args, first+int64(i), orNow(r.CreatedAt, s.millis()), r.Actor, r.Address, r.Action, r.Object, r.Outcome, r.Detail,
			r.BeforeHash, r.AfterHash)
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		k := len(auditInsert.cols)
		for rest := args; len(rest) > 0; {
			n := chunkRows(rest, k)
			if _, err := tx.ExecContext(ctx, s.dial.insert(auditInsert, n), rest[:n*k]...); err != nil {
				return err
			}
			rest = rest[n*k:]
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("append to audit: %w", err)
	}
	return nil
}

// Audit returns a page of the audit, the newest first.
func (s *Store) Audit(ctx context.Context, page Page) ([]AuditRow, string, error) {
	before := keyCursor{1<<63 - 1}
	if err := page.decode("audit", &before); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	out, err := collect(ctx, s, func(scan func(...any) error) (r AuditRow, err error) {
		return r, scan(&r.ID, &r.CreatedAt, &r.Actor, &r.Address, &r.Action, &r.Object, &r.Outcome, &r.Detail, &r.BeforeHash, &r.AfterHash)
	}, `SELECT id, created_at, actor, address, action, object, outcome, detail, before_hash, after_hash FROM audit WHERE id < ?
		ORDER BY id DESC LIMIT ?`, before.Key, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("read audit: %w", err)
	}
	return cut(out, limit, "audit", func(r AuditRow) any { return keyCursor{r.ID} })
}
