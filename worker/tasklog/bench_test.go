package tasklog

import (
	"testing"
	"time"
)

// BenchmarkShortOutput is one line of an attempt, from its log's beginning to its place in the segment; as many as end
// together share a write.
func BenchmarkShortOutput(b *testing.B) {
	const together = 16
	s, err := Open(Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	line, now := []byte("x\n"), time.Now()
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		n++
		l := s.NewLog(Key{Instance: n, Number: 1}, now)
		l.Write(Stdout, line)
		l.Close()
		if n%together == 0 {
			s.Flush()
		}
	}
	s.Flush()
}
