package main

import (
	"bytes"
	"errors"
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

// row is one line of the table.
type row struct {
	What   string  `json:"what"`
	Limit  string  `json:"limit,omitempty"` // what the machine can do at all, in words
	Ours   string  `json:"ours"`
	Ratio  float64 `json:"ratio,omitempty"` // ours to the limit's; 0 for none
	Bar    string  `json:"bar,omitempty"`
	Missed bool    `json:"missed"`
	Value  float64 `json:"value"` // of Ours, in its unit
}

func (r row) cells() []string {
	ratio, met := "", ""
	if r.Ratio != 0 {
		ratio = fmt.Sprintf("%.2f", r.Ratio)
	}
	if r.Bar != "" {
		met = figures.Met(!r.Missed)
	}
	return []string{r.What, r.Limit, r.Ours, ratio, r.Bar, met}
}

// report is a whole run.
type report struct {
	Machine    string `json:"machine"`
	LoadBefore string `json:"load_before"`
	LoadAfter  string `json:"load_after"`
	Rows       []row  `json:"rows"`
}

func (r report) markdown() string {
	rows := make([][]string, len(r.Rows))
	for i, line := range r.Rows {
		rows[i] = line.cells()
	}
	return fmt.Sprintf("%s\n\nLoad average over 1, 5 and 15 minutes: %s before the run, %s after it.\n\n", r.Machine, r.LoadBefore, r.LoadAfter) +
		figures.Table([]string{"what", "limit, measured in the same run", "ours", "ratio", "bar", "met"}, rows)
}

// missed names the bars that were missed.
func (r report) missed() error {
	var wrong []error
	for _, line := range r.Rows {
		if line.Missed {
			wrong = append(wrong, fmt.Errorf("%s: %s, the bar is %s", line.What, line.Ours, line.Bar))
		}
	}
	return errors.Join(wrong...)
}

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
	whole := fmt.Sprintf("%s%s\n%s\n%s%s", before, markBegin, r.markdown(), markEnd, after)
	if err := os.WriteFile(path, []byte(whole), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
