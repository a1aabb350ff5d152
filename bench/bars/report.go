package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/bench/site"
)

// document is where -write puts the table, between the two marks.
const (
	document  = "docs/performance.md"
	markBegin = "<!-- bars begin: written by `go run ./bench/bars -write` -->"
	markEnd   = "<!-- bars end -->"
)

// row is one line of the table, report a whole run.
type (
	row    = figures.Row
	report struct{ figures.Report }
)

// write replaces what is between the marks of the document.
func (r report) write() error {
	root, err := site.Root()
	if err != nil {
		return err
	}
	path := filepath.Join(root, filepath.FromSlash(document))
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	before, rest, found := bytes.Cut(text, []byte(markBegin))
	_, after, ended := bytes.Cut(rest, []byte(markEnd))
	if !found || !ended {
		return fmt.Errorf("write the table: %s lacks the lines %q and %q", document, markBegin, markEnd)
	}
	whole := fmt.Sprintf("%s%s\n%s\n%s%s", before, markBegin, r.Markdown(), markEnd, after)
	if err := os.WriteFile(path, []byte(whole), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
