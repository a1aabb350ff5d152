package journal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

func load(t rapid.TB, path string) (f *File, records []string) {
	t.Helper()
	f, err := Open(path, func(kind byte, data []byte) error {
		records = append(records, fmt.Sprint(kind, string(data)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return f, records
}

func TestATornEndIsCutOffAndWritingGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "j")
		_ = os.Remove(path)
		f, _ := load(t, path)
		n := rapid.IntRange(1, 5).Draw(t, "records")
		var ends []int64
		for i := range n {
			if err := f.Append(Record{Kind: byte(i), Data: bytes.Repeat([]byte{'x'}, rapid.IntRange(0, 40).Draw(t, "size"))}); err != nil {
				t.Fatal(err)
			}
			ends = append(ends, f.Size())
		}
		_ = f.Close()
		cut := rapid.Int64Range(0, ends[n-1]).Draw(t, "cut")
		if err := os.Truncate(path, cut); err != nil {
			t.Fatal(err)
		}
		whole := 0
		for whole < n && ends[whole] <= cut {
			whole++
		}
		f, got := load(t, path)
		if len(got) != whole {
			t.Fatalf("cut at %d of %v: %d records, want %d", cut, ends, len(got), whole)
		}
		if err := f.Append(Record{Kind: 9, Data: []byte("after")}); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		f, got = load(t, path)
		if len(got) != whole+1 || got[whole] != "9after" {
			t.Fatalf("after the cut: %v", got)
		}
		_ = f.Close()
	})
}

func TestADamagedByteEndsTheJournalThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	f, _ := load(t, path)
	if err := f.Append(Record{1, []byte("one")}, Record{2, []byte("two")}, Record{3, []byte("three")}); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	data, _ := os.ReadFile(path)
	data[headerBytes+3+headerBytes] ^= 1
	_ = os.WriteFile(path, data, 0o600)
	f, got := load(t, path)
	if fmt.Sprint(got) != "[1one]" {
		t.Errorf("records = %v", got)
	}
	_ = f.Close()
}

func TestARewriteReplacesAllWhileTheSyncRuns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	f, _ := load(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	for i := range 100 {
		if err := f.Append(Record{1, []byte("old")}); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			if err := f.Rewrite([]Record{{2, []byte("kept")}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	_ = f.Close()
	f, got := load(t, path)
	if fmt.Sprint(got) != "[2kept]" {
		t.Errorf("records = %v", got)
	}
	_ = f.Close()
}

// FuzzJournal opens whatever bytes stand in a file: what it takes is a beginning of them, stays so at
// the next opening, and is gone on from.
func FuzzJournal(f *testing.F) {
	whole, err := frame(nil, []Record{{Kind: 1, Data: []byte("one")}, {Kind: 2}, {Kind: 3, Data: bytes.Repeat([]byte("x"), 300)}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, 64))
	f.Add(append(bytes.Clone(whole), 0xff, 0xff, 0xff, 0x00, 1, 2, 3, 4, 5))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		file, first := load(t, path)
		kept, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(text, kept) || file.Size() != int64(len(kept)) {
			t.Fatalf("%d of %d bytes are kept, %v", len(kept), len(text), err)
		}
		if err := file.Append(Record{Kind: 9, Data: []byte("after")}); err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		file, second := load(t, path)
		_ = file.Close()
		if len(second) != len(first)+1 || second[len(first)] != "9after" {
			t.Fatalf("%q became %q", first, second)
		}
	})
}
