package sql

import (
	"context"
	"crypto/sha256"
	stdsql "database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/porpoise/porpoise/dag"
)

const (
	// backupFormat is the version of the file: a SQLite database of this schema, with two tables more.
	backupFormat = 1
	// copyRows and copyBytes bound one statement of a copy: MySQL refuses packets of more than a few MiB.
	copyRows  = 200
	copyBytes = 1 << 20
)

// Backup says what is in a file that Store.Backup made.
type Backup struct {
	Cluster string
	Schema  int64
	Program string // version of the program that made it
	MadeAt  dag.Millis
	Tables  []TableCount
}

// TableCount is a table's part of a backup. Hash is of the rows, whatever their order and the database.
type TableCount struct {
	Name string
	Rows int64
	Hash string
}

// Rows counts the rows of all tables.
func (b Backup) Rows() (n int64) {
	for _, t := range b.Tables {
		n += t.Rows
	}
	return n
}

// CopyProgress is told now and then how far a copy is: the table and its rows so far.
type CopyProgress func(table string, rows int64)

// backupTables describe the file within it.
const backupTables = `CREATE TABLE backup (format INTEGER NOT NULL, cluster TEXT NOT NULL, schema_version INTEGER NOT NULL, program TEXT NOT NULL, made_at INTEGER NOT NULL);
CREATE TABLE backup_table (name TEXT NOT NULL PRIMARY KEY, row_count INTEGER NOT NULL, hash TEXT NOT NULL);`

// Backup writes all rows, as they were at one moment, to a new file, while everybody works on. The file
// is whole when Backup returns nil, and is not there otherwise. It is a SQLite database that can be restored into
// either database. It holds everything but the cluster's key.
func (s *Store) Backup(ctx context.Context, path, program string, progress CopyProgress) (Backup, error) {
	var made Backup
	path, err := filepath.Abs(path)
	if err != nil {
		return made, fmt.Errorf("back up: %w", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return made, fmt.Errorf("back up to %s: %w", path, errors.Join(fs.ErrExist, err))
	}
	if err := s.CheckSchema(ctx); err != nil {
		return made, fmt.Errorf("back up: %w", err)
	}
	// A folder of its own: SQLite keeps further files beside a database that is open.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".backup.")
	if err != nil {
		return made, fmt.Errorf("back up: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "backup.db")
	if made, err = s.backupInto(ctx, file, program, progress); err != nil {
		return Backup{}, fmt.Errorf("back up: %w", err)
	}
	if err := oneFile(ctx, file); err != nil {
		return Backup{}, fmt.Errorf("back up: %w", err)
	}
	if err := os.Link(file, path); err != nil { // unlike a rename, it replaces nothing
		return Backup{}, fmt.Errorf("back up: %w", err)
	}
	return made, syncFolder(filepath.Dir(path))
}

// oneFile ends SQLite's use of further files, so that who may only read the database can open it.
func oneFile(ctx context.Context, path string) error {
	db, err := stdsql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `PRAGMA journal_mode = DELETE`)
	return errors.Join(err, db.Close())
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (s *Store) backupInto(ctx context.Context, path, program string, progress CopyProgress) (made Backup, err error) {
	to, err := Open(ctx, Config{DSN: "sqlite:" + path, Logger: s.cfg.Logger})
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := to.Migrate(ctx); err != nil {
		return made, err
	}
	tables, err := copiedTables(ctx, to.db)
	if err != nil {
		return made, err
	}
	made = Backup{Program: program, MadeAt: s.millis()}
	if made.Schema, err = s.builtFor(); err != nil {
		return made, err
	}
	err = s.snapshot(ctx, func(from querier) error {
		return to.writeOnce(ctx, func(tx *sqlTx) error {
			if err := emptySeeded(ctx, tx); err != nil {
				return err
			}
			made.Tables = nil
			for _, t := range tables {
				count, err := t.copy(ctx, from, tx, progress)
				if err != nil {
					return fmt.Errorf("table %s: %w", t.name, err)
				}
				made.Tables = append(made.Tables, count)
			}
			if err := tx.QueryRowContext(ctx, `SELECT id FROM cluster WHERE one = 1`).Scan(&made.Cluster); err != nil {
				return fmt.Errorf("read cluster: %w", explain(err))
			}
			return made.describe(ctx, tx)
		})
	})
	if err == nil {
		err = made.verify(ctx, to.read, tables)
	}
	return made, err
}

// describe writes what the file holds into it.
func (b *Backup) describe(ctx context.Context, tx *sqlTx) error {
	if _, err := tx.ExecContext(ctx, backupTables); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO backup (format, cluster, schema_version, program, made_at) VALUES (?, ?, ?, ?, ?)`,
		backupFormat, b.Cluster, b.Schema, b.Program, b.MadeAt)
	for _, t := range b.Tables {
		if err == nil {
			_, err = tx.ExecContext(ctx, `INSERT INTO backup_table (name, row_count, hash) VALUES (?, ?, ?)`, t.Name, t.Rows, t.Hash)
		}
	}
	return err
}

// ErrDamagedBackup says that a file does not hold what it says it holds.
var ErrDamagedBackup = errors.New("the backup is damaged, or none")

// verify reads all rows again and compares them with what they should be.
func (b *Backup) verify(ctx context.Context, from querier, tables []copied) error {
	if len(tables) != len(b.Tables) {
		return fmt.Errorf("%w: it lists %d tables, want %d", ErrDamagedBackup, len(b.Tables), len(tables))
	}
	for i, t := range tables {
		got, err := t.copy(ctx, from, nil, func(string, int64) {})
		if err != nil {
			return fmt.Errorf("verify table %s: %w", t.name, err)
		}
		if got != b.Tables[i] {
			return fmt.Errorf("%w: table %s has %d rows with hash %s, want %d with %s", ErrDamagedBackup, t.name, got.Rows, got.Hash, b.Tables[i].Rows, b.Tables[i].Hash)
		}
	}
	return nil
}

// querier reads, within a transaction or without.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*stdsql.Rows, error)
}

// snapshot gives a view of the database that stays as it is while others write.
func (s *Store) snapshot(ctx context.Context, f func(from querier) error) error {
	tx, err := s.read.BeginTx(ctx, &stdsql.TxOptions{ReadOnly: s.dial.mysql, Isolation: s.snapshotLevel()})
	if err != nil {
		return explain(err)
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	return f(tx)
}

func (s *Store) snapshotLevel() stdsql.IsolationLevel {
	if s.dial.mysql {
		return stdsql.LevelRepeatableRead
	}
	return stdsql.LevelDefault
}

// copied is a table that backups hold, with its columns, which both databases call the same.
type copied struct {
	name    string
	columns []string
	kinds   []string // INTEGER, TEXT or BLOB
}

// copiedTables lists the tables of a SQLite database that backups hold: all but those of the schema itself.
func copiedTables(ctx context.Context, in querier) ([]copied, error) {
	var list []copied
	rows, err := in.QueryContext(ctx, `SELECT m.name, c.name, c.type FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name NOT IN ('schema_version', 'backup', 'backup_table') ORDER BY m.name, c.cid`)
	if err != nil {
		return nil, explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, column, kind string
		if err := rows.Scan(&table, &column, &kind); err != nil {
			return nil, err
		}
		if len(list) == 0 || list[len(list)-1].name != table {
			list = append(list, copied{name: table})
		}
		t := &list[len(list)-1]
		t.columns, t.kinds = append(t.columns, column), append(t.kinds, kind)
	}
	return list, rows.Err()
}

// copy reads all rows, and writes them where there is a transaction to write in.
func (t copied) copy(ctx context.Context, from querier, to *sqlTx, progress CopyProgress) (TableCount, error) {
	count := TableCount{Name: t.name}
	rows, err := from.QueryContext(ctx, `SELECT `+strings.Join(t.columns, ", ")+` FROM `+t.name)
	if err != nil {
		return count, explain(err)
	}
	defer rows.Close()
	var sum rowSum
	var batch []any
	size := 0
	write := func() error {
		if to == nil || len(batch) == 0 {
			return nil
		}
		n := len(batch) / len(t.columns)
		_, err := to.ExecContext(ctx, `INSERT INTO `+t.name+` (`+strings.Join(t.columns, ", ")+`) VALUES `+rowMarks(len(t.columns), n), batch...)
		batch, size = batch[:0], 0
		progress(t.name, count.Rows)
		return explain(err)
	}
	for rows.Next() {
		values, bytes, err := t.scan(rows)
		if err != nil {
			return count, err
		}
		sum.add(values)
		count.Rows++
		if to == nil {
			continue
		}
		batch, size = append(batch, values...), size+bytes
		if len(batch) >= copyRows*len(t.columns) || size >= copyBytes {
			if err := write(); err != nil {
				return count, err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return count, explain(err)
	}
	count.Hash = sum.text()
	return count, write()
}

// scan reads one row: each value is nil, an int64, a string or bytes, whatever the database gives.
func (t copied) scan(rows *stdsql.Rows) (values []any, size int, err error) {
	dest := make([]any, len(t.kinds))
	for i, kind := range t.kinds {
		switch kind {
		case "INTEGER":
			dest[i] = new(stdsql.NullInt64)
		case "BLOB":
			dest[i] = new([]byte)
		default:
			dest[i] = new(stdsql.NullString)
		}
	}
	if err := rows.Scan(dest...); err != nil {
		return nil, 0, err
	}
	values = make([]any, len(dest))
	for i, d := range dest {
		switch v := d.(type) {
		case *stdsql.NullInt64:
			if v.Valid {
				values[i] = v.Int64
			}
			size += 8
		case *stdsql.NullString:
			if v.Valid {
				values[i] = v.String
			}
			size += len(v.String)
		case *[]byte:
			values[i] = append([]byte{}, *v...) // no such column may be NULL, and empty ones read as nil
			size += len(*v)
		}
	}
	return values, size, nil
}

// rowSum is a hash of rows in any order: the sum of their hashes. The databases do not sort texts alike.
type rowSum [4]uint64

func (s *rowSum) add(values []any) {
	h := sha256.New()
	var head [9]byte
	put := func(kind byte, n uint64, data string) {
		head[0] = kind
		binary.BigEndian.PutUint64(head[1:], n)
		h.Write(head[:])
		h.Write([]byte(data))
	}
	for _, v := range values {
		switch v := v.(type) {
		case int64:
			put('i', uint64(v), "")
		case string:
			put('t', uint64(len(v)), v)
		case []byte:
			put('b', uint64(len(v)), string(v))
		default:
			put('n', 0, "")
		}
	}
	row := h.Sum(nil)
	for i := range s {
		s[i] += binary.BigEndian.Uint64(row[8*i:])
	}
}

func (s *rowSum) text() string {
	var b [32]byte
	for i, n := range s {
		binary.BigEndian.PutUint64(b[8*i:], n)
	}
	return hex.EncodeToString(b[:])
}
