package sql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

const (
	mysqlMaxOpen = 16
	// mysqlLanes is how many transactions of the writer run at once. The server runs each in one thread, and waits for the disk
	// and for the next trip in between: a second one makes a third more steps of it, a third one none.
	mysqlLanes = 2
	// mysqlIdle is under MySQL's wait_timeout on every sane server, so that the pool ends
	// idle connections before the server does.
	mysqlIdle = 5 * time.Minute
	// The timeouts bound every call on a dead network. The longest transaction of ours is a
	// batch of maxBatchRows; writes wait for locks at most innodb_lock_wait_timeout seconds.
	mysqlDialTimeout  = 5 * time.Second
	mysqlReadTimeout  = 30 * time.Second
	mysqlWriteTimeout = 30 * time.Second
	mysqlLockSeconds  = "5"
)

// openMySQL connects to MySQL or MariaDB. Some of the DSN's options are not the user's to choose:
// clientFoundRows makes a compare-and-set that changes nothing still count its row, and
// interpolateParams saves a round trip per statement.
func (s *Store) openMySQL(ctx context.Context, dsn string) error {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return fmt.Errorf("database mysql: %w", err)
	}
	if cfg.DBName == "" {
		return errors.New("database mysql: the DSN names no database")
	}
	cfg.ClientFoundRows = true
	cfg.InterpolateParams = true
	cfg.ParseTime = false
	cfg.MultiStatements = false
	cfg.AllowAllFiles = false
	cfg.Collation = "utf8mb4_bin"
	if cfg.Timeout == 0 {
		cfg.Timeout = mysqlDialTimeout
	}
	if cfg.ReadTimeout == 0 {
		cfg.ReadTimeout = mysqlReadTimeout
	}
	if cfg.WriteTimeout == 0 {
		cfg.WriteTimeout = mysqlWriteTimeout
	}
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	cfg.Params["innodb_lock_wait_timeout"] = mysqlLockSeconds
	// Strict mode refuses what does not fit; the server's default may cut it silently. ANSI quotes off.
	cfg.Params["sql_mode"] = "'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO'"
	cfg.Logger = driverLog{s}
	s.migrateDSN = migrationDSN(cfg)
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return fmt.Errorf("database mysql: %w", err)
	}
	s.dial = &dialect{name: "mysql", mysql: true}
	s.db = sqlx.NewDb(openDB(connector), "mysql")
	open := s.cfg.MaxOpen
	if open == 0 {
		open = mysqlMaxOpen
	}
	s.db.SetMaxOpenConns(open)
	s.db.SetMaxIdleConns(open)
	s.db.SetConnMaxIdleTime(mysqlIdle)
	s.read = &reader{DB: s.db}
	cfg = cfg.Clone()
	cfg.MultiStatements = true
	if connector, err = mysql.NewConnector(cfg); err != nil {
		return errors.Join(fmt.Errorf("database mysql: %w", err), s.db.Close())
	}
	s.hot = openDB(connector)
	s.hot.SetMaxOpenConns(mysqlLanes)
	s.hot.SetMaxIdleConns(mysqlLanes)
	s.hot.SetConnMaxIdleTime(mysqlIdle)
	if err := s.db.PingContext(ctx); err != nil {
		return errors.Join(fmt.Errorf("connect to %s: %w", cfg.Addr, explain(err)), s.db.Close(), s.hot.Close())
	}
	return nil
}

// migrationDSN is for the migrations' own connection: goose reads times, and its lock counts
// the rows that an UPDATE changed.
func migrationDSN(cfg *mysql.Config) string {
	cfg = cfg.Clone()
	cfg.ParseTime = true
	cfg.ClientFoundRows = false
	return cfg.FormatDSN()
}

// driverLog sends the driver's remarks, which repeat what the returned error says, to debug.
type driverLog struct{ s *Store }

// Print takes one remark.
func (l driverLog) Print(v ...any) { l.s.log.Debug("mysql driver", "remark", fmt.Sprint(v...)) }
