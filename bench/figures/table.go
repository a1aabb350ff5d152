package figures

import (
	"fmt"
	"strings"
	"time"
)

// Table writes rows as a table of Markdown; an empty cell is a dash.
func Table(header []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		for _, cell := range cells {
			if cell == "" {
				cell = "-"
			}
			b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	line(header)
	b.WriteString(strings.Repeat("|---", len(header)) + "|\n")
	for _, row := range rows {
		line(row)
	}
	return b.String()
}

// Met is the word for a bar that is met or missed.
func Met(ok bool) string {
	if ok {
		return "yes"
	}
	return "NO"
}

// Spread is one thing that was measured many times, with its bars; a bar of 0 is none.
type Spread struct {
	What   string
	Took   []time.Duration
	Middle time.Duration // bar of p50
	Bar    time.Duration // bar of p99
}

// Met says whether it was measured at all and both bars were kept.
func (s Spread) Met() bool {
	return len(s.Took) > 0 && (s.Middle == 0 || Median(s.Took) <= s.Middle) && (s.Bar == 0 || Quantile(s.Took, 0.99) <= s.Bar)
}

// bars are the bars in words.
func (s Spread) bars() string {
	var words []string
	if s.Middle > 0 {
		words = append(words, fmt.Sprintf("p50 <= %s", s.Middle))
	}
	if s.Bar > 0 {
		words = append(words, fmt.Sprintf("p99 <= %s", s.Bar))
	}
	return strings.Join(words, ", ")
}

// Spreads writes what was measured as a table of Markdown.
func Spreads(all []Spread) string {
	var rows [][]string
	for _, s := range all {
		met := ""
		if s.Middle > 0 || s.Bar > 0 {
			met = Met(s.Met())
		}
		rows = append(rows, []string{
			s.What, fmt.Sprint(len(s.Took)), Short(Median(s.Took)), Short(Quantile(s.Took, 0.99)), Short(Quantile(s.Took, 1)), s.bars(), met,
		})
	}
	return Table([]string{"what", "trials", "p50", "p99", "worst", "bar", "met"}, rows)
}
