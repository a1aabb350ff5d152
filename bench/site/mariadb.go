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
	"strings"

	"github.com/go-sql-driver/mysql"
)

// database makes an empty database on the given server, or on one that scripts/mariadb
// starts with durable commits, and returns it as the roles want it. Both are gone when
// the site stops.
func (s *Site) database(ctx context.Context, server string) (string, error) {
	if server == "" {
		var err error
		if server, err = s.mariadb(ctx); err != nil {
			return "", err
		}
	}
	cfg, err := mysql.ParseDSN(server)
	if err != nil {
		return "", fmt.Errorf("database server: %w", err)
	}
	name := "porpoise_site_" + strings.ToLower(rand.Text()[:8])
	if err := execute(ctx, server, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"); err != nil {
		return "", err
	}
	s.cleanup = append(s.cleanup, func(ctx context.Context) error { return execute(ctx, server, "DROP DATABASE "+name) })
	cfg.DBName = name
	return "mysql:" + cfg.FormatDSN(), nil
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

// mariadb starts a server of our own. Its folder is not the site's, since mariadbd runs
// as another user, who may not enter that.
func (s *Site) mariadb(ctx context.Context) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	script := filepath.Join(root, "scripts", "mariadb")
	dir, err := os.MkdirTemp("", "porpoise-mariadb.")
	if err != nil {
		return "", fmt.Errorf("start mariadb: %w", err)
	}
	s.cleanup = append(s.cleanup, func(ctx context.Context) error {
		if out, err := exec.CommandContext(ctx, script, "stop", "--dir", dir).CombinedOutput(); err != nil {
			return fmt.Errorf("stop mariadb: %w: %s", err, out)
		}
		return nil
	})
	cmd := exec.CommandContext(ctx, script, "start", "--flush=1", "--dir", dir)
	cmd.Stderr = os.Stderr // an installation takes a while, and says so
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("start mariadb: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
