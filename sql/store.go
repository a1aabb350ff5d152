package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	stdsql "database/sql"

	"github.com/hashicorp/go-hclog"
	"github.com/jmoiron/sqlx"

	"github.com/porpoise/porpoise/dag"
)

// Config says which database a Store uses and how.
type Config struct {
	// DSN is "sqlite:PATH" for a file, or "mysql:DSN" with a DSN of go-sql-driver/mysql.
	DSN string
	// ClusterID, where set, must be the cluster's: a database of another one is refused.
	ClusterID string
	// Slots is the number of slots that Migrate gives to a cluster that is born; 0 is 256.
	Slots int
	// Relaxed lets SQLite return before a commit is on the disk: a power loss may lose the last ones.
	Relaxed bool
	// Isolation is of every transaction on MySQL; the zero value is the server's default.
	Isolation stdsql.IsolationLevel
	// MaxOpen bounds the connections to MySQL, or SQLite's readers; 0 is 16 and 4.
	MaxOpen int
	Logger  hclog.Logger
	// Now is the clock for rows that carry no time of their caller; nil is time.Now.
	Now func() time.Time
}

// defaultSlots is enough for 64 masters of weight 4, and a list of them is still short.
const defaultSlots = 256

// Store is one database. It is safe for concurrent use by any number of goroutines; several
// processes may each have their own Store of the same database.
type Store struct {
	cfg  Config
	log  hclog.Logger
	dial *dialect
	db   *sqlx.DB   // writes; on SQLite one connection
	read *reader    // the same database; on MySQL the same pool
	hot  *stdsql.DB // the writer's one connection to MySQL; nil on SQLite
	ids  blocks
	now  func() time.Time
	// trace, where a test sets it, sees the queries of the readers.
	trace func(query string, args []any)
	// migrateDSN is MySQL's for migrations, "" on SQLite.
	migrateDSN string

	writer   *writer
	versions *versionCache

	mu      sync.Mutex
	cluster *Cluster // once read; it never changes
}

// Open connects to the database and checks that it answers. The schema may still be missing:
// see Migrate. Close must be called.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	if cfg.Slots == 0 {
		cfg.Slots = defaultSlots
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Store{
		cfg: cfg, log: cfg.Logger.Named("sql"), now: cfg.Now, versions: newVersionCache(),
		ids: blocks{turn: make(chan struct{}, 1)},
	}
	kind, rest, _ := strings.Cut(cfg.DSN, ":")
	var err error
	switch kind {
	case "sqlite":
		err = s.openSQLite(ctx, rest)
	case "mysql":
		err = s.openMySQL(ctx, rest)
	default:
		return nil, fmt.Errorf("database %q: want sqlite:PATH or mysql:DSN", kind)
	}
	if err != nil {
		return nil, err
	}
	s.writer = newWriter(s)
	return s, nil
}

// Close ends the store; writes under way are finished first, later ones return ErrClosed.
func (s *Store) Close() error {
	s.writer.close()
	err := s.db.Close()
	if s.read.DB != s.db {
		if rerr := s.read.Close(); err == nil {
			err = rerr
		}
	}
	if s.hot != nil {
		err = errors.Join(err, s.hot.Close())
	}
	return err
}

// Ping asks the database for a sign of life; ErrUnavailable when there is none.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.db.PingContext(ctx); err != nil {
		return fmt.Errorf("ping database: %w: %w", ErrUnavailable, err)
	}
	return nil
}

func (s *Store) millis() dag.Millis { return dag.MillisOf(s.now()) }
