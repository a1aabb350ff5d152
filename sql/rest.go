package sql

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// restTables hold the rows of an instance beside its own. by is the column after instance_id in the key by which they are deleted
// in portions; "" where an instance has few.
var restTables = []struct{ name, by string }{
	{"event", "seq"},
	{"task_attempt", "task_index"},
	{"artifact", "task_index"},
	{"artifact_chunk", "task_index"},
	{"task_instance", "task_index"},
	{"task_item", "item_index"},
	{"kept_task", "task_index"},
	{"decision", "task_index"},
	{"approval", "task_index"},
	{"control", "id"},
	{"recovery", ""},
	{"delivery", ""},
	{"acknowledgement", ""},
}

type rest struct{ instance, events int64 }

// sweepRests deletes about maxRestRows rows of instances that are deleted, and returns how many it deleted.
func (s *Store) sweepRests(ctx context.Context) (n int, err error) {
	rests, err := collect(ctx, s, func(scan func(...any) error) (r rest, err error) { return r, scan(&r.instance, &r.events) },
		`SELECT instance_id, events FROM instance_rest ORDER BY instance_id LIMIT ?`, maxRetired)
	if err != nil {
		return 0, fmt.Errorf("read what is left of deleted instances: %w", err)
	}
	if len(rests) == 0 {
		return 0, nil
	}
	if n, err = s.sweepChunks(ctx, rests); err != nil || n > 0 {
		return n, err
	}
	if rests[0].events > maxRestRows {
		n, err = s.sweepLarge(ctx, rests[0].instance)
	} else {
		var ids []int64
		for events := int64(0); len(ids) < len(rests); {
			next := rests[len(ids)]
			if events += next.events; events > maxRestRows {
				break
			}
			ids = append(ids, next.instance)
		}
		n, err = s.sweepSmall(ctx, ids)
	}
	if err != nil {
		return 0, fmt.Errorf("delete what is left of deleted instances: %w", err)
	}
	return n, nil
}

// sweepSmall deletes all rows of instances that have few.
func (s *Store) sweepSmall(ctx context.Context, ids []int64) (n int, err error) {
	err = s.write(ctx, func(tx *sqlTx) error {
		n = 0
		return eachChunk(ids, func(chunk []any) error {
			for _, t := range restTables {
				if err := restDelete(ctx, tx, &n, `DELETE FROM `+t.name+` WHERE instance_id IN (`+marks(len(chunk))+`)`, chunk); err != nil {
					return err
				}
			}
			return endRest(ctx, tx, &n, chunk)
		})
	})
	return n, err
}

// sweepLarge deletes a portion of the rows of an instance that has many.
func (s *Store) sweepLarge(ctx context.Context, id int64) (n int, err error) {
	err = s.write(ctx, func(tx *sqlTx) error {
		n = 0
		for _, t := range restTables {
			text, args := `DELETE FROM `+t.name+` WHERE instance_id = ?`, []any{id}
			if t.by != "" {
				// MySQL reads no table that a DELETE is about but through a derived one.
				text += ` AND ` + t.by + ` <= (SELECT MAX(x.v) FROM (SELECT ` + t.by + ` AS v FROM ` + t.name + ` WHERE instance_id = ? ORDER BY ` + t.by + ` LIMIT ?) x)`
				args = []any{id, id, maxRestRows}
			}
			if err := restDelete(ctx, tx, &n, text, args); err != nil || n >= maxRestRows {
				return err
			}
		}
		return endRest(ctx, tx, &n, []any{id})
	})
	return n, err
}

// endRest deletes what goes by the ids of instances alone, at last the note that something is left. A reply has the id of its instance.
func endRest(ctx context.Context, tx *sqlTx, n *int, ids []any) error {
	in := ` IN (` + marks(len(ids)) + `)`
	if err := restDelete(ctx, tx, n, `DELETE FROM listener WHERE instance_id > 0 AND id`+in, ids); err != nil {
		return err
	}
	return restDelete(ctx, tx, n, `DELETE FROM instance_rest WHERE instance_id`+in, ids)
}

// restDelete runs a DELETE and adds how many rows it met.
func restDelete(ctx context.Context, tx *sqlTx, n *int, text string, args []any) error {
	res, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return err
	}
	met, err := res.RowsAffected()
	*n += int(met)
	return err
}

// retireBackfills deletes a portion of the dates of a backfill that ended until a moment, at last the backfill.
func (s *Store) retireBackfills(ctx context.Context, until dag.Millis) (n int, err error) {
	ids, err := collect(ctx, s, scanID, `SELECT id FROM backfill WHERE active = 0 AND finished_at <= ? ORDER BY finished_at, id LIMIT 1`, until)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		n = 0
		err := restDelete(ctx, tx, &n, `DELETE FROM backfill_date WHERE backfill_id = ? AND place <= (SELECT MIN(x.place) FROM (SELECT place FROM backfill_date WHERE backfill_id = ?) x) + ?`,
			[]any{ids[0], ids[0], maxRestRows})
		if err != nil || n >= maxRestRows {
			return err
		}
		if err := restDelete(ctx, tx, &n, `DELETE FROM backfill_part WHERE backfill_id = ?`, []any{ids[0]}); err != nil {
			return err
		}
		return restDelete(ctx, tx, &n, `DELETE FROM backfill WHERE id = ?`, []any{ids[0]})
	})
	if err != nil {
		return 0, fmt.Errorf("delete backfill %d: %w", ids[0], err)
	}
	return n, nil
}
