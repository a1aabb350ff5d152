package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A change that moves a planted text must move the mutant, too: found here in a moment, and not
// when somebody tries them all.
func TestEveryPlantedTextStandsOnceInItsFile(t *testing.T) {
	t.Parallel()
	chosen, err := choose("", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range chosen {
		text, err := os.ReadFile(filepath.Join(m.dir, m.file))
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if n := strings.Count(string(text), m.old); n != 1 {
			t.Errorf("%s: its text stands %d times in %s/%s:\n%s", m.name, n, m.target.pkg, m.file, m.old)
		}
	}
}
