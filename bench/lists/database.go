package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite" // the driver that the product uses
)

// database is one that this program makes, fills and removes.
type database interface {
	// create makes it empty and returns a connection beside the store's.
	create(ctx context.Context) (*stdsql.DB, error)
	// dsn is what the store opens.
	dsn() string
	name(ctx context.Context, db *stdsql.DB) (string, error)
	// indexes returns the statements that drop the indexes of the instances, and those that
	// make them again: rows without indexes take a fifth of the time.
	indexes(ctx context.Context, db *stdsql.DB) (drop, again []string, err error)
	// examined is how many rows all connections have read so far; false where nobody counts.
	examined(ctx context.Context, db *stdsql.DB) (int64, bool, error)
	remove(ctx context.Context, db *stdsql.DB) error
}

// file is a database of SQLite.
type file struct{ path string }

func newFile(dir string, n int) *file {
	return &file{filepath.Join(dir, fmt.Sprintf("lists-%d.db", n))}
}

func (f *file) create(context.Context) (*stdsql.DB, error) {
	return stdsql.Open("sqlite", "file:"+f.path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=busy_timeout(10000)")
}

func (f *file) dsn() string { return "sqlite:" + f.path }

func (f *file) name(ctx context.Context, db *stdsql.DB) (version string, err error) {
	err = db.QueryRowContext(ctx, `SELECT 'SQLite ' || sqlite_version()`).Scan(&version)
	return version, err
}

func (f *file) indexes(ctx context.Context, db *stdsql.DB) (drop, again []string, err error) {
	return pairs(ctx, db, `SELECT 'DROP INDEX ' || name, sql FROM sqlite_master
		WHERE type = 'index' AND tbl_name = 'workflow_instance' AND sql IS NOT NULL`)
}

func (f *file) examined(context.Context, *stdsql.DB) (int64, bool, error) { return 0, false, nil }

func (f *file) remove(context.Context, *stdsql.DB) error {
	return errors.Join(os.Remove(f.path), os.RemoveAll(f.path+"-wal"), os.RemoveAll(f.path+"-shm"))
}

// server is a database on a server of MySQL or MariaDB.
type server struct{ address, database string }

func newServer(address string, n int) *server {
	return &server{address, fmt.Sprintf("porpoise_lists_%d_%d", os.Getpid(), n)}
}

func (s *server) create(ctx context.Context) (*stdsql.DB, error) {
	cfg, err := mysql.ParseDSN(s.address)
	if err != nil {
		return nil, fmt.Errorf("PORPOISE_TEST_MYSQL: %w", err)
	}
	db, err := stdsql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // USE is of one connection
	for _, text := range []string{"CREATE DATABASE " + s.database, "USE " + s.database} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", text, err), db.Close())
		}
	}
	return db, nil
}

func (s *server) dsn() string {
	cfg, err := mysql.ParseDSN(s.address)
	if err != nil {
		return ""
	}
	cfg.DBName = s.database
	return "mysql:" + cfg.FormatDSN()
}

func (s *server) name(ctx context.Context, db *stdsql.DB) (version string, err error) {
	err = db.QueryRowContext(ctx, `SELECT CASE WHEN VERSION() LIKE '%MariaDB%' THEN VERSION() ELSE CONCAT('MySQL ', VERSION()) END`).Scan(&version)
	return version, err
}

func (s *server) indexes(ctx context.Context, db *stdsql.DB) (drop, again []string, err error) {
	return pairs(ctx, db, `SELECT CONCAT('DROP INDEX ', index_name, ' ON workflow_instance'),
		CONCAT('CREATE ', IF(MIN(non_unique) = 0, 'UNIQUE ', ''), 'INDEX ', index_name, ' ON workflow_instance (',
			GROUP_CONCAT(column_name ORDER BY seq_in_index SEPARATOR ', '), ')')
		FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'workflow_instance' AND index_name <> 'PRIMARY'
		GROUP BY index_name`)
}

func (s *server) examined(ctx context.Context, db *stdsql.DB) (sum int64, counted bool, err error) {
	_, values, err := pairs(ctx, db, "SHOW GLOBAL STATUS LIKE 'Handler_read%'")
	for _, v := range values {
		var n int64
		if _, err := fmt.Sscan(v, &n); err != nil {
			return 0, false, fmt.Errorf("handler count %q: %w", v, err)
		}
		sum += n
	}
	return sum, true, err
}

func (s *server) remove(ctx context.Context, db *stdsql.DB) error {
	_, err := db.ExecContext(ctx, "DROP DATABASE "+s.database)
	return err
}

// pairs reads a query of two columns of text.
func pairs(ctx context.Context, db *stdsql.DB, query string) (first, second []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a, b string
		if err := rows.Scan(&a, &b); err != nil {
			return nil, nil, err
		}
		first, second = append(first, a), append(second, b)
	}
	return first, second, rows.Err()
}
