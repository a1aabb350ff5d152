package sql

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

const (
	// sqliteBusyMillis is how long a statement waits for another process's transaction.
	// Ours take milliseconds; a checkpoint on a slow disk may take a second or two.
	sqliteBusyMillis = 5000
	// sqliteReaders suffices for two cores; each costs its own page cache.
	sqliteReaders = 4
	// sqliteCacheKiB is the page cache of the writer, and of each reader.
	sqliteCacheKiB = 8192
	// sqliteCheckpointPages is how long the log grows (16 MiB) before a commit copies it into the
	// file: four times SQLite's default, since pages that change often are then copied once.
	sqliteCheckpointPages = 4000
)

// openSQLite opens the file at path, making it and its folder private to the user. There is
// one connection for writes, because writers that queue in Go wait ten times less than those
// that poll for SQLite's lock, and a pool for reads, which WAL never blocks.
func (s *Store) openSQLite(ctx context.Context, path string) error {
	if path == "" || path == ":memory:" {
		return errors.New("database sqlite: want a file's path")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("database %s: %w", path, err)
	}
	if err := makePrivate(path); err != nil {
		return fmt.Errorf("database %s: %w", path, err)
	}
	if err := refuseNetwork(path); err != nil {
		return fmt.Errorf("database %s: %w", path, err)
	}
	s.dial = &dialect{name: "sqlite", path: path}
	synchronous := "FULL"
	if s.cfg.Relaxed {
		synchronous = "NORMAL"
	}
	s.db, err = openSQLiteDriver(sqliteDSN(path, "immediate", synchronous, ""), s.cfg.Statements)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	s.db.SetMaxOpenConns(1)
	s.db.SetMaxIdleConns(1)
	if err := s.db.PingContext(ctx); err != nil {
		return errors.Join(fmt.Errorf("open %s: %w", path, explain(err)), s.db.Close())
	}
	read, err := openSQLiteDriver(sqliteDSN(path, "deferred", synchronous, "1"), s.cfg.Statements)
	if err != nil {
		return errors.Join(fmt.Errorf("open %s: %w", path, err), s.db.Close())
	}
	readers := s.cfg.MaxOpen
	if readers == 0 {
		readers = sqliteReaders
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	s.stmts = newPrepared(s.db, s.log)
	s.read = &reader{DB: read, stmts: newPrepared(read, s.log)}
	return nil
}

func sqliteDSN(path, lock, synchronous, queryOnly string) string {
	q := url.Values{}
	q.Set("_txlock", lock)
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", sqliteBusyMillis))
	q.Add("_pragma", fmt.Sprintf("cache_size(-%d)", sqliteCacheKiB))
	if queryOnly != "" {
		q.Add("_pragma", "query_only(1)")
	} else {
		q.Add("_pragma", "journal_mode(WAL)")
		q.Add("_pragma", fmt.Sprintf("wal_autocheckpoint(%d)", sqliteCheckpointPages))
	}
	q.Add("_pragma", fmt.Sprintf("synchronous(%s)", synchronous))
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// makePrivate creates the file with mode 0600 before SQLite would with 0644; SQLite gives its
// -wal and -shm files the mode of the main file.
func makePrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("is not a regular file")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return f.Chmod(0o600)
	}
	return nil
}

// Magic numbers of file systems whose locks SQLite can't trust, from Linux's magic.h.
const (
	magicNFS  = 0x6969
	magicSMB  = 0x517b
	magicCIFS = 0xff534d42
	magicSMB2 = 0xfe534d42
	magicAFS  = 0x5346414f
	magicCeph = 0x00c36400
	magic9P   = 0x01021997
)

func refuseNetwork(path string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return err
	}
	return checkMagic(uint32(st.Type))
}

func checkMagic(magic uint32) error {
	switch magic {
	case magicNFS, magicSMB, magicCIFS, magicSMB2, magicAFS, magicCeph, magic9P:
		return errors.New("is on a network file system, where SQLite's locks do not hold: use a local disk, or MySQL")
	}
	return nil
}
