package tasklog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Config says where output is kept and for how long.
type Config struct {
	Dir      string
	MaxBytes int64         // of all that is here; 0: 4 GiB
	MaxAge   time.Duration // 0: 14 days
	Logger   hclog.Logger
}

// Store keeps the output of attempts. Open logs are written by one goroutine, which also
// calls Flush; Read and Prune may be called beside it.
type Store struct {
	cfg Config

	mu      sync.Mutex // guards the tables; the files have one writer
	live    map[Key]*Log
	pending []*Log // closed, short, not yet in a segment
	active  *segment
	sealed  []*segment // oldest first
}

// Open opens the folder, made if it is not there, and indexes what a crash left open.
func Open(cfg Config) (*Store, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = 4 << 30
	}
	if cfg.MaxAge == 0 {
		cfg.MaxAge = 14 * 24 * time.Hour
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	s := &Store{cfg: cfg, live: map[Key]*Log{}}
	if err := os.MkdirAll(filepath.Join(cfg.Dir, "big"), 0o700); err != nil {
		return nil, fmt.Errorf("make folder for output: %w", err)
	}
	var err error
	if s.sealed, err = openSegments(cfg.Dir); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Store) bigFolder(key Key) string { return filepath.Join(s.cfg.Dir, "big", key.folder()) }

func (s *Store) dropped(key Key, err error) {
	s.cfg.Logger.Warn("output dropped", "instance", key.Instance, "task", key.Task, "attempt", key.Number, "error", err)
}

// NewLog begins the output of an attempt.
func (s *Store) NewLog(key Key, now time.Time) *Log {
	l := &Log{store: s, key: key, born: now, last: -1}
	s.mu.Lock()
	s.live[key] = l
	s.mu.Unlock()
	return l
}

func (s *Store) closed(l *Log, short bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if short && l.end.of(Both) > 0 {
		s.pending = append(s.pending, l)
		return
	}
	if s.live[l.key] == l {
		delete(s.live, l.key)
	}
}

// Flush puts the short logs that were closed since the last call into the segment, with
// one write. What the disk refuses is dropped.
func (s *Store) Flush() {
	s.mu.Lock()
	batch := s.pending
	s.pending = nil
	active := s.active
	s.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	if active == nil {
		var err error
		if active, err = newSegment(s.cfg.Dir); err != nil {
			s.forget(batch, nil, nil)
			s.dropped(batch[0].key, err)
			return
		}
	}
	places, err := active.write(batch)
	if err != nil {
		s.dropped(batch[0].key, err)
	}
	s.forget(batch, active, places)
	if active.full() {
		if err := active.seal(); err != nil {
			s.cfg.Logger.Warn("segment not sealed", "path", active.path, "error", err)
		}
		s.mu.Lock()
		s.sealed = append(s.sealed, active)
		s.active = nil
		s.mu.Unlock()
	}
}

func (s *Store) forget(batch []*Log, active *segment, places []place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = active
	for i, l := range batch {
		if places != nil {
			active.index[l.key] = places[i]
		}
		if s.live[l.key] == l {
			delete(s.live, l.key)
		}
	}
}

// Read returns a window of an attempt's output. A negative offset counts from the end;
// limit is at most MaxRead, 0 means that. It returns ErrNotFound where nothing is known
// of the attempt.
func (s *Store) Read(key Key, stream Stream, offset int64, limit int) (Text, error) {
	for try := 0; ; try++ {
		v, err := s.view(key)
		if err != nil {
			return Text{}, err
		}
		text, err := v.read(stream, offset, limit)
		// A piece of the tail may go between the view and the read.
		if err != nil && errors.Is(err, fs.ErrNotExist) && try < 3 {
			continue
		}
		return text, err
	}
}

func (s *Store) view(key Key) (view, error) {
	s.mu.Lock()
	l := s.live[key]
	var at place
	active, found := s.active, false
	if active != nil {
		at, found = active.index[key]
	}
	sealed := s.sealed
	s.mu.Unlock()
	if l != nil {
		return l.view(), nil
	}
	if found {
		return active.view(at)
	}
	for _, old := range slices.Backward(sealed) {
		at, ok, err := old.find(key)
		if err != nil {
			continue // pruned meanwhile
		}
		if ok {
			return old.view(at)
		}
	}
	return openBig(s.bigFolder(key))
}

// Close seals the segment in the making. No log may be open.
func (s *Store) Close() error {
	s.Flush()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active == nil {
		return nil
	}
	err := s.active.seal()
	s.sealed, s.active = append(s.sealed, s.active), nil
	return err
}
