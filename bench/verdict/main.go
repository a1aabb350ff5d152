// Command verdict judges what a chaos run has left: it reads the tasks' evidence, the
// client's history, the database's audit, the registry's log, the scans of the process
// table and the product's logs, and prints which promises were held, with the lines that
// prove every one that was not.
//
// It shares no code with the product and none with what made the files: it knows the
// published words of the schema (docs/STATES.md) and the files' keys. It exits 0 for a good
// run, 1 for a bad one, and 2 where it could not judge. bench/chaos calls it; so may you,
// on the folder of an earlier run.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// maxProof bounds the lines that are quoted for one violation, maxViolations what is told
// of one promise: the first ones show the fault.
const (
	maxProof      = 8
	maxViolations = 10
)

// Violation is a promise that was not held.
type Violation struct {
	Promise string   `json:"promise"`
	Text    string   `json:"text"`
	Proof   []string `json:"proof,omitempty"`
}

// Promise is what was held against the evidence, or why it could not be.
type Promise struct {
	ID         string `json:"id"`
	Text       string `json:"text"`
	Held       bool   `json:"held"`                 // it was looked at, and nothing spoke against it
	Looked     int    `json:"looked"`               // at so many facts
	Violations int    `json:"violations,omitempty"` // also those that are not quoted
	NotYet     string `json:"not_yet,omitempty"`    // why it is not looked at
}

// Verdict is the answer.
type Verdict struct {
	Good       bool              `json:"good"`
	Seed       uint64            `json:"seed"`
	Seconds    float64           `json:"seconds"`
	Faults     map[string]int    `json:"faults"`
	FaultTotal int               `json:"fault_total"`
	Starts     int               `json:"starts"`
	Attempts   int               `json:"attempts"`
	Instances  int               `json:"instances"`
	RestMS     int64             `json:"rest_ms"`
	Load       map[string]any    `json:"load"`
	Notes      map[string]int    `json:"notes,omitempty"` // what the promises allow, counted
	Short      []string          `json:"short,omitempty"` // why the run counts for nothing
	Held       []string          `json:"held"`
	NotYet     map[string]string `json:"not_yet"`
	Promises   []Promise         `json:"promises,omitempty"` // in the file only
	Violations []Violation       `json:"violations"`
	Versions   map[string]string `json:"versions"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: verdict FOLDER")
		os.Exit(2)
	}
	w, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
		os.Exit(2)
	}
	v := w.judge()
	text, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(os.Args[1], "verdict.json"), append(text, '\n'), 0o600)
	}
	v.Promises = nil
	if err == nil {
		text, err = json.MarshalIndent(v, "", "  ")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
		os.Exit(2)
	}
	fmt.Println(string(text))
	if !v.Good {
		os.Exit(1)
	}
}

// rule is one promise and how the evidence is held against it.
type rule struct {
	id, text string
	check    func(r *report)
	notYet   string
}

// report takes what a rule finds.
type report struct {
	*world
	id     string
	looked int
	found  []Violation
	notes  map[string]int
}

// look counts a fact that was held against the promise.
func (r *report) look() { r.looked++ }

// note counts what the promise allows but somebody should know.
func (r *report) note(what string) { r.notes[what]++ }

// bad reports a violation with the lines that prove it.
func (r *report) bad(proof []string, format string, args ...any) {
	r.found = append(r.found, Violation{r.id, fmt.Sprintf(format, args...), proof[:min(len(proof), maxProof)]})
}

// judge holds every promise against the evidence.
func (w *world) judge() Verdict {
	v := Verdict{
		Seed: w.run.Seed, Seconds: w.run.Seconds, Faults: map[string]int{}, Instances: len(w.instances), Attempts: w.attempts,
		RestMS: w.run.Rested - w.run.Healed, Notes: map[string]int{}, NotYet: map[string]string{}, Versions: w.run.Versions, Violations: []Violation{},
	}
	for _, f := range w.faults {
		if f.Error == "" {
			v.Faults[f.Class]++
			v.FaultTotal++
		} else {
			v.Notes["a fault was not done: "+f.Error]++
		}
	}
	for _, rule := range rules() {
		r := &report{world: w, id: rule.id, notes: v.Notes}
		if rule.check != nil {
			rule.check(r)
		}
		p := Promise{ID: rule.id, Text: rule.text, Held: rule.check != nil && len(r.found) == 0, Looked: r.looked, Violations: len(r.found), NotYet: rule.notYet}
		if rule.check != nil && r.looked == 0 && len(r.found) == 0 {
			p.Held, p.NotYet = false, "the run had nothing to look at"
		}
		v.Promises = append(v.Promises, p)
		switch {
		case p.Held:
			v.Held = append(v.Held, p.ID)
		case p.Violations == 0:
			v.NotYet[p.ID] = p.NotYet
		}
		v.Violations = append(v.Violations, r.found[:min(len(r.found), maxViolations)]...)
	}
	w.weigh(&v)
	v.Good = len(v.Violations) == 0 && len(v.Short) == 0
	return v
}

// weigh says whether the run was one at all.
func (w *world) weigh(v *Verdict) {
	acked := map[string]bool{} // by key: one start may be answered more than once
	for _, c := range w.calls {
		if c.Verb == "start" && c.Outcome == "ok" {
			acked[c.Key] = true
		}
	}
	v.Starts = len(acked)
	rate := float64(v.Starts) / max(w.run.Seconds, 1)
	v.Load = map[string]any{"acked_starts_per_second": rate, "attempts_per_second": float64(w.attempts) / max(w.run.Seconds, 1), "evidence_lines": len(w.lines), "audit_rows": len(w.audit), "scans": len(w.scans)}
	if rate < w.run.LeastRate {
		v.Short = append(v.Short, fmt.Sprintf("%.2f acked starts per second, want %.2f", rate, w.run.LeastRate))
	}
	classes := slices.Clone(w.run.Classes)
	slices.Sort(classes)
	for _, class := range classes {
		if v.Faults[class] < w.run.Quota {
			v.Short = append(v.Short, fmt.Sprintf("%d faults of %s, want %d", v.Faults[class], class, w.run.Quota))
		}
	}
}
