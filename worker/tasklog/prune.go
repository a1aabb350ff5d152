package tasklog

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Prune deletes what is over the age, then the oldest until the rest is under the bound.
// Output of attempts that run is never touched.
func (s *Store) Prune(now time.Time) {
	type thing struct {
		path  string
		at    time.Time
		bytes int64
	}
	busy := s.busy()
	var all []thing
	var total int64
	for _, pattern := range []string{"seg-*", "big/*"} {
		paths, _ := filepath.Glob(filepath.Join(s.cfg.Dir, pattern))
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				continue
			}
			t := thing{path: path, at: info.ModTime(), bytes: info.Size()}
			if info.IsDir() {
				t.bytes = folderBytes(path)
			}
			total += t.bytes
			if !busy[path] {
				all = append(all, t)
			}
		}
	}
	slices.SortFunc(all, func(a, b thing) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	for _, t := range all {
		if total <= s.cfg.MaxBytes && now.Sub(t.at) <= s.cfg.MaxAge {
			break
		}
		if err := os.RemoveAll(t.path); err != nil {
			s.cfg.Logger.Warn("old output not deleted", "path", t.path, "error", err)
			continue
		}
		total -= t.bytes
		s.lose(t.path)
	}
}

// busy holds the paths that are being written.
func (s *Store) busy() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	paths := make(map[string]bool, len(s.live)+1)
	if s.active != nil {
		paths[s.active.path] = true
	}
	for key := range s.live {
		paths[s.bigFolder(key)] = true
	}
	return paths
}

func (s *Store) lose(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks = [maxMarks]mark{}
	s.ended = nil
	if !strings.HasPrefix(filepath.Base(path), "seg-") {
		return
	}
	// Readers hold the old slice: make a new one.
	s.sealed = slices.DeleteFunc(slices.Clone(s.sealed), func(g *segment) bool { return g.path == path })
}

func folderBytes(dir string) int64 {
	entries, _ := os.ReadDir(dir)
	var n int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}
