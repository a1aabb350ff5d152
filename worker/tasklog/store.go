package tasklog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
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
	cfg  Config
	lost atomic.Int64 // bytes that the disk did not take
	said atomic.Int64 // when that was told last, UTC ns

	mu      sync.Mutex // guards the tables; the files have one writer
	live    map[Key]*Log
	pending []*Log // closed, short, not yet in a segment
	active  *segment
	sealed  []*segment // oldest first

	marks    [maxMarks]mark // where readers stopped
	nextMark int
	ended    map[Key]view // of folders; at most maxEnded
}

// maxEnded is how many folders are kept open for readers, as tables of pieces.
const maxEnded = 32

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

// warnEvery is how often it is said that output is dropped: a full disk drops that of every attempt.
const warnEvery = 10 * time.Second

// dropped counts output that the disk did not take.
func (s *Store) dropped(key Key, bytes int64, err error) {
	s.lost.Add(bytes)
	now := time.Now().UnixNano()
	if said := s.said.Load(); now-said < warnEvery.Nanoseconds() || !s.said.CompareAndSwap(said, now) {
		return
	}
	s.cfg.Logger.Warn("output dropped", "instance", key.Instance, "task", key.Task, "attempt", key.Number, "all_so_far", s.lost.Load(), "error", err)
}

// Dropped is how many bytes of output the disk has not taken.
func (s *Store) Dropped() int64 { return s.lost.Load() }

// sizeOf is the output of all these logs.
func sizeOf(logs []*Log) (n int64) {
	for _, l := range logs {
		n += l.end.of(Both)
	}
	return n
}

// NewLog begins the output of an attempt.
func (s *Store) NewLog(key Key, now time.Time) *Log {
	l := &Log{store: s, key: key, born: now, last: -1}
	s.mu.Lock()
	s.live[key] = l
	delete(s.ended, key)
	s.marks = [maxMarks]mark{} // they may be of a file that is written anew
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
			s.dropped(batch[0].key, sizeOf(batch), err)
			return
		}
	}
	places, err := active.write(batch)
	if err != nil {
		s.dropped(batch[0].key, sizeOf(batch), err)
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

// Read returns a window of an attempt's output. It returns ErrNotFound where nothing is
// known of the attempt.
func (s *Store) Read(key Key, q Query) (Text, error) {
	for try := 0; ; try++ {
		v, err := s.view(key)
		if err != nil {
			return Text{}, err
		}
		near := s.markOf(key, q)
		text, err := v.read(q, &near)
		// A piece of the tail may go between the view and the read.
		if err != nil && errors.Is(err, fs.ErrNotExist) && try < 3 {
			continue
		}
		if err == nil {
			s.keepMark(key, near)
		}
		return text, err
	}
}

func (s *Store) markOf(key Key, q Query) mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.marks {
		if m.file > 0 && q.Line == 0 && m.key == key && m.stream == q.Stream && m.at == q.Offset {
			return m
		}
	}
	return mark{}
}

func (s *Store) keepMark(key Key, m mark) {
	if m.file == 0 {
		return
	}
	m.key = key
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks[s.nextMark] = m
	s.nextMark = (s.nextMark + 1) % maxMarks
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
	return s.big(key)
}

// big gives the view of a folder whose attempt has ended. It never changes, and to make
// it costs as much as reading two pieces: the last few are kept.
func (s *Store) big(key Key) (view, error) {
	s.mu.Lock()
	v, ok := s.ended[key]
	s.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := openBig(s.bigFolder(key))
	if err != nil {
		return view{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil || len(s.ended) >= maxEnded {
		s.ended = make(map[Key]view, maxEnded)
	}
	s.ended[key] = v
	return v, nil
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
