package sql

import (
	"context"
	"fmt"
	"strings"
	"time"

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

var auditInsert = withCommon(&table{
	name: "audit",
	cols: []string{"id", "created_at", "actor", "address", "action", "object", "outcome", "detail", "before_hash", "after_hash"},
}, map[string]any{"detail": "", "before_hash": "", "after_hash": ""})

// AddAudit appends to the audit, in one transaction with what others write at the same time. Nothing of it is ever changed.
func (s *Store) AddAudit(ctx context.Context, rows []AuditRow) error {
	if len(rows) == 0 {
		return nil
	}
	o := &operation{audit: rows}
	s.writer.do(ctx, o)
	if o.err != nil {
		return fmt.Errorf("append to audit: %w", o.err)
	}
	return nil
}

// audits appends what the batch has for the audit.
func (b *batch) audits(ctx context.Context) error {
	var args []any
	for _, o := range b.ops {
		for i, r := range o.audit {
			id := b.nextID()
			if i == 0 {
				o.id = id
			}
			args = append(args, id, int64(orNow(r.CreatedAt, b.s.millis())), r.Actor, r.Address, r.Action, r.Object, r.Outcome, r.Detail,
				r.BeforeHash, r.AfterHash)
		}
	}
	if err := b.rows(ctx, auditInsert, b.s.dial.insert, args); err != nil {
		return fmt.Errorf("append to audit: %w", err)
	}
	return nil
}

// AuditFilter says which rows of the audit a list shows; what is empty or zero is no bound. Before is excluded.
type AuditFilter struct {
	Actor, Action, Outcome string
	Object                 string // a part of it
	After, Before          dag.Millis
}

// keeps tells whether a row is shown.
func (f *AuditFilter) keeps(r *AuditRow) bool {
	return (f.Actor == "" || r.Actor == f.Actor) && (f.Action == "" || r.Action == f.Action) && (f.Outcome == "" || r.Outcome == f.Outcome) &&
		strings.Contains(r.Object, f.Object) && r.CreatedAt >= f.After && (f.Before == 0 || r.CreatedAt < f.Before)
}

// Audit returns a page of the audit, the newest first. A filter looks into the rows, so that a page may hold fewer than
// limit, even none, with a cursor to go on: each looks at MaxSifted at most.
func (s *Store) Audit(ctx context.Context, f AuditFilter, page Page) ([]AuditRow, string, error) {
	before := keyCursor{1<<63 - 1}
	if err := page.decode("audit", &before); err != nil {
		return nil, "", err
	}
	var out []AuditRow
	for seen := 0; seen < MaxSifted; seen += siftStep {
		rows, err := s.auditBefore(ctx, before.Key, siftStep)
		if err != nil {
			return nil, "", err
		}
		for i := range rows {
			before.Key = rows[i].ID
			if f.After != 0 && rows[i].CreatedAt < f.After-auditSlack {
				return out, "", nil
			}
			if !f.keeps(&rows[i]) {
				continue
			}
			if out = append(out, rows[i]); len(out) == page.limit() && (i < len(rows)-1 || len(rows) == siftStep) {
				next, err := encodeCursor("audit", before)
				return out, next, err
			}
		}
		if len(rows) < siftStep {
			return out, "", nil
		}
	}
	next, err := encodeCursor("audit", before)
	return out, next, err
}

// auditSlack is how far the order of ids may be from that of moments: each process writes its rows after a delay, and
// takes ids in blocks.
const auditSlack = dag.Millis(time.Hour / time.Millisecond)

func (s *Store) auditBefore(ctx context.Context, id int64, n int) ([]AuditRow, error) {
	rows, err := collect(ctx, s, func(scan func(...any) error) (r AuditRow, err error) {
		return r, scan(&r.ID, &r.CreatedAt, &r.Actor, &r.Address, &r.Action, &r.Object, &r.Outcome, &r.Detail, &r.BeforeHash, &r.AfterHash)
	}, `SELECT id, created_at, actor, address, action, object, outcome, detail, before_hash, after_hash FROM audit WHERE id < ?
		ORDER BY id DESC LIMIT ?`, id, n)
	if err != nil {
		return nil, fmt.Errorf("read audit: %w", err)
	}
	return rows, nil
}
