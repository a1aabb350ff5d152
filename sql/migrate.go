package sql

import (
	"context"
	"crypto/rand"
	stdsql "database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"golang.org/x/sys/unix"

	"github.com/porpoise/porpoise/dag"
)

const (
	// migrationWait is how long a process waits for another that migrates: a change of a large
	// table takes minutes.
	migrationWait = 5 * time.Minute
	migrationPoll = 100 * time.Millisecond
)

//go:embed schema
var schema embed.FS

// Cluster is who the database belongs to. ID and Slots are fixed at the cluster's birth.
type Cluster struct {
	ID        string
	Slots     int
	CreatedAt dag.Millis
	// Generation is 1 at its birth and one more after each restore from a backup.
	Generation int64
}

// Migrate brings the schema up to this program's and gives a new database its cluster row.
// Several processes may call it at once. It returns ErrSchema where the schema is newer
// than the program, and ErrForeignCluster where Config.ClusterID is not the database's.
func (s *Store) Migrate(ctx context.Context) error {
	unlock, err := s.lockMigration()
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer unlock()
	p, done, err := s.migrations()
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer done()
	if _, err := s.refuseNewer(ctx); err != nil {
		return err
	}
	ran, err := p.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", explain(err))
	}
	for _, r := range ran {
		s.log.Info("schema migrated", "file", r.Source.Path, "took", r.Duration.String())
	}
	_, err = s.db.ExecContext(ctx, s.dial.insertIgnore()+`cluster (one, id, slots, layout_floor, created_at) VALUES (1, ?, ?, 0, ?)`,
		s.birthID(), s.cfg.Slots, s.millis())
	if err != nil {
		return fmt.Errorf("migrate: name the cluster: %w", explain(err))
	}
	_, err = s.Cluster(ctx)
	return err
}

func (s *Store) birthID() string {
	if s.cfg.ClusterID != "" {
		return s.cfg.ClusterID
	}
	return rand.Text()
}

// CheckSchema returns ErrSchema, with what to do, unless the schema is exactly this program's.
func (s *Store) CheckSchema(ctx context.Context) error {
	older, err := s.refuseNewer(ctx)
	if err == nil && older {
		err = fmt.Errorf("%w: it is older; run porpoise migrate", ErrSchema)
	}
	return err
}

// refuseNewer compares the schema with this program's, without a change to either.
func (s *Store) refuseNewer(ctx context.Context) (older bool, err error) {
	want, err := s.builtFor()
	if err != nil {
		return false, fmt.Errorf("read schema version: %w", err)
	}
	var have int64
	err = s.read.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM schema_version WHERE is_applied = 1`).Scan(&have)
	switch {
	case noTable(err):
		have = 0
	case err != nil:
		return false, fmt.Errorf("read schema version: %w", explain(err))
	case have > want:
		return false, fmt.Errorf("%w: schema version %d is newer than this program's %d; run a newer porpoise", ErrSchema, have, want)
	}
	return have < want, nil
}

// builtFor is the version of the last of the files, which begin with it.
func (s *Store) builtFor() (int64, error) {
	files, err := fs.ReadDir(schema, "schema/"+s.dial.name)
	if err != nil {
		return 0, err
	}
	number, _, _ := strings.Cut(files[len(files)-1].Name(), "_")
	return strconv.ParseInt(number, 10, 64)
}

// migrations returns the means to bring the schema up; done must be called after their use.
func (s *Store) migrations() (p *goose.Provider, done func(), err error) {
	files, err := fs.Sub(schema, "schema/"+s.dial.name)
	if err != nil {
		return nil, nil, err
	}
	options := []goose.ProviderOption{
		goose.WithDisableGlobalRegistry(true), goose.WithTableName("schema_version"), goose.WithSlog(slog.New(slog.DiscardHandler)),
	}
	if !s.dial.mysql {
		p, err = goose.NewProvider(goose.DialectSQLite3, s.db.DB, files, options...)
		return p, func() {}, err
	}
	locker, err := lock.NewMySQLTableLocker(
		lock.WithTableName("schema_lock"),
		lock.WithTableLogger(slog.New(slog.DiscardHandler)),
		lock.WithTableLockTimeout(migrationPoll, uint64(migrationWait/migrationPoll)),
		lock.WithTableUnlockTimeout(migrationPoll, 50),
	)
	if err != nil {
		return nil, nil, err
	}
	db, err := stdsql.Open("mysql", s.migrateDSN)
	if err != nil {
		return nil, nil, err
	}
	p, err = goose.NewProvider(goose.DialectMySQL, db, files, append(options, goose.WithLocker(locker))...)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return p, func() { _ = db.Close() }, nil
}

// lockMigration lets one process at a time migrate a SQLite file: goose has no lock for it.
func (s *Store) lockMigration() (unlock func(), err error) {
	if s.dial.mysql {
		return func() {}, nil
	}
	f, err := os.OpenFile(s.dial.path+".migrate", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return func() { _ = f.Close() }, nil // closing drops the lock
	}
}

// Cluster returns who the database belongs to, or ErrForeignCluster.
func (s *Store) Cluster(ctx context.Context) (Cluster, error) {
	s.mu.Lock()
	known := s.cluster
	s.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	var c Cluster
	err := s.read.QueryRowContext(ctx, `SELECT id, slots, created_at, generation FROM cluster WHERE one = 1`).Scan(&c.ID, &c.Slots, &c.CreatedAt, &c.Generation)
	if err != nil {
		return Cluster{}, fmt.Errorf("read cluster: %w", explain(err))
	}
	if s.cfg.ClusterID != "" && s.cfg.ClusterID != c.ID {
		return Cluster{}, fmt.Errorf("%w: it is of %s, we are of %s", ErrForeignCluster, c.ID, s.cfg.ClusterID)
	}
	s.mu.Lock()
	s.cluster = &c
	s.mu.Unlock()
	return c, nil
}
