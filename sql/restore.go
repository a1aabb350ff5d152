package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/porpoise/porpoise/dag"
)

const (
	// idGap is how far above the backup's ids those of a restored cluster begin: more than were given out
	// since the backup, which others may know, unless it is a month old at 1000 ids a second.
	idGap = 1 << 32
	// epochGap is the same for the epochs of instances: a master that lives on from before the restore never
	// meets the epoch that it has in memory again.
	epochGap = 1 << 20
)

// ErrNotEmpty says that a database holds rows already.
var ErrNotEmpty = errors.New("the database is not empty")

// Restore fills an empty database with the rows of a backup, all or none of them, and makes it the next
// generation of its cluster: ids and epochs go on above those that anybody may remember, attempts that were
// alive have other tokens, so that no report of the generation before is taken for them, and nobody is signed
// in. ErrNotEmpty, ErrDamagedBackup and ErrSchema say that nothing was done.
func (s *Store) Restore(ctx context.Context, path string, progress CopyProgress) (Backup, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return Backup{}, fmt.Errorf("restore %s: %w", path, err)
	}
	b, err := s.restore(ctx, full, progress)
	if err != nil {
		return Backup{}, fmt.Errorf("restore %s: %w", path, err)
	}
	s.mu.Lock()
	s.cluster = nil
	s.mu.Unlock()
	return b, nil
}

func (s *Store) restore(ctx context.Context, path string, progress CopyProgress) (b Backup, err error) {
	if info, err := os.Stat(path); err != nil {
		return b, err
	} else if !info.Mode().IsRegular() {
		return b, fmt.Errorf("%w: it is no file", ErrDamagedBackup)
	}
	from, err := stdsql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro"}).String())
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if b, err = readBackup(ctx, from); err != nil {
		return b, err
	}
	if want, err := s.builtFor(); err != nil {
		return b, err
	} else if b.Schema != want {
		return b, fmt.Errorf("%w: the backup's is version %d, this program's %d: restore it with porpoise %s, then run porpoise migrate of this one",
			ErrSchema, b.Schema, want, b.Program)
	}
	tables, err := copiedTables(ctx, from)
	if err != nil {
		return b, err
	}
	if err := b.verify(ctx, from, tables); err != nil {
		return b, err
	}
	if err := s.prepareEmpty(ctx, tables); err != nil {
		return b, err
	}
	return b, s.writeOnce(ctx, func(tx *sqlTx) error {
		if err := refuseRows(ctx, tx, tables); err != nil {
			return err
		}
		if err := emptySeeded(ctx, tx); err != nil {
			return explain(err)
		}
		for _, t := range tables {
			if _, err := t.copy(ctx, from, tx, progress); err != nil {
				return fmt.Errorf("table %s: %w", t.name, err)
			}
		}
		// What stands in this database now, not what was sent to it.
		if err := b.verify(ctx, tx, tables); err != nil {
			return err
		}
		return explain(nextGeneration(ctx, tx))
	})
}

func readBackup(ctx context.Context, from *stdsql.DB) (Backup, error) {
	var b Backup
	var format int
	err := from.QueryRowContext(ctx, `SELECT format, cluster, schema_version, program, made_at FROM backup`).Scan(&format, &b.Cluster, &b.Schema, &b.Program, &b.MadeAt)
	if err != nil {
		return b, fmt.Errorf("%w: %w", ErrDamagedBackup, err)
	}
	if format != backupFormat {
		return b, fmt.Errorf("the backup has format %d, this program reads %d: run another porpoise", format, backupFormat)
	}
	rows, err := from.QueryContext(ctx, `SELECT name, row_count, hash FROM backup_table ORDER BY name`)
	if err != nil {
		return b, fmt.Errorf("%w: %w", ErrDamagedBackup, err)
	}
	defer rows.Close()
	for rows.Next() {
		var t TableCount
		if err := rows.Scan(&t.Name, &t.Rows, &t.Hash); err != nil {
			return b, err
		}
		b.Tables = append(b.Tables, t)
	}
	return b, rows.Err()
}

// prepareEmpty gives a new database its schema. One that has a schema already must be empty before anything is
// done to it.
func (s *Store) prepareEmpty(ctx context.Context, tables []copied) error {
	var n int
	err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM cluster`).Scan(&n)
	if noTable(err) {
		return s.Migrate(ctx)
	}
	if err != nil {
		return explain(err)
	}
	if err := s.CheckSchema(ctx); err != nil {
		return err
	}
	return refuseRows(ctx, s.db, tables)
}

// seeded are the tables that have their one row from the schema on: it is no content.
var seeded = []string{"cluster", "cluster_registry", "supervisor"}

// emptySeeded makes way for the rows of a copy.
func emptySeeded(ctx context.Context, tx *sqlTx) error {
	for _, table := range seeded {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table); err != nil {
			return err
		}
	}
	return nil
}

// refuseRows returns ErrNotEmpty where a table has a row of its own.
func refuseRows(ctx context.Context, from querier, tables []copied) error {
	for _, t := range tables {
		if slices.Contains(seeded, t.name) {
			continue
		}
		some, err := hasRow(ctx, from, t.name)
		if err != nil {
			return explain(err)
		}
		if some {
			return fmt.Errorf("%w: table %s has rows; name a new one", ErrNotEmpty, t.name)
		}
	}
	return nil
}

func hasRow(ctx context.Context, from querier, table string) (bool, error) {
	rows, err := from.QueryContext(ctx, `SELECT 1 FROM `+table+` LIMIT 1`)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	return rows.Next(), rows.Err()
}

// nextGeneration makes restored rows those of another life of the cluster.
func nextGeneration(ctx context.Context, tx *sqlTx) error {
	live := []any{string(dag.AttemptDispatched), string(dag.AttemptRunning), string(dag.AttemptKilling)}
	for _, change := range []struct {
		text string
		args []any
	}{
		{`UPDATE cluster SET generation = generation + 1`, nil},
		{`UPDATE id_block SET next_id = next_id + ?`, []any{int64(idGap)}},
		// It may be set up beside another registry; the first process to start says which.
		{`UPDATE cluster_registry SET id = '', beat = beat + 1`, nil},
		{`UPDATE supervisor SET fence = fence + ?`, []any{int64(epochGap)}},
		{`UPDATE workflow_instance SET owner_epoch = owner_epoch + ? WHERE owner_epoch > 0`, []any{int64(epochGap)}},
		// Nobody has such an attempt: its worker is asked, does not know it, and it is lost.
		{`UPDATE task_attempt SET token = '` + restoredToken + `', incarnation = '` + restoredToken + `' WHERE worker <> '' AND state IN (?, ?, ?)`, live},
		// Who had signed out since, or used a token up, must not find it good again.
		{`DELETE FROM session`, nil},
		{`DELETE FROM sign_in_link`, nil},
		{`DELETE FROM join_token`, nil},
	} {
		if _, err := tx.ExecContext(ctx, change.text, change.args...); err != nil {
			return err
		}
	}
	return nil
}

// restoredToken stands where the token of a live attempt was: no worker has ever been given it.
const restoredToken = "restored"
