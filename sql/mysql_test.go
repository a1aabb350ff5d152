package sql_test

import (
	"context"
	"crypto/sha256"
	stdsql "database/sql"
	"encoding/hex"
	"os"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

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
	var made sync.Map
	sqltest.Run(t, func(t *testing.T, name string) *sql.Store {
		dsn, _ := made.LoadOrStore(name, sync.OnceValue(func() string { return newMySQL(t, name+isolation.String()) }))
		return openStore(t, sql.Config{DSN: dsn.(func() string)(), Isolation: isolation})
	})
}

func TestMySQLKeepsThePromisesAtRepeatableRead(t *testing.T) {
	mysqlSuite(t, stdsql.LevelRepeatableRead)
}

func TestMySQLKeepsThePromisesAtReadCommitted(t *testing.T) {
	mysqlSuite(t, stdsql.LevelReadCommitted)
}
