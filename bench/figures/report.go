package figures

import (
	"errors"
	"fmt"
)

// Row is one line of the table.
type Row struct {
	What   string  `json:"what"`
	Limit  string  `json:"limit,omitempty"` // what the machine can do at all, in words
	Ours   string  `json:"ours"`
	N      int     `json:"n,omitempty"`     // runs of which Ours is the median, or samples
	Ratio  float64 `json:"ratio,omitempty"` // ours to the limit's; 0 for none
	Bar    string  `json:"bar,omitempty"`
	Missed bool    `json:"missed"`
	Value  float64 `json:"value"` // of Ours, in its unit
}

func (r Row) cells() []string {
	ratio, met, n := "", "", ""
	if r.N > 0 {
		n = fmt.Sprint(r.N)
	}
	if r.Ratio != 0 {
		ratio = fmt.Sprintf("%.2f", r.Ratio)
	}
	if r.Bar != "" {
		met = Met(!r.Missed)
	}
	return []string{r.What, r.Limit, r.Ours, n, ratio, r.Bar, met}
}

// Report is a whole run.
type Report struct {
	Machine    string `json:"machine"`
	LoadBefore string `json:"load_before"`
	LoadAfter  string `json:"load_after"`
	Rows       []Row  `json:"rows"`
}

// Markdown is the table, with the machine above it.
func (r Report) Markdown() string {
	rows := make([][]string, len(r.Rows))
	for i, line := range r.Rows {
		rows[i] = line.cells()
	}
	return fmt.Sprintf("%s\n\nLoad average over 1, 5 and 15 minutes: %s before the run, %s after it.\n\n", r.Machine, r.LoadBefore, r.LoadAfter) +
		Table([]string{"what", "limit, measured in the same run", "ours", "n", "ratio", "bar", "met"}, rows)
}

// Missed names the bars that were missed.
func (r Report) Missed() error {
	var wrong []error
	for _, line := range r.Rows {
		if line.Missed {
			wrong = append(wrong, fmt.Errorf("%s: %s, the bar is %s", line.What, line.Ours, line.Bar))
		}
	}
	return errors.Join(wrong...)
}
