package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

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
	dash := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	ratio, met := "-", "-"
	if r.Ratio != 0 {
		ratio = fmt.Sprintf("%.2f", r.Ratio)
	}
	if r.Bar != "" {
		met = "yes"
		if r.Missed {
			met = "NO"
		}
	}
	return []string{r.What, dash(r.Limit), r.Ours, ratio, dash(r.Bar), met}
}

// report is a whole run.
type report struct {
	Machine    string `json:"machine"`
	LoadBefore string `json:"load_before"`
	LoadAfter  string `json:"load_after"`
	Rows       []row  `json:"rows"`
}

func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nLoad average over 1, 5 and 15 minutes: %s before the run, %s after it.\n\n", r.Machine, r.LoadBefore, r.LoadAfter)
	b.WriteString("| what | limit, measured in the same run | ours | ratio | bar | met |\n|---|---|---|---|---|---|\n")
	for _, line := range r.Rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(line.cells(), " | "))
	}
	return b.String()
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

// machine says when and on what it was measured.
func machine() string {
	cpu := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	kernel := "unknown"
	var u syscall.Utsname
	if syscall.Uname(&u) == nil {
		var b strings.Builder
		for _, c := range u.Release {
			if c == 0 {
				break
			}
			b.WriteByte(byte(c))
		}
		kernel = b.String()
	}
	return fmt.Sprintf("Measured %s UTC: %d cores (%s), Linux %s, %s.", time.Now().UTC().Format("2006-01-02 15:04"), runtime.NumCPU(), cpu, kernel, runtime.Version())
}

// load is the load average: a number above the cores means that others were at work.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}
