package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
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
	// Alone says that one goroutine alone calls the store. Its writes are then done by itself and wait
	// for no company, so that equal calls make equal transactions: for who steps a cluster.
	Alone bool
	// Statements, where it is set, counts what is asked of SQLite.
	Statements *Statements
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

	readsOnly atomic.Bool // the last write was refused because none is taken

	writer   *writer
	stmts    *prepared // of writes; nil on MySQL
	versions *versionCache

	mu      sync.Mutex
	cluster *Cluster // once read; it never changes
}

// Open connects to the database and checks that it answers. It returns ErrUnavailable where the next
// try may find it; a wrong password, say, is no such error. The schema may still be missing: see Migrate. Close
// must be called.
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

// Lanes is how many transactions of the hot path (Start, Claim, Commit) run beside each other, where so many callers come: SQLite has
// one writer.
func (s *Store) Lanes() int {
	if s.dial.mysql {
		return mysqlLanes
	}
	return 1
}

// Close ends the store; writes under way are finished first, later ones return ErrClosed.
func (s *Store) Close() error {
	s.writer.close()
	s.stmts.close()
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

// Ping asks the database for a sign of life; ErrUnavailable when there is none, and while it takes no
// writes: once one was refused for that, Ping writes itself until it is taken.
func (s *Store) Ping(ctx context.Context) error {
	// Not by the writer's connection, of which SQLite has only one: a long commit would look like a database that hangs.
	if err := s.read.PingContext(ctx); err != nil {
		return fmt.Errorf("ping database: %w: %w", ErrUnavailable, err)
	}
	if !s.readsOnly.Load() {
		return nil
	}
	if err := s.probe(ctx); err != nil {
		return fmt.Errorf("ping database: it takes no writes: %w", err)
	}
	return nil
}

// probeRows of probeBytes each are more than the pages that are there already have room for. A row is
// small enough to be kept whole in a page: MariaDB 10.11 ends ("out of disk space in rollback") when there is no
// space for a value that it keeps elsewhere, and nothing is asked here that could end it.
const (
	probeRows  = 16
	probeBytes = 4 << 10
)

var errProbed = errors.New("probed")

// probe writes what needs room, and takes it back.
func (s *Store) probe(ctx context.Context) error {
	err := s.writeOnce(ctx, func(tx *sqlTx) error {
		var args []any
		for seq := range probeRows {
			args = append(args, seq, strings.Repeat("x", probeBytes))
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO event (instance_id, seq, created_at, code, task_index, attempt, round, state, reason, message,
			requested_by, warning) VALUES (-1, ?, 0, '', -1, 0, 0, '', '', ?, '', 0)`+
			strings.Repeat(`, (-1, ?, 0, '', -1, 0, 0, '', '', ?, '', 0)`, probeRows-1), args...)
		if err != nil {
			return err
		}
		return errProbed
	})
	if !errors.Is(err, errProbed) {
		return explain(err)
	}
	s.readsOnly.Store(false)
	return nil
}

// note remembers whether the database took the last write.
func (s *Store) note(err error) {
	switch {
	case err == nil:
		s.readsOnly.Store(false)
	case readsOnly(err):
		s.readsOnly.Store(true)
	}
}

func (s *Store) millis() dag.Millis { return dag.MillisOf(s.now()) }
