// Package journal is an append-only file of small records, each with its length and a
// CRC, that survives kill -9 of its writer at any byte. It owns the framing, the cut of
// a torn end, the sync in the background and the rewrite that keeps a file small; it
// never looks into a record. The worker's outbox and the runner keep their state in one
// file each.
package journal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// headerBytes is length, CRC and kind before each record.
	headerBytes = 9
	// MaxRecord bounds one record; a longer length in a file is damage.
	MaxRecord = 16 << 20
	// syncEvery is how long written records may wait for their fsync. A power loss
	// within it may repeat an attempt; a crash of the process loses nothing.
	syncEvery = 50 * time.Millisecond
)

var table = crc32.MakeTable(crc32.Castagnoli)

// ErrTooLarge is returned for a record over MaxRecord.
var ErrTooLarge = errors.New("record over 16 MiB")

// Record is one entry: a kind that its user chose, and its bytes.
type Record struct {
	Kind byte
	Data []byte
}

// File is an open journal. Append, Size and Rewrite are for one goroutine at a time;
// Run goes beside them.
type File struct {
	path  string
	dirty chan struct{}

	mu   sync.Mutex // guards file against Rewrite while Run syncs
	file *os.File

	size int64
	buf  []byte
}

// Open reads the journal at path, made with mode 0600 if it is not there, and calls
// each for every whole record in order; data is valid during the call only. What
// follows the last whole record, a torn write, is cut off.
func Open(path string, each func(kind byte, data []byte) error) (*File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	good, err := replay(file, each)
	if err == nil {
		err = file.Truncate(good)
	}
	if err == nil {
		_, err = file.Seek(good, io.SeekStart)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("read journal %s: %w", path, err)
	}
	return &File{path: path, file: file, size: good, dirty: make(chan struct{}, 1)}, nil
}

// replay returns where the last whole record ends.
func replay(file *os.File, each func(kind byte, data []byte) error) (int64, error) {
	in := newReader(file)
	var good int64
	for {
		record, err := in.next()
		if err != nil {
			return good, nil //nolint:nilerr // a torn or damaged end ends the journal
		}
		if err := each(record.Kind, record.Data); err != nil {
			return 0, err
		}
		good += int64(headerBytes + len(record.Data))
	}
}

// Append writes the records with one write. They survive the end of this process when
// it returns, and a power loss a little later.
func (f *File) Append(records ...Record) error {
	if len(records) == 0 {
		return nil
	}
	buf, err := frame(f.buf[:0], records)
	if err != nil {
		return err
	}
	f.buf = buf
	if cap(buf) > 1<<20 {
		f.buf = nil
	}
	n, err := f.file.Write(buf)
	if err != nil {
		// A torn record in the middle would hide all that follow it.
		if n > 0 {
			_ = f.file.Truncate(f.size)
			_, _ = f.file.Seek(f.size, io.SeekStart)
		}
		return fmt.Errorf("append to journal %s: %w", f.path, err)
	}
	f.size += int64(n)
	select {
	case f.dirty <- struct{}{}:
	default:
	}
	return nil
}

func frame(buf []byte, records []Record) ([]byte, error) {
	for _, r := range records {
		if len(r.Data) > MaxRecord {
			return nil, ErrTooLarge
		}
		var head [headerBytes]byte
		binary.LittleEndian.PutUint32(head[0:], uint32(len(r.Data)))
		head[8] = r.Kind
		sum := crc32.Update(crc32.Checksum(head[8:9], table), table, r.Data)
		binary.LittleEndian.PutUint32(head[4:], sum)
		buf = append(buf, head[:]...)
		buf = append(buf, r.Data...)
	}
	return buf, nil
}

// Size is the length of the file in bytes: its user decides by it when to Rewrite.
func (f *File) Size() int64 { return f.size }

// Rewrite replaces all records by these, at once or not at all.
func (f *File) Rewrite(records []Record) error {
	buf, err := frame(nil, records)
	if err != nil {
		return err
	}
	next := f.path + ".new"
	file, err := os.OpenFile(next, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("rewrite journal: %w", err)
	}
	if _, err = file.Write(buf); err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = os.Rename(next, f.path)
	}
	if err != nil {
		_ = file.Close()
		return fmt.Errorf("rewrite journal %s: %w", f.path, err)
	}
	f.mu.Lock()
	old := f.file
	f.file, f.size = file, int64(len(buf))
	f.mu.Unlock()
	_ = old.Close()
	return syncDir(filepath.Dir(f.path))
}

// Run syncs what Append wrote, in batches, until ctx ends, and once more then.
func (f *File) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return f.sync()
		case <-f.dirty:
		}
		// An error here is one of the disk: Append meets it too and its user acts.
		_ = f.sync()
		select {
		case <-ctx.Done():
		case <-time.After(syncEvery):
		}
	}
}

// sync holds mu over the fsync on purpose: only Rewrite waits for it.
func (f *File) sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.file.Sync(); err != nil {
		return fmt.Errorf("sync journal %s: %w", f.path, err)
	}
	return nil
}

// Close closes the file; Run must have returned.
func (f *File) Close() error { return f.file.Close() }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}
