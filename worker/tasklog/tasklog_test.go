package tasklog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func open(t rapid.TB, dir string) *Store {
	t.Helper()
	s, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var begin = time.Unix(1000, 0)

// Whatever is written in which pieces, each stream reads back as it was, at every
// moment: running, ended, and after a restart.
func TestEveryWindowReadsBackWhatWasWritten(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		dir := filepath.Join(base, fmt.Sprint(round))
		s := open(t, dir)
		key := Key{Instance: 7, Task: 1, Number: 2}
		l := s.NewLog(key, begin)
		var want [3][]byte
		now := begin
		check := func(when string) {
			stream := Stream(rapid.IntRange(0, 2).Draw(t, "stream"))
			all := want[stream]
			offset := rapid.IntRange(0, len(all)).Draw(t, "offset")
			limit := rapid.IntRange(1, 100_000).Draw(t, "limit")
			got, err := s.Read(key, Query{Stream: stream, Offset: int64(offset), Limit: limit})
			if err != nil && len(want[Both]) == 0 && errors.Is(err, ErrNotFound) {
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			end := min(len(all), offset+limit)
			if !bytes.Equal(got.Data, all[offset:end]) || got.Size != int64(len(all)) || got.Offset != int64(offset) {
				t.Fatalf("%s: read stream %d from %d of %d: %d bytes at %d of %d", when, stream, offset, len(all), len(got.Data), got.Offset, got.Size)
			}
		}
		for i := range rapid.IntRange(1, 12).Draw(t, "writes") {
			stream := Stream(rapid.IntRange(0, 1).Draw(t, "stream"))
			data := bytes.Repeat([]byte{byte('a' + i)}, rapid.IntRange(0, 40_000).Draw(t, "size"))
			l.Write(stream, data)
			want[stream] = append(want[stream], data...)
			want[Both] = append(want[Both], data...)
			now = now.Add(300 * time.Millisecond)
			l.Age(now)
			check("running")
		}
		if tail := l.Tail(); !bytes.Equal(tail, want[Both][max(0, len(want[Both])-TailBytes):]) {
			t.Fatalf("tail = %d bytes", len(tail))
		}
		l.Close()
		check("closed")
		s.Flush()
		check("flushed")
		if rapid.Bool().Draw(t, "clean") {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		s = open(t, dir)
		check("after a restart")
		_ = s.Close()
	})
}

func TestSegmentsAreFoundAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	const n = segmentLogs + 500
	for i := range int64(n) {
		l := s.NewLog(Key{Instance: i}, begin)
		l.Write(Stdout, fmt.Appendf(nil, "log %d", i))
		l.Close()
		if i%1000 == 0 {
			s.Flush()
		}
	}
	s.Flush()
	check := func() {
		t.Helper()
		for _, i := range []int64{0, 1, 999, 1000, segmentLogs - 1, segmentLogs, n - 1} {
			got, err := s.Read(Key{Instance: i}, Query{Stream: Both})
			if err != nil || string(got.Data) != fmt.Sprint("log ", i) || !got.EOF {
				t.Errorf("log %d = %q, %v", i, got.Data, err)
			}
		}
		if _, err := s.Read(Key{Instance: n}, Query{Stream: Both}); !errors.Is(err, ErrNotFound) {
			t.Errorf("an unknown log: %v", err)
		}
	}
	check()
	s = open(t, dir) // as after a crash: the last segment is not sealed
	check()
	if len(s.sealed) != 2 || s.active != nil {
		t.Errorf("%d sealed segments", len(s.sealed))
	}
}

func TestOldOutputGoesByAgeAndSizeButNeverWhatRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(Config{Dir: dir, MaxBytes: 310 << 10, MaxAge: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	logs := map[int64]*Log{}
	for i := range int64(5) {
		l := s.NewLog(Key{Instance: i}, begin)
		l.Write(Stdout, make([]byte, 100<<10))
		at := now.Add(time.Duration(i-10) * time.Minute)
		_ = os.Chtimes(s.bigFolder(l.key), at, at)
		logs[i] = l
		if i != 0 {
			l.Close()
		}
	}
	old := s.bigFolder(Key{Instance: 4})
	_ = os.Chtimes(old, now.Add(-2*time.Hour), now.Add(-2*time.Hour))
	s.Prune(now)
	for i, want := range []bool{true, false, true, true, false} { // 0 runs, 4 is too old, 1 is the oldest of the rest
		_, err := s.Read(Key{Instance: int64(i)}, Query{Stream: Both})
		if (err == nil) != want {
			t.Errorf("log %d: %v, want there = %v", i, err, want)
		}
	}
	logs[0].Close()
	_ = s.Close()
}
