package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// show prints rows as a table, or value as JSON when that was asked for.
func (c *cli) show(value any, head []string, rows [][]string) error {
	if c.output == "json" {
		return c.json(value)
	}
	return table(c.out, head, rows)
}

func (c *cli) json(value any) error {
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// table prints columns, each as wide as its widest cell. Cells are made printable, so
// that a name can't steer the terminal.
func table(w io.Writer, head []string, rows [][]string) error {
	width := make([]int, len(head))
	all := append([][]string{head}, rows...)
	for _, row := range all {
		for i := range row {
			row[i] = printable(row[i])
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range all {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// printable replaces what is not, such as escape sequences in somebody's text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// at shows a moment in the reader's own zone, "" for none.
func at(t client.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// took shows how long something has taken, "" before it began.
func took(from, to client.Time, now time.Time) string {
	if from.IsZero() {
		return ""
	}
	end := to.Time
	if end.IsZero() {
		end = now
	}
	return short(end.Sub(from.Time))
}

// short rounds a duration to what a person reads at a glance.
func short(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

// terminal returns w's width where w is a terminal.
func terminal(w io.Writer) (width, height int, ok bool) {
	f, is := w.(*os.File)
	if !is || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return 0, 0, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	return width, height, err == nil
}
