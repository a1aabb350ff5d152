package sql_test

import (
	"context"
	"crypto/sha256"
	stdsql "database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"github.com/porpoise/porpoise/sql"
	"github.com/porpoise/porpoise/sql/sqltest"
)

// testMySQL returns the DSN of the server that tests may fill with databases, or skips the test.
func testMySQL(t testing.TB) *mysql.Config {
	t.Helper()
	dsn := os.Getenv("PORPOISE_TEST_MYSQL")
	switch {
	case dsn == "" && os.Getenv("CI") == "true":
		t.Fatal("PORPOISE_TEST_MYSQL is not set, and CI must not skip: PORPOISE_TEST_MYSQL=$(scripts/mariadb start)")
	case dsn == "":
		t.Skip("PORPOISE_TEST_MYSQL is not set; to run this: PORPOISE_TEST_MYSQL=$(scripts/mariadb start) go test ./sql/...")
	}
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatalf("PORPOISE_TEST_MYSQL: %v", err)
	}
	return cfg
}

// newMySQL makes an empty database that is dropped after the test, and returns its DSN.
func newMySQL(t testing.TB, name string) string {
	t.Helper()
	cfg := testMySQL(t)
	sum := sha256.Sum256([]byte(name))
	database := "porpoise_test_" + hex.EncodeToString(sum[:8])
	db, err := stdsql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	do := func(text string) {
		if _, err := db.ExecContext(context.Background(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	do("DROP DATABASE IF EXISTS " + database)
	do("CREATE DATABASE " + database)
	t.Cleanup(func() {
		do("DROP DATABASE IF EXISTS " + database)
		_ = db.Close()
	})
	cfg.DBName = database
	return "mysql:" + cfg.FormatDSN()
}

func mysqlSuite(t *testing.T, isolation stdsql.IsolationLevel) {
	t.Parallel()
	testMySQL(t)
	pool := &databases{t: t, isolation: isolation}
	var taken sync.Map
	sqltest.Run(t, func(t *testing.T, name string) *sql.Store {
		dsn, _ := taken.LoadOrStore(name, sync.OnceValue(func() string { return pool.take(t) }))
		return openStore(t, sql.Config{DSN: dsn.(func() string)(), Isolation: isolation})
	})
}

// databases lends tests databases that are as the migrations leave them, but without a cluster. What one test has written is
// deleted before the next has it: that is done in a hundredth of the time that the migrations take.
type databases struct {
	t         *testing.T // the suite's: they are dropped with it
	isolation stdsql.IsolationLevel

	mu   sync.Mutex
	made int
	free []database
}

type database struct {
	dsn    string
	tables []tableContent
}

// tableContent is what the migrations write into a table.
type tableContent struct {
	name   string
	insert string
	args   []any
}

// take lends a database until t has ended.
func (d *databases) take(t *testing.T) string {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	var db database
	if n := len(d.free); n > 0 {
		db, d.free = d.free[n-1], d.free[:n-1]
	} else {
		d.made++
		db = newDatabase(t, newMySQL(d.t, fmt.Sprint(d.t.Name(), d.made)), d.isolation)
	}
	db.reset(t)
	t.Cleanup(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.free = append(d.free, db)
	})
	return db.dsn
}

func newDatabase(t *testing.T, dsn string, isolation stdsql.IsolationLevel) database {
	t.Helper()
	s, err := sql.Open(context.Background(), sql.Config{DSN: dsn, Isolation: isolation})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	db := database{dsn: dsn}
	db.with(t, func(conn *sqlx.DB) error {
		var names []string
		if err := conn.Select(&names, `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name <> 'goose_db_version'`); err != nil {
			return err
		}
		for _, name := range names {
			content := tableContent{name: name}
			if err := content.read(conn); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			db.tables = append(db.tables, content)
		}
		return nil
	})
	return db
}

// read notes the rows of the table, which are few.
func (c *tableContent) read(conn *sqlx.DB) error {
	if c.name == "cluster" {
		return nil // each test's store names its own
	}
	rows, err := conn.Queryx("SELECT * FROM `" + c.name + "`")
	if err != nil {
		return err
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return err
	}
	marks := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(cols)), ", ") + ")"
	for rows.Next() {
		row, err := rows.SliceScan()
		if err != nil {
			return err
		}
		c.insert += ", " + marks
		c.args = append(c.args, row...)
	}
	if c.insert != "" {
		c.insert = "INSERT INTO `" + c.name + "` VALUES " + strings.TrimPrefix(c.insert, ", ")
	}
	return rows.Err()
}

// reset makes the database as it was made.
func (d *database) reset(t *testing.T) {
	t.Helper()
	d.with(t, func(conn *sqlx.DB) error {
		for _, c := range d.tables {
			if _, err := conn.Exec("DELETE FROM `" + c.name + "`"); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if c.insert == "" {
				continue
			}
			if _, err := conn.Exec(c.insert, c.args...); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		return nil
	})
}

// with does something with a connection of its own.
func (d *database) with(t *testing.T, do func(*sqlx.DB) error) {
	t.Helper()
	conn, err := sqlx.Open("mysql", strings.TrimPrefix(d.dsn, "mysql:"))
	if err == nil {
		err = do(conn)
		_ = conn.Close()
	}
	if err != nil {
		t.Fatalf("database of tests: %v", err)
	}
}

func TestMySQLKeepsThePromisesAtRepeatableRead(t *testing.T) {
	mysqlSuite(t, stdsql.LevelRepeatableRead)
}

func TestMySQLKeepsThePromisesAtReadCommitted(t *testing.T) {
	mysqlSuite(t, stdsql.LevelReadCommitted)
}
