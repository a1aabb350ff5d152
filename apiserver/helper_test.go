package apiserver

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// golden compares text with a file of testdata; -update writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is now\n%s", file, got)
	}
}

var codeLiteral = regexp.MustCompile(`(?:Code: |e\.Code(?:, e\.Text)? = )"([a-z_]+)"`)

// codesIn lists the codes that a source file writes out.
func codesIn(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range codeLiteral.FindAllSubmatch(text, -1) {
		out = append(out, string(m[1]))
	}
	if len(out) == 0 {
		t.Fatalf("%s writes no code: the pattern is out of date", file)
	}
	return out
}
