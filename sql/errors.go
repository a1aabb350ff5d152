package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What a caller decides on. Every other error means that a request or the store's own
// code is wrong, and the text says where.
var (
	// ErrNotFound says that no such row exists.
	ErrNotFound = errors.New("not found")
	// ErrExists says that the name, or the unique trigger of a start, is taken.
	ErrExists = errors.New("exists already")
	// ErrNotOwner says that the instance has another owner or epoch: forget it.
	ErrNotOwner = errors.New("not the owner")
	// ErrStale says that the thing changed since the caller read it.
	ErrStale = errors.New("changed meanwhile")
	// ErrFull says that there are, or run, as many as a limit allows.
	ErrFull = errors.New("at its limit")
	// ErrInUse says that something still needs what was to be deleted; see InUseError.
	ErrInUse = errors.New("in use")
	// ErrIdempotencyMismatch says that the Idempotency-Key was used for another request.
	ErrIdempotencyMismatch = errors.New("idempotency key was used for another request")
	// ErrUnavailable says that the database is away or that its answer is unknown. A
	// write that returns it may be tried again: it was not done, as far as is known.
	ErrUnavailable = errors.New("database unavailable")
	// ErrBadCursor says that a list's cursor is not one of ours, or of another list.
	ErrBadCursor = errors.New("bad cursor")
	// ErrForeignCluster says that the database belongs to another cluster.
	ErrForeignCluster = errors.New("database of another cluster")
	// ErrSchema says that the schema is not the one that this program was built for.
	ErrSchema = errors.New("schema does not fit this program")
	// ErrLastOwner says that a project would be left without an owner.
	ErrLastOwner = errors.New("the project's last owner")
	// ErrCircle says that a workflow would come to start itself by its own end.
	ErrCircle = errors.New("starts itself by its own end")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("store is closed")

	errNoSecret = errors.New("its secret's hash is missing")
)

// InUseError is an ErrInUse that names what is in the way, at most ten of them.
type InUseError struct {
	What       string
	References []string
}

// Error names the first references.
func (e *InUseError) Error() string { return fmt.Sprintf("%s: in use by %v", e.What, e.References) }

// Is makes an InUseError an ErrInUse.
func (e *InUseError) Is(target error) bool { return target == ErrInUse }

// MySQL's and MariaDB's error numbers that we act on.
const (
	mysqlDuplicate     = 1062
	mysqlLockWait      = 1205
	mysqlDeadlock      = 1213
	mysqlNoWait        = 3572
	mysqlShutdown      = 1053
	mysqlTooManyConns  = 1040
	mysqlServerIsBusy  = 1203
	mysqlKilledQuery   = 1317
	mysqlKilledSession = 1927 // MariaDB
	mysqlReadOnly      = 1290
	mysqlReadOnlyMode  = 1836
	mysqlReadOnlyTx    = 1792
	mysqlDiskFull      = 1021
	mysqlWriteFailed   = 1026
	mysqlEngineFailed  = 1030 // what the storage engine got from the system, such as no space
	mysqlTableFull     = 1114 // also where the disk is
	mysqlNoTable       = 1146
	mysqlRecordChanged = 1020 // MariaDB with innodb_snapshot_isolation
)

func mysqlNumber(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number
	}
	return 0
}

func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// duplicate reports whether err is a unique key's refusal.
func duplicate(err error) bool {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return true
	}
	return mysqlNumber(err) == mysqlDuplicate
}

// noTable reports whether a statement named a table that is not there; SQLite has no code for it.
func noTable(err error) bool {
	return mysqlNumber(err) == mysqlNoTable || sqliteCode(err) == sqlite3.SQLITE_ERROR && strings.Contains(err.Error(), "no such table")
}

// retryable reports whether the whole transaction, rolled back, may well succeed now.
func retryable(err error) bool {
	switch mysqlNumber(err) {
	case mysqlLockWait, mysqlDeadlock, mysqlNoWait, mysqlRecordChanged:
		return true
	}
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return true
	}
	return false
}

// away reports whether the database could not be reached, refused to serve, or the
// connection died: nothing is wrong with the statement.
func away(err error) bool {
	var network net.Error
	switch {
	case errors.Is(err, ErrUnavailable), errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, stdsql.ErrConnDone),
		errors.Is(err, stdsql.ErrTxDone), errors.As(err, &network), errors.Is(err, context.DeadlineExceeded):
		return true
	}
	switch mysqlNumber(err) {
	case mysqlShutdown, mysqlTooManyConns, mysqlServerIsBusy, mysqlKilledQuery, mysqlKilledSession:
		return true
	}
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_INTERRUPT:
		return true
	}
	return readsOnly(err)
}

// readsOnly reports whether the database takes no writes for now, though it may well answer: its disk is
// full, or it is read-only. Nothing is wrong with the statement.
func readsOnly(err error) bool {
	switch mysqlNumber(err) {
	case mysqlReadOnly, mysqlReadOnlyMode, mysqlReadOnlyTx, mysqlDiskFull, mysqlWriteFailed, mysqlEngineFailed, mysqlTableFull:
		return true
	}
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY:
		return true
	}
	return false
}

// refused reports whether a server that is well has said that it will not write: what it was to commit
// is not committed, without a doubt.
func refused(err error) bool {
	switch mysqlNumber(err) {
	case mysqlReadOnly, mysqlReadOnlyMode, mysqlReadOnlyTx, mysqlDiskFull, mysqlTableFull:
		return true
	}
	return false
}

// broken reports whether the connection died under a transaction: another one may serve.
func broken(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || mysqlNumber(err) == mysqlKilledSession
}

// explain turns a driver's error into ours, keeping its text. It passes what is ours already.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnavailable), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, stdsql.ErrNoRows):
		return ErrNotFound
	case duplicate(err):
		return fmt.Errorf("%w: %w", ErrExists, err)
	case away(err), retryable(err):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}
