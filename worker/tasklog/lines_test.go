package tasklog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Windows by line and by offset know their line, at every moment, of both streams and of
// each, however the output came.
func TestEveryWindowKnowsItsLine(t *testing.T) {
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
			if len(want[Both]) == 0 {
				return
			}
			total := bytes.Count(all, newline)
			line := rapid.IntRange(1, total+3).Draw(t, "line")
			lines := rapid.IntRange(0, 3).Draw(t, "lines")
			limit := rapid.IntRange(1, 5000).Draw(t, "limit")
			for range rapid.IntRange(1, 3).Draw(t, "windows") { // the later ones by offset, from where the last one ended
				at, number := startOf(all, line)
				got, err := s.Read(key, Query{Stream: stream, Line: int64(line), Lines: lines, Limit: limit})
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				data := all[at:min(len(all), at+limit)]
				if lines > 0 {
					data = firstLines(data, lines)
				}
				if !bytes.Equal(got.Data, data) || got.Offset != int64(at) || got.Line != int64(number) || got.Newlines != int64(total) {
					t.Fatalf("%s: line %d of stream %d: %d bytes at %d, line %d of %d; want %d at %d, line %d of %d", when, line, stream,
						len(got.Data), got.Offset, got.Line, got.Newlines, len(data), at, number, total)
				}
				next := got.Offset + int64(len(got.Data))
				more, err := s.Read(key, Query{Stream: stream, Offset: next, Limit: limit})
				if err != nil || more.Offset != next || more.Line != int64(bytes.Count(all[:next], newline))+1 || !bytes.Equal(more.Data, all[next:min(len(all), int(next)+limit)]) {
					t.Fatalf("%s: window at %d: %d bytes at %d in line %d, %v", when, next, len(more.Data), more.Offset, more.Line, err)
				}
				line = min(total+1, line+1)
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "writes") {
			stream := Stream(rapid.IntRange(0, 1).Draw(t, "stream"))
			piece := bytes.Repeat([]byte{'x'}, rapid.IntRange(0, 3000).Draw(t, "width"))
			if rapid.Bool().Draw(t, "ended") {
				piece = append(piece, '\n')
			}
			data := bytes.Repeat(piece, rapid.IntRange(1, 12).Draw(t, "times"))
			l.Write(stream, data)
			want[stream] = append(want[stream], data...)
			want[Both] = append(want[Both], data...)
			now = now.Add(300 * time.Millisecond)
			l.Age(now)
			check("running")
		}
		l.Close()
		check("closed")
		s.Flush()
		check("flushed")
		_ = s.Close()
		s = open(t, dir)
		check("after a restart")
		_ = s.Close()
	})
}

func startOf(all []byte, line int) (at, number int) {
	for number = 1; number < line; number++ {
		n := bytes.IndexByte(all[at:], '\n')
		if n < 0 {
			return len(all), bytes.Count(all, newline) + 1
		}
		at += n + 1
	}
	return at, number
}

func firstLines(data []byte, n int) []byte {
	at := 0
	for ; n > 0; n-- {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return data
		}
		at += i + 1
	}
	return data[:at]
}

// longLog writes so many lines of 100 bytes in pieces that have a gap among them.
func longLog(t *testing.T, s *Store, key Key, count int) *Log {
	t.Helper()
	l := s.NewLog(key, begin)
	var buf []byte
	for i := range count {
		buf = fmt.Appendf(buf, "%-99d\n", i+1)
		if len(buf) > 40_000 {
			l.Write(Stdout, buf)
			buf = buf[:0]
		}
	}
	l.Write(Stdout, buf)
	return l
}

func TestLinesKeepTheirNumbersBehindTheGap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	key := Key{Instance: 1}
	const count = 900_000 // 86 MiB, of which 16 and about 50 are kept
	l := longLog(t, s, key, count)
	check := func(when string) {
		t.Helper()
		var gap Gap
		for _, line := range []int64{1, 2, 100_000, 800_000, 899_999, 900_000} {
			got, err := s.Read(key, Query{Stream: Both, Line: line, Lines: 1})
			if err != nil || string(bytes.TrimSpace(got.Data)) != fmt.Sprint(line) || got.Offset != (line-1)*100 || got.Line != line {
				t.Errorf("%s: line %d = %q at %d, line %d, %v", when, line, got.Data, got.Offset, got.Line, err)
			}
			gap = got.Gap
		}
		if gap.From != 100*gap.LinesFrom+gap.From%100 || gap.To/100 != gap.LinesTo || gap.To-gap.From < 10<<20 {
			t.Errorf("%s: gap = %+v", when, gap)
		}
		for _, line := range []int64{gap.LinesFrom + 2, gap.LinesTo} {
			got, err := s.Read(key, Query{Stream: Both, Line: line})
			if err != nil || got.Offset != gap.From || !bytes.Contains(got.Data, []byte("left out here")) {
				t.Errorf("%s: line %d in the gap = %q at %d, %v", when, line, got.Data, got.Offset, err)
			}
		}
		got, err := s.Read(key, Query{Stream: Both, Line: gap.LinesTo + 1})
		if err != nil || got.Offset != gap.To || got.Line != gap.LinesTo+1 {
			t.Errorf("%s: the first line behind the gap is at %d, line %d, %v; gap %+v", when, got.Offset, got.Line, err, gap)
		}
	}
	check("running")
	l.Close()
	check("closed")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	check("after a restart")
}

// Pieces that an older runner has left say nothing of lines: they are counted.
func TestPiecesOfAnOlderRunnerAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	key := Key{Instance: 1}
	longLog(t, s, key, 100_000).Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"0", "1", "2"} {
		path := filepath.Join(s.bigFolder(key), name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint64(data, oldMagic)
		if err := os.WriteFile(path, slices.Delete(data, oldHead, pieceHead), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, dir)
	for _, line := range []int64{1, 60_000, 100_000} {
		got, err := s.Read(key, Query{Stream: Both, Line: line, Lines: 1})
		if err != nil || string(bytes.TrimSpace(got.Data)) != fmt.Sprint(line) || got.Newlines != 100_000 {
			t.Errorf("line %d = %q of %d, %v", line, got.Data, got.Newlines, err)
		}
	}
}
