package site

import (
	"context"
	"crypto/rand"
	stdsql "database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// database makes an empty database on the given server, or on one that scripts/mariadb
// starts with durable commits, and returns it as the roles want it. Both are gone when
// the site stops.
func (s *Site) database(ctx context.Context, server string) (string, error) {
	if server == SQLite {
		return "sqlite:" + filepath.Join(s.Dir, "shared.db"), nil
	}
	if server == "" {
		var err error
		if server, err = s.mariadb(ctx); err != nil {
			return "", err
		}
	}
	dsn, drop, err := Scratch(ctx, server)
	if err != nil {
		return "", err
	}
	s.cleanup = append(s.cleanup, drop)
	return "mysql:" + dsn, nil
}

// Scratch makes an empty database on a server, and returns the server's DSN with it, and what drops it.
func Scratch(ctx context.Context, server string) (dsn string, drop func(context.Context) error, err error) {
	cfg, err := mysql.ParseDSN(server)
	if err != nil {
		return "", nil, fmt.Errorf("database server: %w", err)
	}
	name := "porpoise_site_" + strings.ToLower(rand.Text()[:8])
	if err := execute(ctx, server, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"); err != nil {
		return "", nil, err
	}
	cfg.DBName = name
	return cfg.FormatDSN(), func(ctx context.Context) error { return execute(ctx, server, "DROP DATABASE "+name) }, nil
}

// ServerVersion says in a sentence which server it is, and whether its commits are durable; "" is none.
func ServerVersion(ctx context.Context, server string) (string, error) {
	if server == "" {
		return "", nil
	}
	return Ask(ctx, server, "SELECT CONCAT(' Database server ', VERSION(), ', innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit, '.')")
}

// Ask reads one row of one column of text from a server of MySQL or MariaDB, such as its version.
func Ask(ctx context.Context, dsn, query string) (answer string, err error) {
	db, err := stdsql.Open("mysql", dsn)
	if err != nil {
		return "", fmt.Errorf("open the database server: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.QueryRowContext(ctx, query).Scan(&answer); err != nil {
		return "", fmt.Errorf("%s: %w", query, err)
	}
	return answer, nil
}

// execute runs one statement that no role of Porpoise has a reason to run.
func execute(ctx context.Context, dsn, statement string) (err error) {
	db, err := stdsql.Open("mysql", dsn)
	if err != nil {
		return fmt.Errorf("open the database server: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", strings.ToLower(statement), err)
	}
	return nil
}

// mariadb starts a server of our own.
func (s *Site) mariadb(ctx context.Context) (string, error) {
	m, err := StartMariaDB(ctx, "")
	if err != nil {
		return "", err
	}
	s.cleanup = append(s.cleanup, m.Stop)
	return m.DSN, nil
}

// MariaDB is a database server of our own, with durable commits. Its folder is not a
// site's, since mariadbd runs as another user, who may not enter that.
type MariaDB struct {
	DSN         string // without a database; Start gives another one
	script, dir string
}

// StartMariaDB makes a server by scripts/mariadb, which keeps what it holds in a new folder in the given
// one, or in that of temporary files, and starts it.
func StartMariaDB(ctx context.Context, in string) (*MariaDB, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(in, "porpoise-mariadb.")
	if err != nil {
		return nil, fmt.Errorf("start mariadb: %w", err)
	}
	m := &MariaDB{script: filepath.Join(root, "scripts", "mariadb"), dir: dir}
	if err := m.Start(ctx); err != nil {
		return nil, errors.Join(err, m.Stop(context.WithoutCancel(ctx)))
	}
	return m, nil
}

// Start starts the server on what it holds, on a port of its choice.
func (m *MariaDB) Start(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, m.script, "start", "--flush=1", "--dir", m.dir)
	cmd.Stderr = os.Stderr // an installation takes a while, and says so
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("start mariadb: %w", err)
	}
	m.DSN = strings.TrimSpace(string(out))
	return nil
}

// PID is the server's process.
func (m *MariaDB) PID() (int, error) {
	text, err := os.ReadFile(filepath.Join(m.dir, "pid"))
	if err != nil {
		return 0, fmt.Errorf("find mariadb: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("find mariadb: %w", err)
	}
	return pid, nil
}

// Stop ends the server and deletes what it holds.
func (m *MariaDB) Stop(ctx context.Context) error {
	if out, err := exec.CommandContext(ctx, m.script, "stop", "--dir", m.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("stop mariadb: %w: %s", err, out)
	}
	return nil
}
